// SPDX-License-Identifier: Apache-2.0

// What is expected follows from the table in call_plan.h.
#include "ptxbench/judge/call_plan.h"

#include <set>

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

// No matrix product: its operations are not known, so it counts as small.
problems::Task small_task() {
  problems::Task task;
  task.definition.name = "copy";
  task.definition.inputs = {{"x", {"n"}, problems::DType::Float32, ""}};
  task.definition.outputs = {{"y", {"n"}, problems::DType::Float32, ""}};
  task.axes["n"] = 4;
  return task;
}

std::vector<PlannedCall> plan(unsigned trials, unsigned extra_calls, uint64_t seed) {
  Settings settings;
  settings.trials = trials;
  settings.extra_calls = extra_calls;
  return plan_calls(settings, small_task(), seed);
}

TEST(CallPlan, GivesTheLastInputsAgainInOtherMemory) {
  const std::vector<PlannedCall> calls = plan(2, 0, 1);
  ASSERT_EQ(calls.size(), 3u);
  const unsigned trials[] = {0, 1, 1};
  const bool fresh[] = {true, true, false}, move[] = {false, false, true};
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].trial, trials[i]) << i;
    EXPECT_EQ(calls[i].fresh, fresh[i]) << i;
    EXPECT_EQ(calls[i].move, move[i]) << i;
  }
}

TEST(CallPlan, ChangesPoisonAndGuardsFromCallToCall) {
  const std::vector<PlannedCall> calls = plan(4, 2, 7);
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_NE(calls[i].poison, calls[i].guard) << i;
    if (i == 0) continue;
    EXPECT_NE(calls[i].poison, calls[i - 1].poison) << i;
    EXPECT_NE(calls[i].guard, calls[i - 1].guard) << i;
  }
}

TEST(CallPlan, FollowsFromTheSeedAndCannotBeKnownWithoutIt) {
  std::set<size_t> lengths;
  std::set<unsigned> first_poisons;
  for (uint64_t seed = 1; seed <= 64; ++seed) {
    const std::vector<PlannedCall> calls = plan(2, 2, seed), again = plan(2, 2, seed);
    ASSERT_EQ(calls.size(), again.size());
    EXPECT_EQ(calls[0].poison, again[0].poison);
    lengths.insert(calls.size());
    first_poisons.insert(calls[0].poison);
    // What follows the moved call has inputs that no call had.
    for (size_t i = 3; i < calls.size(); ++i) {
      EXPECT_TRUE(calls[i].fresh);
      EXPECT_EQ(calls[i].trial, i - 1);
    }
  }
  EXPECT_EQ(lengths, (std::set<size_t>{3, 4, 5}));
  EXPECT_EQ(first_poisons, (std::set<unsigned>{0xFF, 0x7B}));
}

}  // namespace
}  // namespace weft::judge
