// SPDX-License-Identifier: Apache-2.0

// Expected steps are worked out by hand from the published rules, in double precision.
#include "lattice/learning/optimizers.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

struct Weights {
  std::vector<float> value, gradient;
  std::vector<float> first = std::vector<float>(value.size()), second = first;
  DenseParameter parameter() { return {value, gradient, first, second}; }
};

TEST(Adam, FirstStepIsTheRateWhateverTheGradient) {
  Weights weights{{1, 2, 3}, {0.5f, -20, 0}};
  std::vector<DenseParameter> all = {weights.parameter()};
  const double norm = adam_step({.learning_rate = 0.1, .clip_norm = 0}, 1, all);
  EXPECT_NEAR(norm, std::sqrt(0.25 + 400), 1e-6);
  EXPECT_NEAR(weights.value[0], 0.9, 1e-6);
  EXPECT_NEAR(weights.value[1], 2.1, 1e-6);
  EXPECT_EQ(weights.value[2], 3);
}

TEST(Adam, SecondStepByTheRule) {
  Weights weights{{1}, {0.4f}};
  std::vector<DenseParameter> all = {weights.parameter()};
  const AdamOptions options = {
      .learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .clip_norm = 0};
  adam_step(options, 1, all);
  weights.gradient[0] = -0.2f;
  adam_step(options, 2, all);
  double value = 1 - 0.1 * 0.4 / (0.4 + 1e-3);
  const double m = (0.8 * 0.2 * 0.4 + 0.2 * -0.2) / (1 - 0.64);
  const double v = (0.9 * 0.1 * 0.16 + 0.1 * 0.04) / (1 - 0.81);
  value -= 0.1 * m / (std::sqrt(v) + 1e-3);
  EXPECT_NEAR(weights.value[0], value, 1e-6);
}

TEST(Adam, ClipsAllGradientsTogetherAndSkipsWhatWasNotReached) {
  // Norm 5 clipped to 1: the second moments see 0.6 and 0.8.
  Weights one{{0}, {3}}, other{{0}, {4}}, unreached{{7}, {}};
  unreached.first = unreached.second = {1};
  std::vector<DenseParameter> all = {one.parameter(), other.parameter(), unreached.parameter()};
  EXPECT_DOUBLE_EQ(adam_step({.beta2 = 0.5, .clip_norm = 1}, 1, all), 5);
  EXPECT_NEAR(one.second[0], 0.5 * 0.36, 1e-6);
  EXPECT_NEAR(other.second[0], 0.5 * 0.64, 1e-6);
  EXPECT_EQ(unreached.value[0], 7);
  EXPECT_EQ(unreached.first[0], 1);
}

TEST(Adam, MovesNothingWhenAGradientIsNotFinite) {
  Weights good{{1}, {1}}, bad{{2}, {NAN}};
  std::vector<DenseParameter> all = {good.parameter(), bad.parameter()};
  EXPECT_TRUE(std::isnan(adam_step({}, 1, all)));
  EXPECT_EQ(good.value[0], 1);
  EXPECT_EQ(good.first[0], 0);
}

TEST(Adam, WarmsUpAndDecays) {
  const AdamOptions options = {.warm_up_steps = 4, .end_share = 0.2, .total_steps = 100};
  EXPECT_NEAR(schedule(options, 1), 0.25 * (1 - 0.01 * 0.8), 1e-12);
  EXPECT_NEAR(schedule(options, 50), 0.6, 1e-12);
  EXPECT_NEAR(schedule(options, 100), 0.2, 1e-12);
  EXPECT_NEAR(schedule(options, 300), 0.2, 1e-12);
  EXPECT_EQ(schedule({}, 1), 1);
}

TEST(RowAdagrad, MovesTheRowsThatWereSeen) {
  std::vector<float> table = {1, 1, 2, 2, 3, 3}, accumulator = {0, 0, 1};
  const std::vector<int64_t> rows = {2, 0, 2};
  const std::vector<float> gradient = {1, 0, 3, 4, 0, 2};
  adagrad_rows_step(0.5, 0, 2, table, accumulator, {rows, gradient});
  // Row 0: mean square (9 + 16) / 2. Row 2: the sum (1, 2), mean square 2.5, on top of 1.
  EXPECT_NEAR(accumulator[0], 12.5, 1e-6);
  EXPECT_NEAR(accumulator[2], 3.5, 1e-6);
  EXPECT_NEAR(table[0], 1 - 0.5 * 3 / std::sqrt(12.5), 1e-6);
  EXPECT_NEAR(table[1], 1 - 0.5 * 4 / std::sqrt(12.5), 1e-6);
  EXPECT_NEAR(table[4], 3 - 0.5 * 1 / std::sqrt(3.5), 1e-6);
  EXPECT_NEAR(table[5], 3 - 0.5 * 2 / std::sqrt(3.5), 1e-6);
  EXPECT_EQ(table[2], 2);
  EXPECT_EQ(accumulator[1], 0);
}

}  // namespace
}  // namespace weft::lattice
