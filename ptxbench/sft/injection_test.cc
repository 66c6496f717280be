// SPDX-License-Identifier: Apache-2.0

// The road from seed to pair with a judge of a few lines, so that its words are known.
#include "ptxbench/sft/injection.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/sft/pair.h"

namespace weft::sft {
namespace {

constexpr const char* kKernel =
    "#include <a.h>\nvoid k() {\n  fence_all();\n  copy_wait();\n  if (t == 0) f();\n}\n";

Json envelope(const std::string& source, const std::string& status, const std::string& kind) {
  Json fault = nullptr;
  if (!kind.empty()) fault = {{"kind", kind}, {"text", kind + " at kernel.cu:4"}};
  return {{"evaluation_id", "ev_1"},
          {"status", status},
          {"kernel_sha256", sha256(source)},
          {"compile_log", ""},
          {"audit", {{"fault", fault}, {"stages", Json::array()}}}};
}

class Injecting : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("inject");
    ASSERT_TRUE(made.ok());
    folder_.emplace(*std::move(made));
    ASSERT_TRUE(write_file(path("kernel.cu"), kKernel).ok());
    ASSERT_TRUE(write_file(path("seeds.json"),
                           R"([{"kernel": "kernel.cu", "definition": "gemm_n128_k2048",
                                "axes": {"M": 8}}])")
                    .ok());
    settings_.output = path("out");
  }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }

  // A wait is needed, a fence is not, and without its header nothing compiles.
  Result<Coverage> run() {
    const auto catalogue = problems::Catalogue::open("problems");
    if (!catalogue.ok()) return catalogue.error();
    const JudgeSource judge = [this](const std::string& source,
                                     const problems::Task&) -> Result<Json> {
      ++judged_;
      if (judged_ == dies_at_) return Error("the surroundings failed");
      if (source.find("include") == source.npos) return envelope(source, "COMPILE_ERROR", "");
      if (source.find("wait") == source.npos)
        return envelope(source, "RUNTIME_ERROR", "out of bounds");
      if (source.find("!=") != source.npos) return envelope(source, "COMPILE_ERROR", "");
      return envelope(source, "PASSED", "");
    };
    return inject(*read_seeds(path("seeds.json")), *catalogue, judge, settings_);
  }

  std::optional<TemporaryDirectory> folder_;
  InjectionSettings settings_;
  size_t judged_ = 0, dies_at_ = 0;
};

TEST_F(Injecting, KeepsWhatFailsAsItsFaultDoes) {
  settings_.faults = {"missing_wait", "missing_fence", "missing_include", "predicate"};
  const auto coverage = run();
  ASSERT_TRUE(coverage.ok()) << format(coverage.error());
  EXPECT_EQ(judged_, 5u);  // the seed and one mutant a fault
  EXPECT_EQ(coverage->pairs, 2u);
  EXPECT_EQ(coverage->faults.at("missing_wait").shown_as.at("fault: out of bounds"), 1u);
  EXPECT_EQ(coverage->faults.at("missing_include").kept, 1u);
  EXPECT_EQ(coverage->faults.at("missing_fence").harmless, 1u);
  EXPECT_EQ(coverage->faults.at("predicate").mislabelled, 1u);  // a compile error

  const auto pairs = read_pairs(path("out/attempts.jsonl"));
  ASSERT_TRUE(pairs.ok()) << format(pairs.error());
  ASSERT_EQ(pairs->size(), 2u);
  for (const Pair& pair : *pairs) {
    EXPECT_EQ(pair.fixed.source, kKernel);
    EXPECT_EQ(pair.fixed.verdict.status, "PASSED");
    EXPECT_NE(pair.wrong.source, kKernel);
    EXPECT_EQ(sha256(pair.wrong.source), pair.wrong.verdict.kernel_sha256);
    EXPECT_EQ(sha256(*read_file(pair.wrong.evaluation)), pair.wrong.evaluation_sha256);
    EXPECT_EQ(pair.id, pair_id(pair));
    if (pair.cause == "missing_wait") {
      EXPECT_EQ(pair.line, 4u);
      EXPECT_NE(pair.log.find("out of bounds"), std::string::npos) << pair.log;
    }
  }
}

TEST_F(Injecting, GoesOnWhereItWas) {
  settings_.faults = {"missing_wait", "missing_fence", "missing_include"};
  dies_at_ = 3;  // the second mutant
  EXPECT_FALSE(run().ok());
  // A kill in the middle of a line.
  const std::string rows = *read_file(path("out/attempts.jsonl"));
  ASSERT_TRUE(write_file(path("out/attempts.jsonl"), rows + "{\"id\": \"ha").ok());
  judged_ = 0;
  dies_at_ = 0;
  const auto coverage = run();
  ASSERT_TRUE(coverage.ok()) << format(coverage.error());
  EXPECT_EQ(judged_, 2u);
  EXPECT_EQ(coverage->pairs, 2u);
  judged_ = 0;
  EXPECT_EQ(run()->pairs, 2u);
  EXPECT_EQ(judged_, 0u);
}

TEST_F(Injecting, StopsAtItsTarget) {
  settings_.target = 1;
  settings_.faults = {"missing_wait", "missing_include"};
  EXPECT_EQ(run()->pairs, 1u);
  EXPECT_EQ(judged_, 2u);
}

TEST_F(Injecting, RefusesASeedThatIsNotRight) {
  ASSERT_TRUE(write_file(path("kernel.cu"), "void k() {}\n").ok());
  const auto coverage = run();
  ASSERT_TRUE(coverage.ok());
  EXPECT_EQ(coverage->pairs, 0u);
  EXPECT_EQ(coverage->refused_seeds.size(), 1u);
  EXPECT_EQ(judged_, 1u);
}

TEST_F(Injecting, NamesWhatIsWrongWithItsInput) {
  settings_.faults = {"missing_wade"};
  EXPECT_NE(format(run().error()).find("missing_wait"), std::string::npos);
  const std::pair<const char*, const char*> kSeeds[] = {
      {"{}", "not a list of seeds"},
      {"[]", "not a list of seeds"},
      {"[3]", "(entry 1)"},
      {R"([{"kernel": "a.cu", "definition": "d", "axis": {}}])", "axes"},
      {R"([{"kernel": "a.cu"}])", "definition"},
      {R"([{"kernel": "a.cu", "definition": "d", "axes": {"M": "x"}}])", "(entry 1)"},
      {"[{", "seeds.json"}};
  for (const auto& [text, said] : kSeeds) {
    ASSERT_TRUE(write_file(path("seeds.json"), text).ok());
    const auto seeds = read_seeds(path("seeds.json"));
    ASSERT_FALSE(seeds.ok()) << text;
    EXPECT_NE(format(seeds.error()).find(said), std::string::npos) << format(seeds.error());
  }
  EXPECT_FALSE(read_seeds(path("nowhere.json")).ok());
}

TEST(Spills, AreReadFromTheCompilersLog) {
  EXPECT_EQ(spilled_bytes("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), 0u);
  EXPECT_EQ(spilled_bytes("8 bytes spill stores\n x 1204 bytes spill stores, 7 bytes spill loads"),
            1204u);
  EXPECT_EQ(spilled_bytes(" bytes spill stores"), 0u);
}

}  // namespace
}  // namespace weft::sft
