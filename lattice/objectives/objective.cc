// SPDX-License-Identifier: Apache-2.0

// Two passes: what each task owns must be counted before a row's share of the mean is known.
#include "lattice/objectives/objective.h"

#include <cmath>
#include <map>

#include "base/invariant.h"
#include "lattice/objectives/binary.h"

namespace weft::lattice {

void TaskSums::add(const TaskSums& other) {
  rows += other.rows;
  loss += other.loss;
  positives += other.positives;
  predicted += other.predicted;
}

size_t head_of(const Task& task, const Targets& targets, uint64_t row, size_t windows) {
  if (!task.windowed) return 0;
  if (targets.window.empty()) return windows - 1;
  INVARIANT(targets.window[row] < windows);
  return targets.window[row];
}

bool owns(const Task& task, const Targets& targets, size_t tasks, size_t j, uint64_t row) {
  if (targets.known[row * tasks + j] == 0) return false;
  if (task.domains.empty() || targets.domain.empty()) return true;
  const auto domain = static_cast<size_t>(targets.domain[row]);
  return domain < task.domains.size() && task.domains[domain] != 0;
}

Loss Objective::evaluate(std::span<const float> logits, const Targets& targets,
                         std::span<float> gradient) const {
  const size_t tasks = tasks_.size();
  INVARIANT(logits.size() == targets.rows * tasks * windows_ && gradient.size() == logits.size());
  Loss loss;
  loss.tasks.resize(tasks);
  std::vector<double> slopes(logits.size(), 0.0);
  for (size_t j = 0; j < tasks; ++j)
    for (uint64_t row = 0; row < targets.rows; ++row)
      loss.tasks[j].rows += owns(tasks_[j], targets, tasks, j, row) ? 1 : 0;
  for (size_t j = 0; j < tasks; ++j) {
    TaskSums& sums = loss.tasks[j];
    if (sums.rows == 0) continue;
    const double share = tasks_[j].weight / static_cast<double>(sums.rows);
    for (uint64_t row = 0; row < targets.rows; ++row) {
      if (!owns(tasks_[j], targets, tasks, j, row)) continue;
      const size_t at = (row * tasks + j) * windows_ + head_of(tasks_[j], targets, row, windows_);
      const double label = targets.label[row * tasks + j];
      const double probability = sigmoid(logits[at]);
      sums.loss += cross_entropy(logits[at], label);
      sums.positives += label;
      sums.predicted += probability;
      slopes[at] = share * (probability - label);
    }
    loss.value += share * sums.loss;
  }
  if (correlation_.weight > 0) loss.value += add_correlation(logits, targets, slopes);
  for (size_t i = 0; i < slopes.size(); ++i) gradient[i] = static_cast<float>(slopes[i]);
  return loss;
}

// Of standardized labels x and probabilities y with correlation r: d(1 - r)/dp_i =
// -(x_i - r y_i) / (n sd(p)), then times p (1 - p) for the logit.
double Objective::add_correlation(std::span<const float> logits, const Targets& targets,
                                  std::span<double> gradient) const {
  struct Slice {
    std::vector<size_t> at;  // positions of the logits
    std::vector<double> label, probability;
  };
  const size_t tasks = tasks_.size();
  std::map<std::pair<size_t, int32_t>, Slice> slices;
  for (uint64_t row = 0; row < targets.rows; ++row)
    for (size_t j = 0; j < tasks; ++j) {
      if (!owns(tasks_[j], targets, tasks, j, row)) continue;
      Slice& slice = slices[{j, targets.domain.empty() ? 0 : targets.domain[row]}];
      slice.at.push_back((row * tasks + j) * windows_ + head_of(tasks_[j], targets, row, windows_));
      slice.label.push_back(targets.label[row * tasks + j]);
      slice.probability.push_back(sigmoid(logits[slice.at.back()]));
    }
  const auto moments = [](const std::vector<double>& values) {
    double mean = 0, square = 0;
    for (const double one : values) mean += one;
    mean /= static_cast<double>(values.size());
    for (const double one : values) square += (one - mean) * (one - mean);
    return std::pair(mean, std::sqrt(square / static_cast<double>(values.size())));
  };
  struct Used {
    const Slice* slice;
    double label_mean, label_deviation, mean, deviation, correlation;
  };
  std::vector<Used> used;
  for (const auto& [key, slice] : slices) {
    if (slice.at.size() < correlation_.least_rows) continue;
    const auto [label_mean, label_deviation] = moments(slice.label);
    const auto [mean, deviation] = moments(slice.probability);
    if (label_deviation == 0 || deviation < correlation_.least_deviation) continue;
    double covariance = 0;
    for (size_t i = 0; i < slice.at.size(); ++i)
      covariance += (slice.label[i] - label_mean) * (slice.probability[i] - mean);
    covariance /= static_cast<double>(slice.at.size());
    used.push_back({&slice, label_mean, label_deviation, mean, deviation,
                    covariance / (label_deviation * deviation)});
  }
  double value = 0;
  for (const Used& one : used) {
    const double share = correlation_.weight / static_cast<double>(used.size());
    value += share * (1 - one.correlation);
    const auto count = static_cast<double>(one.slice->at.size());
    for (size_t i = 0; i < one.slice->at.size(); ++i) {
      const double p = one.slice->probability[i];
      const double x = (one.slice->label[i] - one.label_mean) / one.label_deviation;
      const double y = (p - one.mean) / one.deviation;
      gradient[one.slice->at[i]] -=
          share * (x - one.correlation * y) / (count * one.deviation) * p * (1 - p);
    }
  }
  return value;
}

}  // namespace weft::lattice
