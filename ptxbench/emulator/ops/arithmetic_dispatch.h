// SPDX-License-Identifier: Apache-2.0

// Opcodes such as `add` belong to several chapters of the manual; the type decides which. Each of
// those opcodes has `arithmetic` as its meaning, which hands the instruction to the chapter.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

Result<Done> arithmetic(Lowering& lowering, const ptx::Instruction& instruction);

Result<Done> integer_arithmetic(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> extended_arithmetic(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> float_arithmetic(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> float_functions(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> half_arithmetic(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> mixed_arithmetic(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
