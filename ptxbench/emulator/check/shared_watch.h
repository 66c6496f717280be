// SPDX-License-Identifier: Apache-2.0

// Ops that tell the hazard check what a load, store or atomic touches. They are emitted beside the
// instruction's own op when a program is prepared with such a check on, so that other programs pay
// nothing.
#pragma once

#include <cstdint>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

// What a memory instruction does, and whether it is strong: volatile, relaxed, acquire, release.
enum class Watched : uint8_t { Load, StrongLoad, Store, StrongStore, Atomic, Reduction };

// Emits the op that goes ahead of an access of `bytes` at the address. Nothing when no check wants
// it or the space is another one.
void lower_watch(Lowering& lowering, const Address& address, uint32_t bytes, Watched kind);
// Emits the op that goes behind it: what a strong read has seen is ordered before what follows.
void lower_watch_end(Lowering& lowering, const Address& address, Watched kind);

}  // namespace weft::emulator
