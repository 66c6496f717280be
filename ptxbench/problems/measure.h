// SPDX-License-Identifier: Apache-2.0

// What implementations of a task get wrong, measured against float64 over the task's own inputs.
// The implementations are models on the CPU (model.h): operands of a precision class, sums in an
// order that programs or hardware use, for attention the running softmax over tiles of keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

struct MeasuredError {
  std::string output;
  std::string precision;       // "fp32", "tf32", "bf16", "fp8" operands, or "f16 sums"
  std::string implementation;  // "products summed in order"
  bool good = false;           // as fine as the definition asks for
  double relative_norm = 0;    // of the error; infinite where the output is not finite
  double row_norm = 0;         // of the worst row's error, relative to the row
  // |error| <= absolute + relative |expected| for every element: `relative` is the largest relative
  // error of an element above an eighth of the root mean square, `absolute` what is left.
  double absolute = 0, relative = 0;
  bool refused = false;  // by the tolerance in force
};

// All implementations over the inputs of every distribution.
Result<std::vector<MeasuredError>> measure(const Task& task, uint64_t seed);

// A limit is this many times what the worst of the good implementations shows: norms are averages,
// which others may exceed; the largest error of an element is already an extreme.
constexpr double kNormMargin = 4, kElementMargin = 2;

}  // namespace weft::problems
