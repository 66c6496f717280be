// SPDX-License-Identifier: Apache-2.0

// Meanings of the bit instructions of the integer chapter.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

Result<Done> population_count(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> leading_zeros(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> find_bit(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> find_nth_set(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> reverse_bits(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> extract_field(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> insert_field(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> extend_sign(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> make_mask(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
