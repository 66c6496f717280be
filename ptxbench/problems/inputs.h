// SPDX-License-Identifier: Apache-2.0

// Fresh inputs for one trial of a task.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

// The tag "inputs:" names the distributions; trials take them in turn. Inputs that the tag
// "derived:" lists are computed from the others (o, lse and delta of an attention backward).
Result<std::vector<Tensor>> make_inputs(const Task& task, uint64_t seed, unsigned trial);

}  // namespace weft::problems
