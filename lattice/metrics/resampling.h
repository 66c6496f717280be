// SPDX-License-Identifier: Apache-2.0

// Intervals for measures: the rows of a slice, or its groups as a whole (a user's rows depend on
// each other), are drawn again with replacement; the 2.5 % and 97.5 % quantiles of the measure over
// the draws bound it. Two models on the same rows are compared under the same draws. The draws
// depend on the seed alone, not on the number of workers.
//
// What differs between trainings of one model is seen across seeds: across_seeds().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lattice/metrics/quality.h"

namespace weft::lattice {

enum class Unit : uint8_t { Row, Group };

struct Resampling {
  Unit unit = Unit::Row;
  uint64_t draws = 200;
  uint64_t seed = 1;
  unsigned workers = 0;
};

struct Interval95 {
  double low = 0, high = 0;
  uint64_t draws = 0;  // those in which the measure was defined
};
using Intervals = std::array<std::optional<Interval95>, kMeasures>;

// How often each row is drawn in draw number `draw`.
std::vector<uint32_t> draw_weights(const Quality& quality, const Resampling& how, uint64_t draw);

// None where the measure is undefined in more than half of the draws.
Intervals intervals(const Quality& quality, const Resampling& how);
// Of `one` minus `other`, which must be of the same rows in the same order.
Intervals paired_intervals(const Quality& one, const Quality& other, const Resampling& how);

// The mean of paired differences, one a seed, and its 95 % interval by Student's t. No interval
// for a single seed.
struct SeedMean {
  double mean = 0;
  std::optional<Interval95> interval;
};
SeedMean across_seeds(std::span<const double> differences);

}  // namespace weft::lattice
