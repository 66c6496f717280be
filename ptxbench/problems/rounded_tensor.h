// SPDX-License-Identifier: Apache-2.0

// Tensors made of computed values.
#pragma once

#include <string>
#include <vector>

#include "ptxbench/problems/tensor.h"

namespace weft::problems {

bool is_floating(DType dtype);

// Values rounded to a floating type. Other types cannot hold outputs.
Tensor from_float(std::string name, DType dtype, std::vector<int64_t> shape,
                  const std::vector<float>& values);

}  // namespace weft::problems
