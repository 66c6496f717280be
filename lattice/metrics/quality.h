// SPDX-License-Identifier: Apache-2.0

// How good scores are on one slice of rows (a domain, an objective, a window): exact, not binned.
//
//   log loss     -mean(y ln p + (1-y) ln(1-p)), natural, p clipped to [1e-7, 1 - 1e-7]
//   ne           log loss over the entropy of the background rate; below 1 beats that constant
//   auc          P(positive above negative) + half P(tie)
//   grouped auc  mean over groups with both classes, weighted by their rows; other groups are left
//                out and counted
//   calibration  sum of p over sum of y; 1 is perfect, above 1 predicts too much
//   ece          mean |p - y| of bins of equal mass, along p; equal scores share a bin
//
// A measure that is not defined on a slice is missing, with the reason. All take a weight a row, so
// that a resample of the rows is the same computation with other weights (resampling.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::lattice {

enum class Measure : uint8_t { LogLoss, Entropy, Auc, GroupedAuc, Calibration, BinError };
constexpr size_t kMeasures = 6;
// "log_loss", "ne", "auc", "gauc", "calibration", "ece"
const char* name(Measure measure);

struct Value {
  std::optional<double> value;
  std::string reason;  // why there is none
};
using Values = std::array<Value, kMeasures>;

struct Slice {
  std::span<const float> logit;
  std::span<const float> label;     // 0 to 1; rank measures need 0 or 1
  std::span<const uint64_t> group;  // users, for instance; empty: no grouped measure
  // The rate behind NE, of the training rows; missing: the rate of the slice itself.
  std::optional<double> background;
};

class Quality {
 public:
  static constexpr size_t kBins = 20;

  // The spans are read once and need not outlive the constructor.
  explicit Quality(const Slice& slice);

  size_t rows() const { return loss_.size(); }
  double positives() const { return positives_; }
  size_t groups() const { return group_count_; }
  // Groups without both classes, which grouped AUC leaves out.
  size_t one_sided_groups() const;
  const char* background() const { return background_ ? "training" : "slice"; }
  // The group of each row, numbered from 0; empty without groups.
  const std::vector<uint32_t>& group_numbers() const { return group_; }

  Values measure() const;
  // `weight` has one entry a row.
  Values measure(std::span<const uint32_t> weight) const;

 private:
  Value auc(std::span<const uint32_t> order, std::span<const uint32_t> weight) const;
  Value grouped_auc(std::span<const uint32_t> weight) const;
  Value bin_error(std::span<const uint32_t> weight, double total) const;

  std::vector<float> logit_, label_;
  std::vector<double> probability_, loss_;  // of each row
  std::vector<uint32_t> group_;
  std::vector<uint32_t> by_score_;            // rows in order of their logit
  std::vector<uint32_t> by_group_and_score_;  // and in order of their group first
  size_t group_count_ = 0;
  std::optional<double> background_;
  double positives_ = 0;
  bool binary_ = true;
  bool finite_ = true;
};

}  // namespace weft::lattice
