// SPDX-License-Identifier: Apache-2.0

// What is written is read again, and what is damaged says where.
#include "ptxbench/agent/trajectory.h"

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::agent {
namespace {

Trajectory two_turns() {
  Trajectory trajectory{.head = {.id = "gemm-m-plain-0",
                                 .model = "m",
                                 .definition = "gemm_n128_k2048",
                                 .family = "gemm",
                                 .architecture = "hopper",
                                 .prompt_tag = "plain",
                                 .workload_uuid = "u",
                                 .axes = {{"M", 16}},
                                 .replica = 3,
                                 .turns = 4,
                                 .target_speedup = 0.9},
                        .system = "be right",
                        .task = "C = A B"};
  trajectory.turns.push_back({.answer = "```cuda\nint a;\n```",
                              .reasoning = "hm",
                              .finish = "stop",
                              .tokens = {100, 20, 5, true},
                              .cost = 0.25,
                              .code = "int a;\n",
                              .feedback = "COMPILE_ERROR",
                              .judged_key = "k",
                              .verdict = {.status = "COMPILE_ERROR",
                                          .error_class = "compile error",
                                          .evaluation_id = "ev_1",
                                          .kernel_sha256 = "abc"}});
  trajectory.turns.push_back({.answer = "no idea",
                              .finish = "stop",
                              .problem = "the answer has no block of code between ``` fences"});
  return trajectory;
}

TEST(Trajectory, IsReadAsItWasWritten) {
  const TemporaryDirectory folder = TemporaryDirectory::create("trajectory").value();
  const Trajectory before = two_turns();
  ASSERT_TRUE(write_trajectory(folder.path(), before).ok());
  const Result<Trajectory> after = read_trajectory(folder.path());
  ASSERT_TRUE(after.ok()) << format(after.error());
  EXPECT_EQ(after->head.axes, before.head.axes);
  EXPECT_EQ(after->head.replica, 3u);
  EXPECT_EQ(after->head.target_speedup, 0.9);
  ASSERT_EQ(after->turns.size(), 2u);
  const Turn& first = after->turns[0];
  EXPECT_EQ(first.code, "int a;\n");
  EXPECT_EQ(first.tokens.reasoning, 5);
  EXPECT_TRUE(first.tokens.estimated);
  EXPECT_EQ(first.cost, 0.25);
  EXPECT_EQ(first.verdict.error_class, "compile error");
  EXPECT_EQ(first.verdict.evaluation_id, "ev_1");
  EXPECT_TRUE(first.complete());
  EXPECT_FALSE(first.verdict.audited);
  EXPECT_FALSE(after->turns[1].complete());
  EXPECT_EQ(after->turns[1].problem, before.turns[1].problem);
}

TEST(Trajectory, ADamagedOneSaysWhere) {
  const TemporaryDirectory folder = TemporaryDirectory::create("trajectory").value();
  ASSERT_TRUE(write_trajectory(folder.path(), two_turns()).ok());
  const std::string file = folder.file("trajectory.json"), whole = read_file(file).value();
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string("{}"), std::string("[1]"), std::string()}) {
    ASSERT_TRUE(write_file(file, text).ok());
    const Result<Trajectory> read = read_trajectory(folder.path());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().diagnostics.front().file, file);
  }
}

}  // namespace
}  // namespace weft::agent
