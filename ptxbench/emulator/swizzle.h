// SPDX-License-Identifier: Apache-2.0

// Shared-memory swizzles: which 16-byte chunk of a 128-byte line an address really means. Tensor
// copies write with them and matrix instructions read with them, so both use this one formula (PTX
// ISA, "Shared Memory Matrix Layout"): chunk bits of the absolute shared address are XORed with
// line bits.
//
//   address bit   9 8 7   6 5 4   3 2 1 0
//   128 B         r r r   c c c             c ^= r
//    64 B           r r     c c
//    32 B             r       c
#pragma once

#include <cstdint>

namespace weft::emulator {

// Which bits take part: 0 none, 1 for 32 B, 3 for 64 B, 7 for 128 B.
using SwizzleMask = uint32_t;
inline constexpr SwizzleMask kSwizzleNone = 0, kSwizzle32 = 1, kSwizzle64 = 3, kSwizzle128 = 7;

// `base_offset`: lines that the pattern's first line lies past a multiple of its period (8, 4 or 2
// lines); 0 when the pattern begins aligned, as it nearly always does.
constexpr uint32_t swizzle(uint32_t address, SwizzleMask mask, uint32_t base_offset = 0) {
  return address ^ ((((address >> 7) - base_offset) & mask) << 4);
}

}  // namespace weft::emulator
