// SPDX-License-Identifier: Apache-2.0

// Values against the formula written out for single rows, slopes against central differences.
#include "lattice/objectives/distillation.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

// -y ln p - (1 - y) ln(1 - p), without the care for large logits.
double entropy(double logit, double label) {
  const double p = 1 / (1 + std::exp(-logit));
  return -label * std::log(p) - (1 - label) * std::log(1 - p);
}

TEST(Distillation, SmoothsAndScalesTheTeachersLabel) {
  // sigmoid(ln 3) = 3/4; 0.9 * 3/4 + 0.05 = 0.725.
  EXPECT_NEAR(smoothed_label({.smoothing = 0.1}, std::log(3)), 0.725, 1e-12);
  // Twice 3/4 is cut to 1.
  EXPECT_NEAR(smoothed_label({.label_scale = 2, .smoothing = 0}, std::log(3)), 1, 1e-12);
  EXPECT_NEAR(smoothed_label({.label_scale = 0.5, .smoothing = 0}, std::log(3)), 0.375, 1e-12);
}

// Two tasks, three rows, of which the second misses.
struct Case {
  std::vector<float> logit = {1, -2, 9, 9, 0.5, -0.25};
  std::vector<uint8_t> hit = {1, 0, 1};
  std::vector<float> label = {1, 0, 1, 1, 0, 1};
  std::vector<uint8_t> known = {1, 1, 1, 1, 0, 1};
  std::vector<float> student = {0.3f, -1, 4, 4, -0.7f, 2};
  std::vector<float> adapted = {0.9f, -1.5f, 4, 4, 0.25f, -0.5f};
  std::vector<float> slopes = std::vector<float>(6, 7), adapted_slopes = std::vector<float>(6, 7);

  double loss(const DistillationOptions& options) {
    const std::vector<float> none;
    std::span<float> no_slopes;
    return distillation_loss(
        options,
        {.rows = 3, .tasks = 2, .logit = logit, .hit = hit, .label = label, .known = known},
        student, options.adapter ? adapted : none, slopes,
        options.adapter ? std::span<float>(adapted_slopes) : no_slopes);
  }
};

TEST(Distillation, IsTheMeanOverHitsOfTheSumOverTasks) {
  Case c;
  const DistillationOptions options = {.weight = 3, .smoothing = 0.1};
  double expected = 0;
  for (const size_t i : {0, 1, 4, 5}) {
    const double label = 0.9 / (1 + std::exp(-c.logit[i])) + 0.05;
    expected += 3 * entropy(c.student[i], label) / 2;
  }
  EXPECT_NEAR(c.loss(options), expected, 1e-6);
  EXPECT_EQ(c.slopes[2], 0);
  EXPECT_EQ(c.slopes[3], 0);
}

TEST(Distillation, TheAdaptersAnswerIsASecondTargetAndLearnsFromTheLabel) {
  Case c;
  const DistillationOptions options = {.weight = 1, .smoothing = 0, .adapter = true};
  double expected = 0;
  for (const size_t i : {0, 1, 4, 5})
    expected += (entropy(c.student[i], 1 / (1 + std::exp(-c.logit[i]))) +
                 entropy(c.student[i], 1 / (1 + std::exp(-c.adapted[i])))) /
                4;
  // Known labels of hits: one of the first task (row 0), two of the second.
  expected += entropy(c.adapted[0], 1) + (entropy(c.adapted[1], 0) + entropy(c.adapted[5], 1)) / 2;
  EXPECT_NEAR(c.loss(options), expected, 1e-6);
}

TEST(Distillation, SlopesAgreeWithDifferences) {
  for (const bool adapter : {false, true}) {
    const DistillationOptions options = {
        .weight = 2, .label_scale = 0.8, .smoothing = 0.05, .adapter = adapter};
    Case c;
    c.loss(options);
    const Case at = c;
    constexpr float kStep = 1e-2f;
    for (size_t i = 0; i < 6; ++i) {
      Case up = at, down = at;
      up.student[i] += kStep;
      down.student[i] -= kStep;
      const double width = double{up.student[i]} - double{down.student[i]};
      EXPECT_NEAR(at.slopes[i], (up.loss(options) - down.loss(options)) / width, 2e-5) << i;
    }
    // Of an adapter's logit only its own loss has a slope: as a target it is held still. With the
    // student on the fence (p = 1/2) the second target's entropy does not depend on it.
    if (!adapter) continue;
    Case still = at;
    still.student.assign(6, 0);
    still.loss(options);
    for (size_t i = 0; i < 6; ++i) {
      Case up = still, down = still;
      up.adapted[i] += kStep;
      down.adapted[i] -= kStep;
      const double width = double{up.adapted[i]} - double{down.adapted[i]};
      EXPECT_NEAR(still.adapted_slopes[i], (up.loss(options) - down.loss(options)) / width, 2e-5)
          << i;
      EXPECT_EQ(still.adapted_slopes[i], at.adapted_slopes[i]);
    }
  }
}

TEST(Distillation, NoHitIsNoLoss) {
  Case c;
  c.hit = {0, 0, 0};
  EXPECT_EQ(c.loss({.adapter = true}), 0);
  for (const float slope : c.slopes) EXPECT_EQ(slope, 0);
  for (const float slope : c.adapted_slopes) EXPECT_EQ(slope, 0);
}

}  // namespace
}  // namespace weft::lattice
