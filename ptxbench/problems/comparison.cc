// SPDX-License-Identifier: Apache-2.0

// One pass gathers everything; the rules are applied to what it found.
#include "ptxbench/problems/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parallel.h"

namespace weft::problems {
namespace {

// A constant factor explains an output when it leaves less than this of the error.
constexpr double kExplained = 2e-2;

struct Totals {
  double error = 0, expected = 0, product = 0, actual = 0;  // of squares, and expected times actual
  double worst_outlier = 0;  // largest |error| in units of the tolerance at max(|expected|, rms)
  double worst_row = 0;      // largest row norm of the error relative to the row's own norm
  int64_t worst_row_index = 0;
};

bool holds_poison(const Tensor& tensor, int64_t index, uint8_t poison) {
  const size_t size = byte_size(tensor.dtype);
  const std::byte* start = tensor.bytes.data() + static_cast<size_t>(index) * size;
  return std::all_of(start, start + size, [&](std::byte b) { return b == std::byte{poison}; });
}

bool masked(const Mask& mask, int64_t index) {
  return !mask.empty() && mask[static_cast<size_t>(index)] != 0;
}

double root_mean_square(const std::vector<float>& values, const Mask& mask) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (masked(mask, static_cast<int64_t>(i)) || std::isinf(values[i])) continue;
    sum += double{values[i]} * values[i];
    count += 1;
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

void note_bad(Comparison& result, int64_t index, int64_t width, double expected, double actual,
              const std::vector<int64_t>& shape) {
  const int64_t row = index / width, column = index % width;
  if (result.first_bad.empty()) {
    result.first_bad = unflatten(index, shape);
    result.first_expected = expected;
    result.first_actual = actual;
    result.bad_rows = {row, row};
    result.bad_columns = {column, column};
  }
  result.bad_rows[1] = row;
  result.bad_columns = {std::min(result.bad_columns[0], column),
                        std::max(result.bad_columns[1], column)};
}

// Elements `first` up to `last`, which are whole rows.
Totals gather_rows(const Tensor& actual, const std::vector<float>& values,
                   const std::vector<float>& expected, const Tolerance& tolerance, const Mask& mask,
                   uint8_t poison, double rms, int64_t first, int64_t last, Comparison& result) {
  const int64_t width = actual.shape.empty() ? 1 : actual.shape.back();
  Totals sums;
  double row_error = 0, row_expected = 0;
  for (int64_t i = first; i < last; ++i) {
    const double want = expected[i], got = values[i];
    if (masked(mask, i)) {
      // Anything may be here.
    } else if (std::isinf(want)) {
      // What the definition says of an empty row: this value and no other.
      if (got != want) {
        ++result.missed_infinities;
        ++result.mismatched;
        result.untouched += holds_poison(actual, i, poison);
        note_bad(result, i, width, want, got, actual.shape);
      }
    } else if (!std::isfinite(got)) {
      ++result.non_finite;
      ++result.mismatched;
      result.untouched += holds_poison(actual, i, poison);
      note_bad(result, i, width, want, got, actual.shape);
    } else {
      const double error = std::abs(got - want);
      const double limit = tolerance.absolute + tolerance.relative * std::abs(want);
      const double outlier_limit =
          tolerance.absolute + tolerance.relative * std::max(std::abs(want), rms);
      result.max_absolute_error = std::max(result.max_absolute_error, error);
      result.max_relative_error =
          std::max(result.max_relative_error, error / std::max(std::abs(want), tolerance.absolute));
      sums.worst_outlier = std::max(sums.worst_outlier, error / outlier_limit);
      sums.error += error * error;
      sums.expected += want * want;
      sums.product += want * got;
      sums.actual += got * got;
      row_error += error * error;
      row_expected += want * want;
      if (error > limit) {
        ++result.mismatched;
        result.untouched += holds_poison(actual, i, poison);
        note_bad(result, i, width, want, got, actual.shape);
      }
    }
    if ((i + 1) % width == 0) {
      // A row whose expected values vanish is measured against a thousandth of the usual row.
      const double scale =
          std::sqrt(row_expected) + 1e-3 * rms * std::sqrt(static_cast<double>(width));
      const double ratio =
          scale > 0 ? std::sqrt(row_error) / scale : (row_error > 0 ? INFINITY : 0);
      if (ratio > sums.worst_row) {
        sums.worst_row = ratio;
        sums.worst_row_index = i / width;
      }
      row_error = row_expected = 0;
    }
  }
  return sums;
}

// What was found in the rows that follow.
void merge(const Totals& from, const Comparison& part, Totals& sums, Comparison& result) {
  sums.error += from.error;
  sums.expected += from.expected;
  sums.product += from.product;
  sums.actual += from.actual;
  sums.worst_outlier = std::max(sums.worst_outlier, from.worst_outlier);
  if (from.worst_row > sums.worst_row) {
    sums.worst_row = from.worst_row;
    sums.worst_row_index = from.worst_row_index;
  }
  result.mismatched += part.mismatched;
  result.non_finite += part.non_finite;
  result.missed_infinities += part.missed_infinities;
  result.untouched += part.untouched;
  result.max_absolute_error = std::max(result.max_absolute_error, part.max_absolute_error);
  result.max_relative_error = std::max(result.max_relative_error, part.max_relative_error);
  if (part.first_bad.empty()) return;
  if (result.first_bad.empty()) {
    result.first_bad = part.first_bad;
    result.first_expected = part.first_expected;
    result.first_actual = part.first_actual;
    result.bad_rows = part.bad_rows;
    result.bad_columns = part.bad_columns;
    return;
  }
  result.bad_rows[1] = part.bad_rows[1];
  result.bad_columns = {std::min(result.bad_columns[0], part.bad_columns[0]),
                        std::max(result.bad_columns[1], part.bad_columns[1])};
}

// In parts of a fixed size, so that the sums do not depend on the number of workers.
Totals gather(const Tensor& actual, const std::vector<float>& expected, const Tolerance& tolerance,
              const Mask& mask, uint8_t poison, Comparison& result) {
  constexpr int64_t kPart = int64_t{1} << 20;  // elements, about
  const std::vector<float> values = to_float(actual);
  const int64_t count = actual.count();
  const int64_t width = actual.shape.empty() ? 1 : std::max<int64_t>(1, actual.shape.back());
  const int64_t step = std::max<int64_t>(1, kPart / width) * width;
  const int64_t parts = (count + step - 1) / step;
  const double rms = root_mean_square(expected, mask);
  std::vector<Totals> totals(static_cast<size_t>(parts));
  std::vector<Comparison> found(static_cast<size_t>(parts));
  each_in_parallel(parts, [&](int64_t part) {
    const auto index = static_cast<size_t>(part);
    totals[index] = gather_rows(actual, values, expected, tolerance, mask, poison, rms, part * step,
                                std::min(count, (part + 1) * step), found[index]);
  });
  Totals sums;
  for (size_t part = 0; part < totals.size(); ++part)
    merge(totals[part], found[part], sums, result);
  return sums;
}

void look_for_factor(const Totals& sums, Comparison& result) {
  if (sums.expected <= 0 || result.non_finite > 0) return;
  const double factor = sums.product / sums.expected;
  const double residual = sums.actual - factor * sums.product;  // squared norm of what is left
  if (std::abs(factor - 1) > 2e-2 && residual <= kExplained * kExplained * sums.actual)
    result.factor = factor;
}

std::string judge(const Totals& sums, const Tolerance& tolerance, const Comparison& result) {
  if (result.elements == 0) return "no element was compared";
  if (result.non_finite > 0)
    return fmt::format("NaN or infinity in {} of {} elements", result.non_finite, result.elements);
  if (result.missed_infinities > 0)
    return fmt::format("{} elements are not the infinity that an empty row has",
                       result.missed_infinities);
  if (tolerance.kind == Tolerance::Kind::RelativeNorm) {
    if (!(result.relative_norm <= tolerance.norm_limit)) {
      return fmt::format("relative norm of the error {:.3g} exceeds {:.3g}", result.relative_norm,
                         tolerance.norm_limit);
    }
    if (!(sums.worst_row <= tolerance.row_norm_limit)) {
      return fmt::format("relative norm of the error {:.3g} in row {} exceeds {:.3g}",
                         sums.worst_row, sums.worst_row_index, tolerance.row_norm_limit);
    }
    return {};
  }
  const double matched =
      1 - static_cast<double>(result.mismatched) / static_cast<double>(result.elements);
  if (matched < tolerance.matched_ratio) {
    return fmt::format("{} of {} elements differ by more than {} + {} |expected|",
                       result.mismatched, result.elements, tolerance.absolute, tolerance.relative);
  }
  if (sums.worst_outlier > tolerance.outlier_factor) {
    return fmt::format("few elements differ ({} of {}), but by up to {:.3g} times the tolerance",
                       result.mismatched, result.elements, sums.worst_outlier);
  }
  return {};
}

}  // namespace

Comparison compare(const Tensor& actual, const std::vector<float>& expected,
                   const Tolerance& tolerance, uint8_t poison, const Mask& mask) {
  INVARIANT(actual.count() == static_cast<int64_t>(expected.size()));
  Comparison result;
  INVARIANT(mask.empty() || mask.size() == expected.size());
  result.elements = actual.count() - std::count_if(mask.begin(), mask.end(),
                                                   [](uint8_t hidden) { return hidden != 0; });
  const Totals sums = gather(actual, expected, tolerance, mask, poison, result);
  result.relative_norm =
      sums.expected > 0 ? std::sqrt(sums.error / sums.expected) : (sums.error > 0 ? INFINITY : 0);
  result.worst_row_norm = sums.worst_row;
  result.reason = judge(sums, tolerance, result);
  result.passed = result.reason.empty();
  if (!result.passed) look_for_factor(sums, result);
  return result;
}

}  // namespace weft::problems
