// SPDX-License-Identifier: Apache-2.0

// Rows are sorted once; each measure is then one walk along the order with the weights at hand.
#include "lattice/metrics/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/invariant.h"

namespace weft::lattice {
namespace {

constexpr double kClip = 1e-7;

double sigmoid(double logit) {
  return logit >= 0 ? 1 / (1 + std::exp(-logit)) : std::exp(logit) / (1 + std::exp(logit));
}

double entropy(double rate) {
  return -rate * std::log(rate) - (1 - rate) * std::log(1 - rate);
}

// Wins of positives over negatives along rows of rising score, ties at half.
struct Ranking {
  double positives = 0, negatives = 0, wins = 0;

  // A run of rows with one score.
  void add(double run_positives, double run_negatives) {
    wins += run_positives * (negatives + run_negatives / 2);
    positives += run_positives;
    negatives += run_negatives;
  }
};

}  // namespace

const char* name(Measure measure) {
  constexpr std::array<const char*, kMeasures> kNames = {"log_loss", "ne",          "auc",
                                                         "gauc",     "calibration", "ece"};
  return kNames[static_cast<size_t>(measure)];
}

Quality::Quality(const Slice& slice)
    : logit_(slice.logit.begin(), slice.logit.end()),
      label_(slice.label.begin(), slice.label.end()),
      background_(slice.background) {
  INVARIANT(label_.size() == logit_.size());
  INVARIANT(slice.group.empty() || slice.group.size() == logit_.size());
  const size_t count = logit_.size();
  probability_.resize(count);
  loss_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const double p = std::clamp(sigmoid(logit_[i]), kClip, 1 - kClip);
    const double y = label_[i];
    probability_[i] = p;
    loss_[i] = -y * std::log(p) - (1 - y) * std::log(1 - p);
    positives_ += y;
    binary_ = binary_ && (y == 0 || y == 1);
    finite_ = finite_ && std::isfinite(logit_[i]);
  }
  if (!finite_) return;  // an order needs numbers
  by_score_.resize(count);
  std::iota(by_score_.begin(), by_score_.end(), 0u);
  std::sort(by_score_.begin(), by_score_.end(), [&](uint32_t a, uint32_t b) {
    return logit_[a] != logit_[b] ? logit_[a] < logit_[b] : a < b;
  });
  if (slice.group.empty()) return;
  std::unordered_map<uint64_t, uint32_t> numbers;
  group_.reserve(count);
  for (const uint64_t group : slice.group)
    group_.push_back(numbers.emplace(group, static_cast<uint32_t>(numbers.size())).first->second);
  group_count_ = numbers.size();
  by_group_and_score_ = by_score_;
  std::stable_sort(by_group_and_score_.begin(), by_group_and_score_.end(),
                   [&](uint32_t a, uint32_t b) { return group_[a] < group_[b]; });
}

size_t Quality::one_sided_groups() const {
  std::vector<uint8_t> seen(group_count_);
  for (size_t i = 0; i < group_.size(); ++i)
    seen[group_[i]] |= static_cast<uint8_t>(label_[i] > 0 ? 1 : 2);
  return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [](int s) { return s != 3; }));
}

Value Quality::auc(std::span<const uint32_t> order, std::span<const uint32_t> weight) const {
  Ranking ranking;
  for (size_t i = 0; i < order.size();) {
    double positives = 0, negatives = 0;
    const float score = logit_[order[i]];
    for (; i < order.size() && logit_[order[i]] == score; ++i)
      (label_[order[i]] > 0 ? positives : negatives) += weight[order[i]];
    ranking.add(positives, negatives);
  }
  if (ranking.positives == 0) return {.reason = "no positive row"};
  if (ranking.negatives == 0) return {.reason = "no negative row"};
  return {.value = ranking.wins / (ranking.positives * ranking.negatives)};
}

Value Quality::grouped_auc(std::span<const uint32_t> weight) const {
  if (group_.empty()) return {.reason = "rows have no group"};
  double sum = 0, mass = 0;
  const std::span<const uint32_t> order(by_group_and_score_);
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    double rows = 0;
    for (; to < order.size() && group_[order[to]] == group_[order[from]]; ++to)
      rows += weight[order[to]];
    const Value one = auc(order.subspan(from, to - from), weight);
    if (one.value) {
      sum += rows * *one.value;
      mass += rows;
    }
    from = to;
  }
  if (mass == 0) return {.reason = "no group has both classes"};
  return {.value = sum / mass};
}

Value Quality::bin_error(std::span<const uint32_t> weight, double total) const {
  struct Bin {
    double predicted = 0, observed = 0;
  };
  std::array<Bin, kBins> bins{};
  double before = 0;  // mass of the rows with lower scores: all of one score share a bin
  for (size_t i = 0; i < by_score_.size();) {
    const float score = logit_[by_score_[i]];
    const size_t bin = std::min(kBins - 1, static_cast<size_t>(before * kBins / total));
    for (; i < by_score_.size() && logit_[by_score_[i]] == score; ++i) {
      const uint32_t row = by_score_[i];
      bins[bin].predicted += weight[row] * probability_[row];
      bins[bin].observed += weight[row] * static_cast<double>(label_[row]);
      before += weight[row];
    }
  }
  double error = 0;
  for (const Bin& bin : bins) error += std::abs(bin.predicted - bin.observed);
  return {.value = error / total};
}

Values Quality::measure() const {
  return measure(std::vector<uint32_t>(rows(), 1));
}

Values Quality::measure(std::span<const uint32_t> weight) const {
  INVARIANT(weight.size() == rows());
  Values values;
  const auto at = [&](Measure one) -> Value& { return values[static_cast<size_t>(one)]; };
  double total = 0, positives = 0, predicted = 0, loss = 0;
  for (size_t i = 0; i < rows(); ++i) {
    total += weight[i];
    positives += weight[i] * static_cast<double>(label_[i]);
    predicted += weight[i] * probability_[i];
    loss += weight[i] * loss_[i];
  }
  if (total == 0 || !finite_) {
    values.fill({.reason = total == 0 ? "no rows" : "a score is not a finite number"});
    return values;
  }
  at(Measure::LogLoss).value = loss / total;
  const double rate = background_.value_or(positives / total);
  if (rate > 0 && rate < 1)
    at(Measure::Entropy).value = loss / total / entropy(rate);
  else
    at(Measure::Entropy).reason = "the background rate is 0 or 1";
  if (positives > 0)
    at(Measure::Calibration).value = predicted / positives;
  else
    at(Measure::Calibration).reason = "no positive row";
  at(Measure::BinError) = bin_error(weight, total);
  const Value fractional = {.reason = "labels are fractions"};
  at(Measure::Auc) = binary_ ? auc(by_score_, weight) : fractional;
  at(Measure::GroupedAuc) = binary_ ? grouped_auc(weight) : fractional;
  return values;
}

}  // namespace weft::lattice
