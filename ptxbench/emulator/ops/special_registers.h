// SPDX-License-Identifier: Apache-2.0

// Special registers (PTX ISA 9.0, chapter 10) and addresses that depend on the block or the call
// frame.
#pragma once

#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

// Emits what reads the register into a slot of at most `bits`; constants of the launch go through
// the grid, constants of the lane through the pool.
Result<Lowering::Sized> read_special_register(Lowering& lowering,
                                              const ptx::SpecialRegister& special, int bits);

// What a symbol's address is relative to.
enum class SymbolBase : uint8_t {
  Shared,            // the block's shared window
  DynamicShared,     // where dynamic shared memory begins in that window
  Frame,             // local memory of the call frame
  KernelParameters,  // the launch's copy of the parameters
};
Handler symbol_address_handler(SymbolBase base, bool wide);

}  // namespace weft::emulator
