// SPDX-License-Identifier: Apache-2.0

// Positions of an output that a definition says are not compared. There is no other wild card: a
// reference that is not finite elsewhere is a mistake of the definition.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

// One value an element, 1 where it is masked; empty when nothing is. From the tag
// "masked.<output>:", an expression over axes and the element's indices i0, i1, ...
using Mask = std::vector<uint8_t>;
Result<Mask> mask_of(const Task& task, const TensorSpec& output);

// The definition's promise about its reference, for this output.
Result<Done> check_finite(const Task& task, const TensorSpec& output,
                          const std::vector<float>& expected, const Mask& mask);

}  // namespace weft::problems
