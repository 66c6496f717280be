// SPDX-License-Identifier: Apache-2.0

// The service as clients see it: a real server with real device workers, over HTTP. What is right
// is the contract in docs/serving_the_judge.md.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/http/client.h"
#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "ptxbench/judge/toolchain.h"
#include "tests/service/server_process.h"

namespace weft::service_test {
namespace {

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Done> emulator = judge::require_emulator(judge::find_toolchain());
    if (!emulator.ok()) GTEST_SKIP() << emulator.error().message();
  }

  void start(const std::vector<std::string>& more = {}) {
    Result<ServerProcess> started = ServerProcess::start(folder_.file("store"), more);
    ASSERT_TRUE(started.ok()) << started.error().message();
    server_ = std::make_unique<ServerProcess>(std::move(started).value());
  }

  http::Client client(const std::string& token = "") {
    return http::Client::create(server_->url(), {.bearer_token = token}).value();
  }
  http::Answer get(const std::string& path) { return client().get(path).value(); }
  http::Answer post(const std::string& path, const Json& body) {
    return client().post(path, to_line(body)).value();
  }
  static Json parsed(const http::Answer& answer) { return parse_json(answer.body).value(); }

  // A product of 16 x 32 x 64: small enough to take a moment.
  static Json question(const std::string& candidate = "tests/judge/candidates/product.ptx") {
    Json body = {{"solution", ptx_solution(read_candidate(candidate))}};
    body["workload_uuids"] = {"e6cee3df-8f00-5a3c-b374-4f2dd0d38ba7"};
    body["axes"] = {{"M", 16}, {"N", 32}, {"K", 64}};
    return body;
  }
  std::string submit(const Json& body, const std::string& kind = "evaluate") {
    const http::Answer answer = post("/" + kind, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return parsed(answer).value("task_id", "");
  }
  Json finished(const std::string& id, int seconds = 60) {
    return parsed(get("/tasks/" + id + "?timeout=" + std::to_string(seconds)));
  }
  // Until `done`, or half a minute.
  template <typename Condition>
  void until(const Condition& done) {
    for (int i = 0; i < 600 && !done(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(done());
  }
  // The process of the first worker that judges `task`.
  pid_t worker_of(const std::string& task) {
    const Json health = parsed(get("/health"));
    for (const Json& worker : health["workers"])
      if (worker["task"] == task) return worker["process"].get<pid_t>();
    return 0;
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("service_test").value();
  std::unique_ptr<ServerProcess> server_;
};

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
  EXPECT_EQ(client().post("/evaluate", "no JSON").value().status, 422);
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

TEST_F(ServiceTest, CancelEndsWaitingAndRunningTasks) {
  start();
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  const std::string waiting = submit(question());
  EXPECT_EQ(parsed(client().remove("/tasks/" + waiting).value())["status"], "cancelled");
  EXPECT_EQ(parsed(client().remove("/tasks/" + running).value())["status"], "cancelled");
  // The worker is free for others again.
  Json other = question();
  other["trials"] = 1;
  const std::string next = submit(other);
  EXPECT_EQ(finished(next)["status"], "completed");
  EXPECT_EQ(client().remove("/tasks/" + next).value().status, 409);
  EXPECT_EQ(client().remove("/tasks/unknown").value().status, 404);
}

TEST_F(ServiceTest, AKilledWorkerLosesNothing) {
  start({"--workers", "1"});
  const std::string task = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(task) != 0; });
  const pid_t first = worker_of(task);
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  until([&] { return worker_of(task) != 0 && worker_of(task) != first; });
  const Json answer = parsed(get("/tasks/" + task));
  EXPECT_EQ(answer["attempts"], 2);
  EXPECT_NE(answer.value("history", "").find("signal 9"), std::string::npos) << answer;
}

TEST_F(ServiceTest, ATaskThatKillsWorkersFailsWithTheEvidence) {
  start({"--workers", "1", "--attempts", "2"});
  const std::string poison = submit(question("tests/service/forever.ptx"));
  for (int i = 0; i < 2; ++i) {
    until([&] { return worker_of(poison) != 0; });
    const pid_t worker = worker_of(poison);
    ASSERT_GT(worker, 0);
    kill(worker, SIGKILL);
    until([&] { return worker_of(poison) != worker; });
  }
  const Json task = finished(poison);
  EXPECT_EQ(task["status"], "failed");
  EXPECT_NE(task.value("error", "").find("attempt 2"), std::string::npos) << task;
  EXPECT_EQ(finished(submit(question()))["status"], "completed");
}

TEST_F(ServiceTest, ARestartLosesNothing) {
  start({"--workers", "1"});
  const std::string done = submit(question());
  const Json verdict = finished(done);
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  Json other = question();
  other["trials"] = 1;
  const std::string waiting = submit(other);
  EXPECT_EQ(server_->stop(SIGKILL), -SIGKILL);
  start({"--workers", "2"});
  EXPECT_EQ(finished(done)["verdicts"], verdict["verdicts"]);
  EXPECT_EQ(finished(waiting)["status"], "completed");
  until([&] { return worker_of(running) != 0; });
  EXPECT_EQ(parsed(get("/tasks/" + running))["attempts"], 2);
}

TEST_F(ServiceTest, StopsCleanlyAndKeepsWhatWaits) {
  start({"--workers", "1"});
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  EXPECT_EQ(parsed(post("/shutdown", Json::object()))["status"], "shutting_down");
  EXPECT_EQ(server_->wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("store/scratch")) ||
              !std::filesystem::exists(folder_.file("store/scratch")));
  start();
  EXPECT_EQ(server_->stop(SIGTERM), 0);
}

TEST_F(ServiceTest, AFullQueueAsksToComeBack) {
  start({"--workers", "1", "--queue-limit", "1"});
  const std::string running = submit(question("tests/service/forever.ptx"));
  until([&] { return worker_of(running) != 0; });
  submit(question());
  Json other = question();
  other["trials"] = 1;
  const http::Answer refused = post("/evaluate", other);
  EXPECT_EQ(refused.status, 429);
  EXPECT_GE(std::stoi(refused.retry_after), 1);
  // What is known already is no more load.
  EXPECT_EQ(post("/evaluate", question()).status, 200);
}

TEST_F(ServiceTest, AsksForTheToken) {
  ASSERT_EQ(setenv("SERVICE_TEST_TOKEN", "s3cret", 1), 0);
  start({"--token-env", "SERVICE_TEST_TOKEN"});
  EXPECT_EQ(get("/definitions").status, 401);
  EXPECT_EQ(client("wrong1").get("/definitions").value().status, 401);
  EXPECT_EQ(client("s3cret").get("/definitions").value().status, 200);
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(post("/shutdown", Json::object()).status, 401);
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

TEST_F(ServiceTest, VerbsSubmitReplayCompareAndReport) {
  start();
  const std::string store = folder_.file("store");
  const auto verb = [&](std::vector<std::string> words) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    words.insert(words.begin(), self + "/ptxbench");
    Command command;
    command.arguments = std::move(words);
    command.kept_output_bytes = 1 << 20;
    return run(command).value();
  };
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
  EXPECT_EQ(verb({"report", folder_.path() + "/nothing"}).exit_code, 2);
}

}  // namespace
}  // namespace weft::service_test
