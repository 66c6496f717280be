// SPDX-License-Identifier: Apache-2.0

// Is an output close enough to what it should be, and if not, how does it differ? The statistics
// are made to be evidence: first wrong element, where the wrong ones lie, whether a constant factor
// explains them, whether they were written at all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/definition.h"
#include "ptxbench/problems/mask.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/tolerance.h"

namespace weft::problems {

struct Comparison {
  bool passed = false;
  std::string reason;  // why not; empty when passed
  int64_t elements = 0;
  int64_t mismatched = 0;         // elements outside absolute + relative |expected|
  int64_t non_finite = 0;         // where a finite number is expected
  int64_t missed_infinities = 0;  // where an infinity is expected and something else stands
  int64_t untouched = 0;          // wrong elements that still hold the poison
  double max_absolute_error = 0;
  double max_relative_error = 0;  // relative to max(|expected|, absolute tolerance)
  double relative_norm = 0;
  double worst_row_norm = 0;       // of a row's error, relative to the row
  std::vector<int64_t> first_bad;  // index of the first wrong element
  double first_expected = 0, first_actual = 0;
  // The wrong elements lie in rows first ... last and columns first ... last (columns: last axis).
  std::array<int64_t, 2> bad_rows{}, bad_columns{};
  double factor = 0;  // 0, or the constant that the expected values were multiplied by
};

// `poison` is the byte that filled the output before the call. Masked elements are not looked at.
Comparison compare(const Tensor& actual, const std::vector<float>& expected,
                   const Tolerance& tolerance, uint8_t poison, const Mask& mask = {});

}  // namespace weft::problems
