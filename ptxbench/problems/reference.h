// SPDX-License-Identifier: Apache-2.0

// What a task's outputs should be, computed on the CPU in float32 products with float32 or float64
// sums, before the rounding to the output's type.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/model.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

// One vector an output, in the definition's order, each in the output's own layout.
using Expected = std::vector<std::vector<float>>;

// Float32 is what a verdict uses; Float64 (twice to four times as slow) is what errors are measured
// against. Either way the result is stored in float32.
enum class Sums : uint8_t { Float32, Float64 };

// Chosen by the tag "family:". Inputs are in the definition's order. Refuses when the machine has
// less free memory than the computation needs.
Result<Expected> reference(const Task& task, const std::vector<Tensor>& inputs,
                           Sums sums = Sums::Float32);

// What a kernel that computes like the model would give.
Result<Expected> modelled(const Task& task, const std::vector<Tensor>& inputs, const Model& model);

// Fills the inputs that come from a forward pass over the others.
Result<Done> derive_inputs(const Task& task, std::vector<Tensor>& inputs);

// Floating-point operations of the task by the usual count (2 a multiply-add; causal attention
// counts the visible part). Nothing when the family is unknown or the count depends on
// the lengths of sequences.
std::optional<double> floating_point_operations(const Task& task);

// What the reference costs, in operations of a matrix product: roughly, but for every family.
std::optional<double> reference_cost(const Task& task);

// Bytes that the reference needs beside the task's own tensors. Nothing when the family is unknown.
std::optional<double> reference_bytes(const Task& task, Sums sums);

}  // namespace weft::problems
