// SPDX-License-Identifier: Apache-2.0

// The matrix instructions of a warp, one file each (PTX ISA 9.0, section 9.7.14); ops/matrix.cc
// lists them.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

Result<Done> lower_ldmatrix(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_stmatrix(Lowering& lowering, const ptx::Instruction& instruction);
// Both, of 8-bit and narrower elements (ops/ldmatrix_bytes.cc).
Result<Done> lower_byte_blocks(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_movmatrix(Lowering& lowering, const ptx::Instruction& instruction);

Result<Done> lower_mma(Lowering& lowering, const ptx::Instruction& instruction);
// Parts of mma: f64 operands; the shape m8n8k4 on f16, whose four products are spread over quarters
// of the warp.
Result<Done> lower_mma_double(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_mma_quad_pairs(Lowering& lowering, const ptx::Instruction& instruction);

Result<Done> lower_wmma(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
