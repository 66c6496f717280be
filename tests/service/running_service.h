// SPDX-License-Identifier: Apache-2.0

// A server with its device workers for a test, and what tests ask of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/http/client.h"
#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "ptxbench/judge/toolchain.h"
#include "tests/service/server_process.h"

namespace weft::service_test {

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
  // What `ptxbench WORDS` does.
  static ProcessOutcome verb(std::vector<std::string> words) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    words.insert(words.begin(), self + "/ptxbench");
    Command command;
    command.arguments = std::move(words);
    command.kept_output_bytes = 1 << 20;
    return run(command).value();
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

}  // namespace weft::service_test
