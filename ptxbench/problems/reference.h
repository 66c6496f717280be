// SPDX-License-Identifier: Apache-2.0

// What a task's outputs should be, computed on the CPU in float32 products with float32 or float64
// sums, before the rounding to the output's type.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

// One vector an output, in the definition's order, each in the output's own layout.
using Expected = std::vector<std::vector<float>>;

// Chosen by the tag "family:". Inputs are in the definition's order.
Result<Expected> reference(const Task& task, const std::vector<Tensor>& inputs);

// Fills the inputs that come from a forward pass over the others.
Result<Done> derive_inputs(const Task& task, std::vector<Tensor>& inputs);

// Floating-point operations of the task by the usual count (2 a multiply-add; causal attention
// counts the visible half). Nothing when the family is unknown.
std::optional<double> floating_point_operations(const Task& task);

// The families, one file each.
Expected gemm_reference(const Task& task, const std::vector<Tensor>& inputs);
Result<Expected> attention_forward(const Task& task, const std::vector<Tensor>& inputs);
Result<Expected> attention_backward(const Task& task, const std::vector<Tensor>& inputs);
Result<Done> derive_attention(const Task& task, std::vector<Tensor>& inputs);

}  // namespace weft::problems
