// SPDX-License-Identifier: Apache-2.0

// Values are worked out by hand; gradients are held against differences of the loss itself, with
// weights that pass no gradient kept fixed.
#include "lattice/objectives/objective.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "base/mix.h"
#include "lattice/objectives/binary.h"
#include "lattice/objectives/delayed_feedback.h"

namespace weft::lattice {
namespace {

double logit(double p) {
  return std::log(p / (1 - p));
}

// Rows of two domains, three windows, two tasks (the first windowed), some labels unknown.
struct Made {
  std::vector<float> logits, label;
  std::vector<uint8_t> known, window;
  std::vector<int32_t> domain;
  Targets targets() const {
    return {
        .rows = window.size(), .label = label, .known = known, .window = window, .domain = domain};
  }
};

Made make(size_t rows) {
  Made made;
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t bits = mix(77, i);
    for (size_t k = 0; k < 6; ++k)
      made.logits.push_back(static_cast<float>(mix(bits, k) % 1000) / 250 - 2);
    made.label.push_back(bits % 3 == 0 ? 1 : 0);
    made.label.push_back((bits >> 8) % 4 == 0 ? 1 : 0);
    made.known.push_back((bits >> 16) % 5 != 0);
    made.known.push_back((bits >> 24) % 7 != 0);
    made.window.push_back((bits >> 32) % 3);
    made.domain.push_back((bits >> 40) % 2);
  }
  return made;
}

void expect_gradient(const Objective& objective, const Made& made, double tolerance) {
  std::vector<float> gradient(made.logits.size()), unused(made.logits.size());
  objective.evaluate(made.logits, made.targets(), gradient);
  for (size_t i = 0; i < made.logits.size(); ++i) {
    std::vector<float> up = made.logits, down = made.logits;
    up[i] += 0.001f;
    down[i] -= 0.001f;
    const double step = static_cast<double>(up[i]) - static_cast<double>(down[i]);
    const double slope = (objective.evaluate(up, made.targets(), unused).value -
                          objective.evaluate(down, made.targets(), unused).value) /
                         step;
    EXPECT_NEAR(gradient[i], slope, tolerance) << i;
  }
}

TEST(Objective, ByHand) {
  // Two rows, one windowed task with weight 2: 0.8 in window 0, 0.25 in window 1.
  const std::vector<float> logits = {static_cast<float>(logit(0.8)), 5, -3,
                                     static_cast<float>(logit(0.25))};
  const std::vector<float> label = {1, 0};
  const std::vector<uint8_t> known = {1, 1}, window = {0, 1};
  const Objective objective({{.name = "buy", .weight = 2, .windowed = true}}, 2, {});
  std::vector<float> gradient(4, 9);
  const Loss loss = objective.evaluate(
      logits, {.rows = 2, .label = label, .known = known, .window = window}, gradient);
  // 2 (-ln 0.8 - ln 0.75) / 2
  EXPECT_NEAR(loss.value, -std::log(0.8) - std::log(0.75), 1e-7);
  EXPECT_NEAR(gradient[0], 0.8 - 1, 1e-6);
  EXPECT_NEAR(gradient[3], 0.25, 1e-6);
  // Heads of other windows are not touched.
  EXPECT_EQ(gradient[1], 0);
  EXPECT_EQ(gradient[2], 0);
  EXPECT_NEAR(loss.tasks[0].predicted, 1.05, 1e-6);
  EXPECT_EQ(loss.tasks[0].positives, 1);
}

TEST(Objective, ATaskWithoutWindowsTrainsTheFirstHead) {
  const std::vector<float> logits = {0, 7}, label = {1};
  const std::vector<uint8_t> known = {1}, window = {1};
  std::vector<float> gradient(2);
  const Objective objective({{.name = "click"}}, 2, {});
  objective.evaluate(logits, {.rows = 1, .label = label, .known = known, .window = window},
                     gradient);
  EXPECT_NEAR(gradient[0], -0.5, 1e-7);
  EXPECT_EQ(gradient[1], 0);
}

TEST(Objective, RowsOfOtherDomainsAndUnknownLabelsTrainNothing) {
  Made made = make(60);
  const Objective all({{.name = "a"}, {.name = "b"}}, 3, {});
  const Objective masked({{.name = "a", .domains = {0, 1}}, {.name = "b"}}, 3, {});
  std::vector<float> gradient(made.logits.size());
  const Loss loss = masked.evaluate(made.logits, made.targets(), gradient);
  uint64_t owned = 0;
  for (size_t row = 0; row < 60; ++row) {
    const bool owns_it = made.known[2 * row] != 0 && made.domain[row] == 1;
    owned += owns_it;
    EXPECT_EQ(gradient[row * 6] != 0, owns_it) << row;
    EXPECT_EQ(gradient[row * 6 + 3] != 0, made.known[2 * row + 1] != 0) << row;
  }
  EXPECT_EQ(loss.tasks[0].rows, owned);
  EXPECT_GT(all.evaluate(made.logits, made.targets(), gradient).tasks[0].rows, owned);
}

TEST(Objective, GradientsAgreeWithDifferences) {
  const Made made = make(40);
  const std::vector<Task> tasks = {{.name = "buy", .weight = 0.7, .windowed = true},
                                   {.name = "click", .weight = 1.5, .domains = {1, 0}}};
  expect_gradient(Objective(tasks, 3, {}), made, 2e-6);
  expect_gradient(Objective(tasks, 3, {.weight = 0.5, .least_rows = 4}), made, 2e-6);
}

TEST(Objective, CorrelationByHand) {
  // Labels 1, 0 and probabilities above and below their mean: perfectly correlated, so the loss is
  // the cross-entropy alone; reversed, it adds twice the weight.
  const std::vector<float> label = {1, 0};
  const std::vector<uint8_t> known = {1, 1};
  const Targets targets = {.rows = 2, .label = label, .known = known};
  const Objective plain({{.name = "a"}}, 1, {});
  const Objective objective({{.name = "a"}}, 1, {.weight = 0.25, .least_rows = 2});
  std::vector<float> gradient(2);
  const std::vector<float> right = {1, -1}, wrong = {-1, 1}, same = {1, 1};
  const auto extra = [&](const std::vector<float>& logits) {
    return objective.evaluate(logits, targets, gradient).value -
           plain.evaluate(logits, targets, gradient).value;
  };
  EXPECT_NEAR(extra(right), 0, 1e-12);
  EXPECT_NEAR(extra(wrong), 0.5, 1e-12);
  EXPECT_EQ(extra(same), 0);  // nothing to correlate
}

double slope_of(const std::function<double(double)>& loss, double at) {
  return (loss(at + 1e-5) - loss(at - 1e-5)) / 2e-5;
}

TEST(DelayedFeedback, DelayModelAgreesWithDifferences) {
  for (const double z : {-2.0, 0.3, 1.7})
    for (const double rate : {-1.0, 0.4})
      for (const bool converted : {false, true}) {
        const DelayObservation seen = {converted, 5000};
        const Slopes slopes = delay_model_loss(z, rate, seen, 3600);
        EXPECT_NEAR(
            slopes.logit,
            slope_of([&](double x) { return delay_model_loss(x, rate, seen, 3600).loss; }, z),
            1e-8);
        EXPECT_NEAR(
            slopes.second,
            slope_of([&](double x) { return delay_model_loss(z, x, seen, 3600).loss; }, rate),
            1e-8);
      }
  // p = 1/2 and a unit rate: converted after one unit, ln 2 + 1; not yet, -ln(1/2 + 1/(2e)).
  EXPECT_NEAR(delay_model_loss(0, 0, {true, 60}, 60).loss, std::log(2.0) + 1, 1e-12);
  EXPECT_NEAR(delay_model_loss(0, 0, {false, 60}, 60).loss, -std::log(0.5 + 0.5 * std::exp(-1.0)),
              1e-12);
}

TEST(DelayedFeedback, FakeNegativesByHand) {
  // p = 0.8: positive weight 1.8, negative weight 0.2 * 1.8.
  const Slopes positive = fake_negative_loss(logit(0.8), 1);
  EXPECT_NEAR(positive.loss, -1.8 * std::log(0.8), 1e-12);
  EXPECT_NEAR(positive.logit, -1.8 * 0.2, 1e-12);
  const Slopes negative = fake_negative_loss(logit(0.8), 0);
  EXPECT_NEAR(negative.loss, -0.36 * std::log(0.2), 1e-12);
  EXPECT_NEAR(negative.logit, 0.36 * 0.8, 1e-12);
}

// On a stream in its own proportions each weighted loss pulls nowhere at the true probability.
TEST(DelayedFeedback, WeightsAreUnbiasedAtTheTruth) {
  const double p = 0.3, late = 0.2;
  // Fake negatives: each impression once as a negative, converting ones once more as a positive.
  EXPECT_NEAR(fake_negative_loss(logit(p), 0).logit + p * fake_negative_loss(logit(p), 1).logit, 0,
              1e-12);
  // Real negatives: after the wait, p - late are positive; at the end, p.
  const double positives = 2 * p - late, negatives = 2 - positives;
  EXPECT_NEAR(positives * real_negative_loss(logit(p), logit(late), 1).logit +
                  negatives * real_negative_loss(logit(p), logit(late), 0).logit,
              0, 1e-12);
}

TEST(Binary, SafeForLargeLogits) {
  EXPECT_EQ(sigmoid(-1000), 0);
  EXPECT_EQ(sigmoid(1000), 1);
  EXPECT_DOUBLE_EQ(cross_entropy(1000, 0), 1000);
  EXPECT_DOUBLE_EQ(cross_entropy(-1000, 1), 1000);
  EXPECT_DOUBLE_EQ(cross_entropy(0, 0.5), std::log(2.0));
}

}  // namespace
}  // namespace weft::lattice
