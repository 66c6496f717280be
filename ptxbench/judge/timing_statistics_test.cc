// SPDX-License-Identifier: Apache-2.0

// Expected values: hand arithmetic for quantiles, and for the intervals the binomial table in
// Conover, "Practical Nonparametric Statistics" (ranks for the median at 95 %).
#include "ptxbench/judge/timing_statistics.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::judge {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(TimingStatistics, QuantilesAreLinearBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.1), 14);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(TimingStatistics, SpreadIsRelativeToTheMedian) {
  EXPECT_DOUBLE_EQ(spread({10, 20, 30, 40, 50}), 32.0 / 30);
}

// n = 10: P(X < 2) = 11/1024 = 0.0107, P(X < 3) = 56/1024 = 0.0547: ranks 2 and 9.
TEST(TimingStatistics, MedianOfTenLiesBetweenTheSecondAndTheNinth) {
  const Interval interval = median_interval(one_to(10), 0.95);
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 9);
}

// n = 20: P(X < 6) = 0.0207, P(X < 7) = 0.0577: ranks 6 and 15.
TEST(TimingStatistics, MedianOfTwentyLiesBetweenTheSixthAndTheFifteenth) {
  const Interval interval = median_interval(one_to(20), 0.95);
  EXPECT_EQ(interval.low, 6);
  EXPECT_EQ(interval.high, 15);
}

// n = 100: ranks 40 and 61.
TEST(TimingStatistics, MedianOfAHundredLiesBetweenTheFortiethAndTheSixtyFirst) {
  const Interval interval = median_interval(one_to(100), 0.95);
  EXPECT_EQ(interval.low, 40);
  EXPECT_EQ(interval.high, 61);
}

TEST(TimingStatistics, TooFewSamplesGiveTheirRange) {
  const Interval interval = median_interval({3, 1, 2, 5, 4}, 0.95);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 5);
}

TEST(TimingStatistics, ManySamplesDoNotUnderflow) {
  const Interval interval = median_interval(one_to(5000), 0.95);
  EXPECT_GT(interval.low, 2400);
  EXPECT_LT(interval.high, 2600);
}

}  // namespace
}  // namespace weft::judge
