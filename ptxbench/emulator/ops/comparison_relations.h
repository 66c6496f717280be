// SPDX-License-Identifier: Apache-2.0

// The handlers that compare two operands into a lane mask, by relation and type.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

enum class HalfOfPair { Lower, Upper };

// Writes the mask of `a relation b` to d. Nullptr: the relation does not exist for the type.
Handler comparison_handler(const ptx::Instruction& instruction, isa::Type type, HalfOfPair half);

}  // namespace weft::emulator
