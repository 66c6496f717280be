// SPDX-License-Identifier: Apache-2.0

// Expected values by hand, for an H200's 4917 GB/s.
#include "ptxbench/judge/timer_check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::judge {
namespace {

DeviceFacts memory_of_h200() {
  DeviceFacts facts;
  facts.max_memory_mhz = 3201;
  facts.memory_bus_bits = 6144;
  return facts;
}

Json samples() {
  return {{"known_ns", 2000000},         {"read_bytes", 30000000},  {"known_records", {2001000}},
          {"known_events", {2005000}},   {"empty_records", {1200}}, {"empty_events", {5000}},
          {"cold_read", {10000, 12000}}, {"warm_read", {6000}}};
}

TEST(TimerCheck, GoodTimerPasses) {
  EXPECT_TRUE(judge_timer(samples(), memory_of_h200()).passed());
}

TEST(TimerCheck, KnownKernelMustReadWithinTwoPerCent) {
  Json changed = samples();
  changed["known_records"] = {2041000};
  EXPECT_FALSE(judge_timer(changed, memory_of_h200()).passed());
  changed["known_records"] = {1959000};
  EXPECT_FALSE(judge_timer(changed, memory_of_h200()).passed());
}

// 30 MB in 6 us are 5000 GB/s: more than the pins carry, so they came from the cache.
TEST(TimerCheck, ColdThatIsFasterThanTheMemoryIsNotCold) {
  Json changed = samples();
  changed["cold_read"] = {6000};
  changed["warm_read"] = {3000};
  EXPECT_FALSE(judge_timer(changed, memory_of_h200()).passed());
}

TEST(TimerCheck, WarmThatIsNoFasterProvesNothing) {
  Json changed = samples();
  changed["warm_read"] = {11000};
  EXPECT_FALSE(judge_timer(changed, memory_of_h200()).passed());
}

TEST(TimerCheck, MissingSamplesDoNotPass) {
  EXPECT_FALSE(judge_timer(Json::object(), memory_of_h200()).passed());
}

}  // namespace
}  // namespace weft::judge
