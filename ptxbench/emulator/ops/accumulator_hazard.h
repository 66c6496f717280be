// SPDX-License-Identifier: Apache-2.0

// Which instructions of a function may touch registers of a wgmma that may still run.
//
// The manual forbids it (PTX ISA 9.0, 9.7.15.2), but PTX made by a compiler may copy accumulators
// between wgmma.mma_async and the wait, because inline assembly looks synchronous to it. The
// device's assembler sees that and makes the instructions of such a function wait at once; so does
// the emulator. Whether a touch is more than a compiler's copy is decided while the program runs
// (in_flight_check.h).
#pragma once

#include <unordered_set>

#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

// Instructions that, on some path through the function, read or write accumulators of a wgmma that
// no wait on the way covers, or registers that moves have copied from them; or that write A
// fragments of one. All paths are considered, so some of these touches may never happen.
std::unordered_set<const ptx::Instruction*> touches_in_flight(const ptx::Function& function);

// mov of one whole register to another.
bool is_register_copy(const ptx::Instruction& instruction);

}  // namespace weft::emulator
