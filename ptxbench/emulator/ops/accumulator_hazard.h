// SPDX-License-Identifier: Apache-2.0

// Whether a function touches registers of a wgmma that may still run.
//
// The manual forbids it, but PTX made by a compiler may copy accumulators between wgmma.mma_async
// and the wait, because inline assembly looks synchronous to it. The device's assembler sees that
// and makes the instructions of such a function wait at once; so does the emulator.
#pragma once

#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

// The first instruction that reads or writes accumulators in flight, or writes A fragments in
// flight; nullptr: none. Follows the text from top to bottom: what is in flight at a line is what
// lines above it have issued and not waited for.
const ptx::Instruction* first_touch_in_flight(const ptx::Function& function);

}  // namespace weft::emulator
