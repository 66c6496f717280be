// SPDX-License-Identifier: Apache-2.0

// Products with block scales (tcgen05.mma kinds mxf8f6f4, mxf4 and mxf4nvf4): each run of 16 or 32
// elements of a row of A and of a column of B has a scale in tensor memory.
#pragma once

#include "ptxbench/emulator/ops/tensor_operand.h"

namespace weft::emulator {

// D (+)= (A scale_A) (B scale_B) for one part; `step` has its operands, `shape` all of the depth.
void multiply_scaled(const TensorProduct& product, const Part& part, const MatrixShape& shape,
                     const MatrixStep& step);

}  // namespace weft::emulator
