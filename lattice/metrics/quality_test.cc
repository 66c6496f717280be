// SPDX-License-Identifier: Apache-2.0

// Expected values are worked out by hand, or come from a reference that compares every pair.
#include "lattice/metrics/quality.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "lattice/metrics/quality_report.h"
#include "lattice/metrics/resampling.h"

namespace weft::lattice {
namespace {

double logit(double p) {
  return std::log(p / (1 - p));
}

double value(const Values& values, Measure one) {
  return values[static_cast<size_t>(one)].value.value();
}

// Every positive against every negative; `weight` may be empty.
double pairwise_auc(const std::vector<float>& score, const std::vector<float>& label,
                    const std::vector<uint32_t>& weight) {
  double wins = 0, pairs = 0;
  for (size_t i = 0; i < score.size(); ++i)
    for (size_t j = 0; j < score.size(); ++j) {
      if (label[i] != 1 || label[j] != 0) continue;
      const double both = static_cast<double>(weight[i]) * weight[j];
      pairs += both;
      wins += both * (score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0);
    }
  return wins / pairs;
}

struct Rows {
  std::vector<float> score, label;
  std::vector<uint64_t> user;
};

// Scores on a coarse grid, so that ties are many.
Rows random_rows(size_t count, uint64_t seed) {
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = mix(seed, i);
    const auto level = static_cast<float>(bits % 13) / 4 - 1.5f;
    rows.score.push_back(level);
    rows.label.push_back((bits >> 20) % 1000 < 300 + 60 * level * 4 ? 1 : 0);
    rows.user.push_back((bits >> 40) % 17 + (1ull << 40));
  }
  return rows;
}

TEST(Quality, ByHand) {
  // Probabilities 0.9, 0.6, 0.6, 0.2 with labels 1, 1, 0, 0.
  const std::vector<float> score = {static_cast<float>(logit(0.9)), static_cast<float>(logit(0.6)),
                                    static_cast<float>(logit(0.6)), static_cast<float>(logit(0.2))};
  const std::vector<float> label = {1, 1, 0, 0};
  const Quality quality({.logit = score, .label = label});
  const Values values = quality.measure();
  // -(ln 0.9 + ln 0.6 + ln 0.4 + ln 0.8) / 4
  EXPECT_NEAR(value(values, Measure::LogLoss), 0.438905, 2e-6);
  // Over ln 2, the entropy of one half.
  EXPECT_NEAR(value(values, Measure::Entropy), 0.438905 / 0.693147, 3e-6);
  // Pairs: 1, 1, tie, 1: 3.5 of 4.
  EXPECT_DOUBLE_EQ(value(values, Measure::Auc), 0.875);
  // 0.9 + 0.6 + 0.6 + 0.2 over 2.
  EXPECT_NEAR(value(values, Measure::Calibration), 1.15, 1e-6);
  // Bins {0.2}, {0.6, 0.6}, {0.9}: 0.2 + |1.2 - 1| + |0.9 - 1|, over 4.
  EXPECT_NEAR(value(values, Measure::BinError), 0.125, 1e-6);
  EXPECT_EQ(values[static_cast<size_t>(Measure::GroupedAuc)].reason, "rows have no group");
}

TEST(Quality, NamesTheBackgroundRate) {
  const std::vector<float> score = {0, 0, 0, 0}, label = {1, 0, 0, 0};
  const Quality slice({.logit = score, .label = label});
  const Quality training({.logit = score, .label = label, .background = 0.5});
  EXPECT_STREQ(slice.background(), "slice");
  EXPECT_STREQ(training.background(), "training");
  // ln 2 over the entropy of 1/4 (0.562335), and over ln 2.
  EXPECT_NEAR(value(slice.measure(), Measure::Entropy), 0.693147 / 0.562335, 1e-5);
  EXPECT_NEAR(value(training.measure(), Measure::Entropy), 1, 1e-12);
}

TEST(Quality, GroupsOfOneClassAreLeftOut) {
  const std::vector<float> score = {3, 1, 2, 1, 5, 5, 5}, label = {1, 0, 1, 0, 0, 1, 1};
  // User 7: 1 of 1 pairs; user 8: positives at 2, 5 and negatives at 1, 5: 1 + 0 + 1 + 0.5 of 4;
  // user 9 has positives only.
  const std::vector<uint64_t> user = {7, 7, 8, 8, 8, 8, 9};
  const Quality quality({.logit = score, .label = label, .group = user});
  EXPECT_DOUBLE_EQ(value(quality.measure(), Measure::GroupedAuc), (2 * 1.0 + 4 * 0.625) / 6);
  EXPECT_EQ(quality.groups(), 3u);
  EXPECT_EQ(quality.one_sided_groups(), 1u);
}

TEST(Quality, AgreesWithEveryPairWithTiesAndWeights) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Rows rows = random_rows(300, seed);
    const Quality quality({.logit = rows.score, .label = rows.label, .group = rows.user});
    std::vector<uint32_t> weight(300, 1);
    EXPECT_NEAR(value(quality.measure(), Measure::Auc),
                pairwise_auc(rows.score, rows.label, weight), 1e-12);
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = mix(seed, i + 1000) % 4;
    const Values values = quality.measure(weight);
    EXPECT_NEAR(value(values, Measure::Auc), pairwise_auc(rows.score, rows.label, weight), 1e-12);
    // The same rows written out as often as they weigh.
    Rows repeated;
    for (size_t i = 0; i < weight.size(); ++i)
      for (uint32_t k = 0; k < weight[i]; ++k) {
        repeated.score.push_back(rows.score[i]);
        repeated.label.push_back(rows.label[i]);
        repeated.user.push_back(rows.user[i]);
      }
    const Values again =
        Quality({.logit = repeated.score, .label = repeated.label, .group = repeated.user})
            .measure();
    for (size_t one = 0; one < kMeasures; ++one)
      EXPECT_NEAR(*values[one].value, *again[one].value, 1e-12) << one;
  }
}

TEST(Quality, UndefinedIsMissingWithAReason) {
  const std::vector<float> score = {0.5f, 1}, negatives = {0, 0}, fractions = {0.5f, 0};
  const Values none = Quality({}).measure();
  for (const Value& one : none) EXPECT_EQ(one.reason, "no rows");
  const Values low = Quality({.logit = score, .label = negatives}).measure();
  EXPECT_EQ(low[static_cast<size_t>(Measure::Auc)].reason, "no positive row");
  EXPECT_EQ(low[static_cast<size_t>(Measure::Entropy)].reason, "the background rate is 0 or 1");
  EXPECT_EQ(low[static_cast<size_t>(Measure::Calibration)].reason, "no positive row");
  EXPECT_TRUE(low[static_cast<size_t>(Measure::LogLoss)].value.has_value());
  const Values soft = Quality({.logit = score, .label = fractions}).measure();
  EXPECT_EQ(soft[static_cast<size_t>(Measure::Auc)].reason, "labels are fractions");
  const std::vector<float> broken = {NAN, 1}, label = {0, 1};
  const Quality quality({.logit = broken, .label = label});
  const Values values = quality.measure();
  for (const Value& one : values) EXPECT_EQ(one.reason, "a score is not a finite number");
  const Json report = to_json(quality, values, intervals(quality, {.draws = 10}));
  EXPECT_TRUE(report["auc"]["value"].is_null());
  EXPECT_EQ(report["auc"]["reason"], "a score is not a finite number");
}

TEST(Resampling, DrawsAsManyUnitsAsThereAre) {
  const Rows rows = random_rows(500, 3);
  const Quality quality({.logit = rows.score, .label = rows.label, .group = rows.user});
  const std::vector<uint32_t> by_row = draw_weights(quality, {.seed = 9}, 4);
  uint64_t sum = 0;
  for (const uint32_t one : by_row) sum += one;
  EXPECT_EQ(sum, 500u);
  // Rows of one user are drawn together.
  const std::vector<uint32_t> by_user = draw_weights(quality, {.unit = Unit::Group, .seed = 9}, 4);
  for (size_t i = 0; i < 500; ++i)
    for (size_t j = 0; j < 500; ++j)
      EXPECT_TRUE(rows.user[i] != rows.user[j] || by_user[i] == by_user[j]);
  EXPECT_NE(by_row, draw_weights(quality, {.seed = 10}, 4));
  EXPECT_NE(by_row, draw_weights(quality, {.seed = 9}, 5));
}

// The mean of n Bernoulli labels has a known spread: log loss at logit 0 is constant, calibration
// is 0.5 / mean(y), so its interval follows from mean(y) +- 1.96 sqrt(p (1-p) / n).
TEST(Resampling, IntervalsHaveTheTextbookWidth) {
  std::vector<float> score(4000, 0), label(4000, 0);
  for (size_t i = 0; i < 1600; ++i) label[i] = 1;
  const Quality quality({.logit = score, .label = label});
  const Intervals found = intervals(quality, {.draws = 2000, .seed = 5});
  const Interval95 interval = found[static_cast<size_t>(Measure::Calibration)].value();
  const double half = 1.96 * std::sqrt(0.4 * 0.6 / 4000);
  EXPECT_NEAR(interval.low, 0.5 / (0.4 + half), 0.004);
  EXPECT_NEAR(interval.high, 0.5 / (0.4 - half), 0.004);
  const Interval95 loss = found[static_cast<size_t>(Measure::LogLoss)].value();
  EXPECT_NEAR(loss.low, std::log(2.0), 1e-9);
  EXPECT_NEAR(loss.high, std::log(2.0), 1e-9);
}

TEST(Resampling, PairsShareTheirDrawsWhateverTheWorkers) {
  const Rows rows = random_rows(400, 8);
  std::vector<float> shifted = rows.score;
  for (float& one : shifted) one += 0.25f;
  const Quality one({.logit = rows.score, .label = rows.label});
  const Quality other({.logit = shifted, .label = rows.label});
  const Intervals difference = paired_intervals(one, other, {.workers = 2});
  const Interval95 auc = difference[static_cast<size_t>(Measure::Auc)].value();
  // A shift changes no rank, so under shared draws the difference is exactly nothing.
  EXPECT_EQ(auc.low, 0);
  EXPECT_EQ(auc.high, 0);
  const Intervals alone = paired_intervals(one, other, {.workers = 1});
  EXPECT_EQ(alone[0]->low, difference[0]->low);
  EXPECT_EQ(alone[0]->high, difference[0]->high);
}

TEST(Resampling, SeedsByHand) {
  const std::vector<double> three = {1, 2, 3};
  const SeedMean mean = across_seeds(three);
  EXPECT_DOUBLE_EQ(mean.mean, 2);
  // s = 1, t(2) = 4.303: 2 +- 4.303 / sqrt(3)
  EXPECT_NEAR(mean.interval->low, 2 - 4.303 / std::sqrt(3.0), 1e-12);
  EXPECT_FALSE(across_seeds(std::vector<double>{4}).interval.has_value());
}

}  // namespace
}  // namespace weft::lattice
