// SPDX-License-Identifier: Apache-2.0

// Samples made by hand; what must be said of them follows from docs/candidates.md and from the
// ways of mismeasuring that tests/adversarial names (C44, C46, C47, C49).
#include "ptxbench/judge/timing_judgement.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

wire::Timing timed(std::vector<double> nanoseconds) {
  wire::Timing timing;
  timing.candidate.nanoseconds = std::move(nanoseconds);
  return timing;
}

std::string notes(const wire::Timing& timing) {
  std::string all;
  for (const std::string& note : timing.notes) all += note + "\n";
  return all;
}

bool says(const wire::Timing& timing, const char* word) {
  return notes(timing).find(word) != std::string::npos;
}

TEST(TimingJudgement, SteadySamplesNeedNoNote) {
  wire::Timing timing = timed(std::vector<double>(40, 1e6));
  timing.library = wire::Samples{};
  timing.library->nanoseconds.assign(40, 2e6);
  timing.ratios.assign(40, 2);
  timing.empty_kernel_ms = 6e-4;
  weigh(timing, Roofline{.seconds = 4e-4}, "a device");
  EXPECT_EQ(notes(timing), "");
  EXPECT_DOUBLE_EQ(timing.candidate.median_ms, 1);
  EXPECT_DOUBLE_EQ(timing.candidate.spread, 0);
  EXPECT_DOUBLE_EQ(timing.library->median_ms, 2);
  EXPECT_DOUBLE_EQ(timing.ratio_median, 2);
  EXPECT_DOUBLE_EQ(*timing.floor_ms, 0.4);
  EXPECT_FALSE(timing.overhead_bound);
  EXPECT_FALSE(impossible(timing));
}

TEST(TimingJudgement, AWarmUpThatWasTooShortShows) {
  std::vector<double> samples(40, 1e6);
  std::fill_n(samples.begin(), 3, 1.2e6);
  wire::Timing timing = timed(samples);
  weigh(timing, std::nullopt, "a device");
  EXPECT_TRUE(says(timing, "drift"));
  EXPECT_EQ(timing.floor_reason, "the peak of this device is not known: a device");
  // Two per cent are noise.
  samples.assign(40, 1e6);
  std::fill_n(samples.begin(), 4, 1.02e6);
  timing = timed(samples);
  weigh(timing, std::nullopt, "a device");
  EXPECT_FALSE(says(timing, "drift"));
}

TEST(TimingJudgement, OverheadIsMarked) {
  for (const auto& [nanoseconds, bound] : {std::pair{2900.0, true}, std::pair{3100.0, false}}) {
    wire::Timing timing = timed(std::vector<double>(40, nanoseconds));
    timing.empty_kernel_ms = 6e-4;
    weigh(timing, std::nullopt, "a device");
    EXPECT_EQ(timing.overhead_bound, bound) << nanoseconds;
    EXPECT_EQ(says(timing, "overhead-bound"), bound) << nanoseconds;
  }
}

TEST(TimingJudgement, OneSampleBelowTheFloorIsEnough) {
  std::vector<double> samples(40, 1e6);
  samples[17] = 0.39e6;
  wire::Timing timing = timed(samples);
  weigh(timing, Roofline{.seconds = 4e-4}, "a device");
  const auto failure = impossible(timing);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->evidence.find("0.3900 ms is below the 0.4000 ms"), std::string::npos)
      << failure->evidence;
}

// 1.3 times and 0.02 ms are allowed, and 1.3 times more where the library sank as well.
TEST(TimingJudgement, TheJudgesClockMustAgree) {
  const auto refused = [](double wall_ms, double sinking) {
    wire::Timing timing = timed(std::vector<double>(40, 1e6));
    weigh(timing, std::nullopt, "a device");
    timing.candidate.wall_ms = wall_ms;
    return unconfirmed(timing, sinking, 30).has_value();
  };
  EXPECT_FALSE(refused(1.31, 1));
  EXPECT_TRUE(refused(1.33, 1));
  EXPECT_FALSE(refused(1.55, 1.2));
  EXPECT_TRUE(refused(1.72, 5));
  wire::Timing tiny = timed(std::vector<double>(40, 1e4));
  weigh(tiny, std::nullopt, "a device");
  tiny.candidate.wall_ms = 5;
  EXPECT_FALSE(unconfirmed(tiny, 1, 30));
  EXPECT_TRUE(says(tiny, "too short"));
}

}  // namespace
}  // namespace weft::judge
