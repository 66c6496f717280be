// SPDX-License-Identifier: Apache-2.0

// The check "wgmma" (Checks::wgmma): a fault where code uses registers of a wgmma that it has not
// waited for. The device's assembler often mends such code, so results do not show it.
//
// A move of an accumulator to another register is no use: compilers put such copies anywhere. The
// copy then counts like the accumulator until the wait.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

// Emits the check ahead of an instruction that touches_in_flight names.
void lower_in_flight_check(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
