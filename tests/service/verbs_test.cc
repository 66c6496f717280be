// SPDX-License-Identifier: Apache-2.0

// The verbs that talk to a server or look at what it kept: submit, replay, compare, report.
#include "base/text_file.h"
#include "tests/service/running_service.h"

namespace weft::service_test {
namespace {

// Verdicts are files that anybody can change: that is bad input, never an error of ours.
TEST_F(ServiceTest, VerdictsThatAreNoneAreUsageErrors) {
  const auto envelope = [](const std::string& audit, const std::string& trace,
                           const std::string& status) {
    return R"({"schema": "ptxbench.eval.v1", "audit": {)" + audit + R"(}, "traces": [{)" + trace +
           R"("workload": {"axes": {"M": 1}}, "evaluation": {"status": )" + status + "}}]}";
  };
  const std::string file = folder_.file("verdicts/one.json");
  for (const std::string& text : std::vector<std::string>{
           R"({"verdicts": 3})", R"({"verdicts": [{}]})", R"({"schema": {}})",
           R"({"schema": "ptxbench.eval.v1"})",
           R"({"schema": "ptxbench.eval.v1", "audit": {}, "traces": [1]})", "[1]", R"({"verd)",
           envelope("", "", "3"), envelope(R"("stages": [1])", "", R"("PASSED")"),
           envelope(R"("stages": 1)", "", R"("PASSED")"),
           envelope(R"("stages": [{"passed": false, "evidence": 1}])", "", R"("PASSED")"),
           envelope(R"("kernels": [1])", "", R"("PASSED")"),
           envelope("", R"("definition": 7,)", R"("PASSED")"),
           envelope("", R"("solution": [],)", R"("PASSED")")}) {
    ASSERT_TRUE(write_file(file, text).ok());
    const ProcessOutcome compared = verb({"compare", file, file});
    EXPECT_EQ(compared.exit_code, 2) << text << compared.errors;
    EXPECT_NE(compared.errors.find("one.json"), std::string::npos) << text << compared.errors;
    EXPECT_EQ(verb({"report", folder_.path() + "/verdicts"}).exit_code, 2) << text;
  }
  ASSERT_TRUE(write_file(file, envelope("", "", R"("PASSED")")).ok());
  // What others wrote may lie beside it.
  ASSERT_TRUE(write_file(folder_.file("verdicts/other.json"),
                         R"({"schema": "other", "verdicts": [{"audit": 1}, 2]})")
                  .ok());
  EXPECT_EQ(verb({"compare", file, file}).exit_code, 0);
  EXPECT_EQ(verb({"report", folder_.path() + "/verdicts"}).exit_code, 0);
  // A store in which no task ended has none either.
  start();
  const ProcessOutcome empty = verb({"report", folder_.file("store")});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_NE(empty.errors.find("no verdicts"), std::string::npos) << empty.errors;
}

TEST_F(ServiceTest, VerbsSubmitReplayCompareAndReport) {
  start();
  const std::string store = folder_.file("store");
  const auto submitted = [&](const std::string& kernel, std::vector<std::string> more) {
    std::vector<std::string> words = {"submit", kernel,           "--task", "gemm_n128_k2048",
                                      "--set",  "M=16,N=32,K=64", "--url",  server_->url(),
                                      "--wait", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return verb(words);
  };
  const ProcessOutcome good = submitted("tests/judge/candidates/product.ptx", {});
  EXPECT_EQ(good.exit_code, 0) << good.errors;
  const ProcessOutcome bad = submitted("tests/service/forever.ptx", {"--timeout", "1"});
  EXPECT_EQ(bad.exit_code, 1) << bad.errors;
  const std::string first = parse_json(good.output).value()["task_id"];
  const std::string second = parse_json(bad.output).value()["task_id"];

  // The emulator is exact: the same seeds give the same errors and counts.
  const ProcessOutcome replayed = verb({"replay", first.substr(0, 12), "--store", store, "--json"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.output << replayed.errors;
  EXPECT_EQ(parse_json(replayed.output).value()["agrees"], true);
  EXPECT_EQ(verb({"replay", first, "--url", server_->url()}).exit_code, 0);
  EXPECT_EQ(verb({"replay", "unknown", "--store", store}).exit_code, 2);
  EXPECT_EQ(verb({"compare", first, first, "--store", store}).exit_code, 0);
  EXPECT_EQ(verb({"compare", first, second, "--store", store}).exit_code, 1);

  const ProcessOutcome report = verb({"report", store, "--json"});
  ASSERT_EQ(report.exit_code, 0) << report.errors;
  const Json rows = parse_json(report.output).value()["verdicts"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].value("solution", "").starts_with("product_")) << rows;
  EXPECT_EQ(rows[1]["status"], "TIMEOUT");
  EXPECT_TRUE(rows[1]["speedup"].is_null());
  const std::string page = read_candidate(store + "/report.html");
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);

  EXPECT_EQ(verb({"submit", "tests/service/forever.ptx", "--task", "gemm_n128_k2048", "--url",
                  "http://127.0.0.1:1"})
                .exit_code,
            3);
  EXPECT_EQ(verb({"replay", first, "--url", "http://127.0.0.1:1"}).exit_code, 3);
  EXPECT_EQ(verb({"compare", first, second, "--url", "http://127.0.0.1:1"}).exit_code, 3);
  EXPECT_EQ(verb({"report", folder_.path() + "/nothing"}).exit_code, 2);
}

}  // namespace
}  // namespace weft::service_test
