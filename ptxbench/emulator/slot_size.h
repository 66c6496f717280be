// SPDX-License-Identifier: Apache-2.0

// How much room the values of a type take in a warp's registers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ptxbench/emulator/op.h"
#include "ptxbench/isa/types.h"

namespace weft::emulator {

inline int slot_bits(isa::Type type) {
  return type == isa::Type::Pred ? 1 : std::max(8, isa::bits(type));
}

// Bytes that 32 lanes of `bits` wide values take; a predicate is one mask.
inline uint32_t slot_bytes(int bits) {
  return bits == 1 ? 4 : static_cast<uint32_t>(bits) * kLanes / 8;
}

}  // namespace weft::emulator
