// SPDX-License-Identifier: Apache-2.0

// The service as clients see it: a real server with real device workers, over HTTP. What is right
// is the contract in docs/serving_the_judge.md.
#include <set>

#include "base/text_file.h"
#include "tests/service/running_service.h"

namespace weft::service_test {
namespace {

TEST_F(ServiceTest, EvaluatesByTheContract) {
  start();
  const http::Answer accepted = post("/evaluate", question());
  ASSERT_EQ(accepted.status, 200) << accepted.body;
  const std::string name = parsed(accepted).value("normalized_solution_name", "");
  EXPECT_TRUE(name.starts_with("product_")) << name;
  EXPECT_EQ(name.size(), std::string("product_").size() + 8);
  const Json task = finished(parsed(accepted).value("task_id", ""));
  EXPECT_EQ(task["status"], "completed") << task;
  EXPECT_EQ(task["kind"], "evaluate");
  EXPECT_EQ(task["definition"], "gemm_n128_k2048");
  EXPECT_EQ(task["solution"], name);
  EXPECT_FALSE(task.contains("logs"));
  EXPECT_FALSE(task.contains("error"));
  ASSERT_EQ(task["traces"].size(), 1u);
  const Json& trace = task["traces"][0];
  EXPECT_EQ(trace["solution"], name);
  EXPECT_EQ(trace["workload"]["axes"]["M"], 16);
  const Json& evaluation = trace["evaluation"];
  EXPECT_EQ(evaluation["status"], "PASSED");
  EXPECT_GT(evaluation["correctness"]["max_absolute_error"].get<double>(), 0);
  // Not measured: absent, so that clients that look into it find nothing instead of null.
  EXPECT_FALSE(evaluation.contains("performance"));
  EXPECT_EQ(task["verdicts"][0]["schema"], "ptxbench.eval.v1");
}

TEST_F(ServiceTest, ListsDefinitionsAndWorkloads) {
  start();
  const Json list = parsed(get("/definitions"));
  EXPECT_GE(list.size(), 31u);
  EXPECT_TRUE(list[0].contains("name") && list[0].contains("description"));
  const Json definition = parsed(get("/definitions/gemm_n128_k2048"));
  for (const char* field : {"name", "axes", "inputs", "outputs", "reference"})
    EXPECT_TRUE(definition.contains(field)) << field;
  const Json workloads = parsed(get("/definitions/gemm_n128_k2048/workloads"));
  ASSERT_FALSE(workloads.empty());
  const std::string uuid = workloads[0]["uuid"];
  EXPECT_EQ(parsed(get("/workloads/" + uuid)), workloads[0]);
  EXPECT_EQ(get("/definitions/none").status, 404);
  EXPECT_EQ(get("/definitions/none/workloads").status, 404);
  EXPECT_EQ(get("/workloads/none").status, 404);
}

TEST_F(ServiceTest, RefusesWhatItCannotJudge) {
  start();
  Json body = question();
  body["solution"]["definition"] = "nonexistent";
  http::Answer answer = post("/evaluate", body);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(parsed(answer)["detail"], "Definition not found: nonexistent");
  for (const char* kind : {"/sanitize", "/profile", "/debug"})
    EXPECT_EQ(post(kind, body).status, 400) << kind;
  body = question();
  body["solution"].erase("sources");
  answer = post("/evaluate", body);
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(parsed(answer)["detail"][0]["loc"], Json({"body", "solution", "sources"}));
  for (const char* path : {"/evaluate", "/tasks/batch"}) {
    answer = client().post(path, R"({"solution": )").value();
    EXPECT_EQ(answer.status, 422) << path;
    EXPECT_EQ(parsed(answer)["detail"][0]["loc"], Json({"body"})) << answer.body;
    EXPECT_EQ(parsed(answer)["detail"][0]["type"], "json_invalid") << answer.body;
  }
  EXPECT_EQ(get("/tasks/unknown").status, 404);
  EXPECT_EQ(get("/tasks/unknown?timeout=-1").status, 422);
  EXPECT_EQ(get("/evaluate").status, 405);
  EXPECT_EQ(get("/nothing").status, 404);
}

TEST_F(ServiceTest, AnUnknownWorkloadFailsTheTask) {
  start();
  Json body = question();
  body["workload_uuids"] = {"nonexistent_uuid"};
  const Json task = finished(submit(body));
  EXPECT_EQ(task["status"], "failed");
  EXPECT_NE(task.value("error", "").find("No workloads found"), std::string::npos) << task;
}

TEST_F(ServiceTest, TheSameQuestionIsJudgedOnce) {
  start();
  const std::string first = submit(question());
  const Json verdict = finished(first);
  EXPECT_EQ(submit(question()), first);
  EXPECT_EQ(finished(first)["verdicts"][0]["evaluation_id"],
            verdict["verdicts"][0]["evaluation_id"]);
  Json again = question();
  again["fresh"] = true;
  const std::string second = submit(again);
  EXPECT_NE(second, first);
  EXPECT_EQ(finished(second)["status"], "completed");
}

TEST_F(ServiceTest, AnswersBatchesInOrder) {
  start();
  Json other = question();
  other["trials"] = 1;
  const std::string a = submit(question()), b = submit(other);
  const Json list = parsed(post("/tasks/batch", {{"task_ids", {b, a, b}}, {"timeout", 60}}));
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["task_id"], b);
  EXPECT_EQ(list[1]["task_id"], a);
  EXPECT_EQ(list[2]["status"], "completed");
  EXPECT_EQ(parsed(post("/tasks/batch", {{"task_ids", Json::array()}})), Json::array());
  EXPECT_EQ(post("/tasks/batch", {{"task_ids", {a, "unknown"}}, {"timeout", 60}}).status, 404);
  EXPECT_EQ(post("/tasks/batch", {{"timeout", 1}}).status, 422);
}

TEST_F(ServiceTest, SanitizeProfileAndDebugAnswerLogs) {
  start();
  const Json clean = finished(submit(question(), "sanitize"));
  EXPECT_EQ(clean["kind"], "sanitize");
  EXPECT_FALSE(clean.contains("traces"));
  const std::string report = clean["logs"][0]["log"];
  EXPECT_NE(report.find("ERROR SUMMARY: 0 errors"), std::string::npos) << report;
  EXPECT_EQ(report.find("Program hit"), std::string::npos);

  // The store goes 64 rows beyond the output.
  Json body = question();
  std::string source = body["solution"]["sources"][0]["content"];
  const std::string store = "mad.wide.u32 %rd5, %r3, 2, %rd2;";
  const size_t at = source.find(store);
  ASSERT_NE(at, std::string::npos);
  source.insert(at + store.size(), "\n    add.s64 %rd5, %rd5, 4096;");
  body["solution"]["sources"][0]["content"] = source;
  const std::string found = finished(submit(body, "sanitize"))["logs"][0]["log"];
  EXPECT_NE(found.find("out of bounds"), std::string::npos) << found;
  EXPECT_NE(found.find("Program hit cudaErrorIllegalAddress (error 700)"), std::string::npos);
  const Json sections = finished(submit(body, "debug"))["logs"][0]["metadata"];
  EXPECT_EQ(sections["Sanitizer report"]["exist"], true);
  EXPECT_EQ(sections["Compiler output"]["exist"], false);
  const Json trace = finished(submit(body))["traces"][0]["evaluation"];
  EXPECT_EQ(trace["status"], "RUNTIME_ERROR");
  EXPECT_NE(trace.value("log", "").find("out of bounds"), std::string::npos);
  EXPECT_FALSE(trace.contains("correctness"));

  const Json profile = finished(submit(question(), "profile"))["logs"][0];
  EXPECT_EQ(profile["definition"], "gemm_n128_k2048");
  EXPECT_NE(profile.value("log", "").find("product: 1 launches"), std::string::npos) << profile;
}

TEST_F(ServiceTest, AsksForTheToken) {
  ASSERT_EQ(setenv("SERVICE_TEST_TOKEN", "s3cret", 1), 0);
  start({"--token-env", "SERVICE_TEST_TOKEN"});
  EXPECT_EQ(get("/definitions").status, 401);
  EXPECT_EQ(client("wrong1").get("/definitions").value().status, 401);
  EXPECT_EQ(client("s3cret").get("/definitions").value().status, 200);
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(post("/shutdown", Json::object()).status, 401);
  const auto submitted = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"submit", "tests/judge/candidates/product.ptx", "--url",
                                      server_->url()};
    words.insert(words.end(), more.begin(), more.end());
    return verb(words);
  };
  const ProcessOutcome without = submitted({"--task", "gemm_n128_k2048", "--all"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.errors.find("--token-env"), std::string::npos) << without.errors;
  const ProcessOutcome unset =
      submitted({"--task", "gemm_n128_k2048", "--token-env", "SERVICE_TEST_NO_TOKEN"});
  EXPECT_EQ(unset.exit_code, 2);
  EXPECT_NE(unset.errors.find("SERVICE_TEST_NO_TOKEN"), std::string::npos) << unset.errors;
  const ProcessOutcome unknown =
      submitted({"--task", "gemm_n1_k1", "--all", "--token-env", "SERVICE_TEST_TOKEN"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("gemm_n1_k1"), std::string::npos) << unknown.errors;
  const ProcessOutcome replay =
      verb({"replay", "x", "--url", server_->url(), "--token-env", "SERVICE_TEST_NO_TOKEN"});
  EXPECT_EQ(replay.exit_code, 2);
  EXPECT_NE(replay.errors.find("SERVICE_TEST_NO_TOKEN"), std::string::npos) << replay.errors;
}

TEST_F(ServiceTest, CountsForPrometheus) {
  start();
  finished(submit(question()));
  submit(question());
  const std::string text = get("/metrics").body;
  for (const char* line :
       {"ptxbench_tasks{state=\"completed\"} 1\n", "ptxbench_verdicts_total{status=\"PASSED\"} 1\n",
        "ptxbench_submissions_total{kind=\"evaluate\",answer=\"known\"} 1\n",
        "ptxbench_judge_seconds_count 1\n", "ptxbench_workers_healthy 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(ServiceTest, DescribesEveryRouteAndNoOther) {
  start();
  const Json api = parsed(get("/openapi.json"));
  std::set<std::string> described, offered;
  for (const auto& [path, methods] : api["paths"].items())
    for (const auto& [method, operation] : methods.items()) described.insert(method + " " + path);
  // A described route answers; with a made-up id it says that there is no such thing.
  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (path == "/shutdown") continue;
      std::string real = path;
      if (const size_t brace = real.find('{'); brace != std::string::npos)
        real.replace(brace, real.find('}') - brace + 1, "unknown");
      http::Client asking = client();
      const http::Answer answer = (method == "get"    ? asking.get(real)
                                   : method == "post" ? asking.post(real, "{}")
                                                      : asking.remove(real))
                                      .value();
      EXPECT_NE(answer.status, 405) << method << path;
      EXPECT_NE(parse_json(answer.body).ok() ? parsed(answer).dump() : answer.body,
                R"({"detail":"Not Found"})")
          << method << path;
    }
  }
  // The contract's routes, and ours.
  const std::set<std::string> wanted = {"get /",
                                        "get /health",
                                        "get /metrics",
                                        "get /openapi.json",
                                        "get /definitions",
                                        "get /definitions/{name}",
                                        "get /definitions/{name}/workloads",
                                        "get /workloads/{uuid}",
                                        "post /evaluate",
                                        "post /sanitize",
                                        "post /profile",
                                        "post /debug",
                                        "post /tasks/batch",
                                        "get /tasks/{task_id}",
                                        "delete /tasks/{task_id}",
                                        "get /tasks/{task_id}/request",
                                        "post /shutdown"};
  EXPECT_EQ(described, wanted);
  // The root lists the same.
  const Json root = parsed(get("/"));
  for (const Json& endpoint : root["endpoints"]) {
    std::string method = endpoint["method"];
    for (char& letter : method) letter = static_cast<char>(std::tolower(letter));
    offered.insert(method + " " + endpoint["path"].get<std::string>());
  }
  EXPECT_EQ(offered, wanted);
}

}  // namespace
}  // namespace weft::service_test
