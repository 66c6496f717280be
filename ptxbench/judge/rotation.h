// SPDX-License-Identifier: Apache-2.0

// Axes along which a task's function commutes with rotation: rows of a product, batches and heads
// of an attention. Rotated inputs are new inputs whose right answer is the old one, rotated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptxbench/judge/bench_orders.h"
#include "ptxbench/problems/workload.h"

namespace weft::judge {

struct RotationAxis {
  std::string name;
  int64_t extent = 1;
  AxisPositions positions;  // in each input, then each output
};

// None for a family of which nothing is known.
std::vector<RotationAxis> rotation_axes(const problems::Task& task);

// Element i along the axis goes to (i + amount) modulo its extent.
std::string rotated(const std::string& bytes, const std::vector<int64_t>& shape, int position,
                    int64_t amount);

}  // namespace weft::judge
