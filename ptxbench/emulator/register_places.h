// SPDX-License-Identifier: Apache-2.0

// Which registers of a function may share a place. Compilers give nearly every value a register of
// its own, and a register here is 32 values: a warp's registers would not stay in the fastest
// cache. Registers that are never alive at the same time get one place.
#pragma once

#include <cstdint>
#include <vector>

#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

// By register: the first register that has its place (itself, when nobody was there before). Only
// registers that plain instructions alone read and write take part; the others stay by themselves,
// because asynchronous instructions read and write theirs later.
std::vector<uint32_t> register_places(const ptx::Function& function);

// Whether everything that the instruction reads and writes is in its operands, and is read and
// written before the warp goes on.
bool is_plain(const ptx::Instruction& instruction);

}  // namespace weft::emulator
