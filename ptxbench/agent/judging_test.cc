// SPDX-License-Identifier: Apache-2.0

// The cache with a judge that counts its calls, and the served judge against a server that answers
// as the contract says (docs/serving_the_judge.md). Real verdicts are the business of tests/agent.
#include "ptxbench/agent/judging.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/http/server.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::agent {
namespace {

KernelQuestion question(const std::string& code) {
  return {.definition = "gemm_n128_k2048", .workload_uuid = "u", .axes = {{"M", 16}}, .code = code};
}

TEST(VerdictCache, AsksOnceHoweverManyAskAtOnce) {
  const TemporaryDirectory folder = TemporaryDirectory::create("verdicts").value();
  std::atomic<int> calls = 0, inside = 0, most = 0;
  const JudgeKernel judge = [&](const KernelQuestion& asked) -> Result<std::string> {
    ++calls;
    most = std::max<int>(most, ++inside);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --inside;
    return "{\"status\": \"" + asked.code + "\"}";
  };
  VerdictCache cache(folder.path(), {}, judge, 2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([&cache, i] {
      EXPECT_TRUE(cache.verdict(question(std::string(1, static_cast<char>('a' + i % 4)))).ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 4);
  EXPECT_LE(most, 2);
  EXPECT_EQ(cache.verdict(question("a"))->envelope, "{\"status\": \"a\"}");
  EXPECT_EQ(calls, 4);
}

TEST(VerdictCache, OtherAxesAndOtherDefinitionsAreOtherQuestions) {
  const TemporaryDirectory folder = TemporaryDirectory::create("verdicts").value();
  int calls = 0;
  const JudgeKernel judge = [&](const KernelQuestion&) -> Result<std::string> {
    ++calls;
    return std::string("{\"status\": \"PASSED\"}");
  };
  KernelQuestion other = question("a");
  other.axes["M"] = 17;
  VerdictCache cache(folder.path(), {{"gemm_n128_k2048", "one"}}, judge, 1);
  const std::string key = cache.verdict(question("a"))->key;
  EXPECT_NE(cache.verdict(other)->key, key);
  other = question("a");
  other.architecture = "blackwell";
  EXPECT_NE(cache.verdict(other)->key, key);
  VerdictCache changed(folder.path(), {{"gemm_n128_k2048", "two"}}, judge, 1);
  EXPECT_NE(changed.verdict(question("a"))->key, key);
  EXPECT_EQ(calls, 4);
  // A damaged file decides nothing.
  ASSERT_TRUE(write_file(folder.file(key + ".json"), "{\"stat").ok());
  EXPECT_TRUE(cache.verdict(question("a")).ok());
  EXPECT_EQ(calls, 5);
}

TEST(ServedJudge, SpeaksTheContract) {
  std::string asked;
  const auto server =
      http::Server::create(
          {},
          {{"GET", "/health", [](const http::Request&) { return http::Response{.body = "{}"}; }},
           {"POST", "/evaluate",
            [&](const http::Request& request) {
              asked = request.body;
              return http::Response{.body = R"({"task_id": "t1"})"};
            }},
           {"GET", "/tasks/{id}",
            [](const http::Request& request) {
              return http::Response{
                  .body = request.parts.at("id") == "t1"
                              ? R"({"status": "completed", "verdicts": [{"status": "PASSED",
                                     "ptx": {"virtual_arch": "compute_90a"}}]})"
                              : "{}"};
            }}})
          .value();
  std::thread serving([&] { server->serve(); });
  const Result<JudgeKernel> judge =
      served_judge({.url = "http://127.0.0.1:" + std::to_string(server->port())});
  ASSERT_TRUE(judge.ok()) << format(judge.error());
  const Result<std::string> envelope = (*judge)(question("int a;"));
  KernelQuestion elsewhere = question("int a;");
  elsewhere.architecture = "blackwell";
  const Result<std::string> other = (*judge)(elsewhere);
  server->stop();
  serving.join();
  ASSERT_TRUE(envelope.ok()) << format(envelope.error());
  EXPECT_NE(envelope->find("PASSED"), std::string::npos);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(format(other.error()).find("--model b200"), std::string::npos);
  EXPECT_NE(asked.find("\"content\":\"int a;\""), std::string::npos);
  EXPECT_NE(asked.find("\"axes\":{\"M\":16}"), std::string::npos);
  EXPECT_FALSE((*judge)(question("int a;")).ok());  // the server is gone
  EXPECT_FALSE(served_judge({.url = "http://127.0.0.1:1"}).ok());
}

}  // namespace
}  // namespace weft::agent
