// SPDX-License-Identifier: Apache-2.0

// Draw k of unit u is a Philox number of (k, u), so draws can be made in any order.
#include "lattice/metrics/resampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/invariant.h"
#include "base/parallel.h"
#include "base/philox.h"

namespace weft::lattice {
namespace {

// Times each of `count` units comes up in `count` draws with replacement.
std::vector<uint32_t> multiplicities(size_t count, uint64_t seed, uint64_t draw) {
  std::vector<uint32_t> times(count);
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed),
                                       static_cast<uint32_t>(seed >> 32)};
  for (size_t i = 0; i < count; i += 2) {
    const Quad random = philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32),
                                static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32)},
                               key);
    for (size_t half = 0; half < 2 && i + half < count; ++half) {
      const uint64_t bits = random[2 * half] | (static_cast<uint64_t>(random[2 * half + 1]) << 32);
      // The high half of a 64 x 64 bit product: uniform below `count` but for 2^-64 of it.
      ++times[static_cast<size_t>((static_cast<unsigned __int128>(bits) * count) >> 64)];
    }
  }
  return times;
}

using Draw = std::array<std::optional<double>, kMeasures>;

Intervals quantiles(const Resampling& how, const std::function<Draw(uint64_t)>& measure) {
  std::vector<Draw> drawn(how.draws);
  each_in_parallel(
      static_cast<int64_t>(how.draws),
      [&](int64_t draw) {
        drawn[static_cast<size_t>(draw)] = measure(static_cast<uint64_t>(draw));
      },
      how.workers);
  Intervals result;
  for (size_t one = 0; one < kMeasures; ++one) {
    std::vector<double> values;
    for (const Draw& draw : drawn)
      if (draw[one]) values.push_back(*draw[one]);
    if (values.empty() || 2 * values.size() < how.draws) continue;
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
      const double place = share * static_cast<double>(values.size() - 1);
      const auto below = static_cast<size_t>(place);
      const size_t above = std::min(below + 1, values.size() - 1);
      return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
    };
    result[one] = {.low = at(0.025), .high = at(0.975), .draws = values.size()};
  }
  return result;
}

// Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom (any table of it has these).
constexpr std::array<double, 30> kStudent = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

}  // namespace

std::vector<uint32_t> draw_weights(const Quality& quality, const Resampling& how, uint64_t draw) {
  if (how.unit == Unit::Row || quality.group_numbers().empty())
    return multiplicities(quality.rows(), how.seed, draw);
  const std::vector<uint32_t> times = multiplicities(quality.groups(), how.seed, draw);
  std::vector<uint32_t> weight;
  weight.reserve(quality.rows());
  for (const uint32_t group : quality.group_numbers()) weight.push_back(times[group]);
  return weight;
}

Intervals intervals(const Quality& quality, const Resampling& how) {
  return quantiles(how, [&](uint64_t draw) {
    const Values values = quality.measure(draw_weights(quality, how, draw));
    Draw drawn;
    for (size_t i = 0; i < kMeasures; ++i) drawn[i] = values[i].value;
    return drawn;
  });
}

Intervals paired_intervals(const Quality& one, const Quality& other, const Resampling& how) {
  INVARIANT(one.rows() == other.rows());
  return quantiles(how, [&](uint64_t draw) {
    const std::vector<uint32_t> weight = draw_weights(one, how, draw);
    const Values first = one.measure(weight), second = other.measure(weight);
    Draw drawn;
    for (size_t i = 0; i < kMeasures; ++i)
      if (first[i].value && second[i].value) drawn[i] = *first[i].value - *second[i].value;
    return drawn;
  });
}

SeedMean across_seeds(std::span<const double> differences) {
  INVARIANT(!differences.empty());
  const auto count = static_cast<double>(differences.size());
  SeedMean result;
  result.mean = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
  if (differences.size() < 2) return result;
  double squares = 0;
  for (const double one : differences) squares += (one - result.mean) * (one - result.mean);
  const size_t freedom = differences.size() - 1;
  const double student = freedom <= kStudent.size() ? kStudent[freedom - 1] : 1.96;
  const double half = student * std::sqrt(squares / static_cast<double>(freedom) / count);
  result.interval = {
      .low = result.mean - half, .high = result.mean + half, .draws = differences.size()};
  return result;
}

}  // namespace weft::lattice
