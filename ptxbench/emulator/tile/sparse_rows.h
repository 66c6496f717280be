// SPDX-License-Identifier: Apache-2.0

// Sparse operands of mma.sp and wgmma.sp (PTX ISA 9.0, sections 9.7.14.6.1 and 9.7.15.6.2): of each
// chunk of four units along a row only two are stored, and four bits of metadata say where they
// stand. A unit is 16 bits of f16, bf16 and tf32 (so a tf32 is two of them), and a byte of 8-bit
// and 4-bit types. Here rows get back their zeros, so that a dense product can follow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/tile/element.h"

namespace weft::emulator {

struct SparseMetadata {
  const uint32_t* lanes = nullptr;  // the operand of a warp's 32 lanes, for 16 rows
  uint32_t first_lane = 0;          // of those in each four that contribute
  int unit_bytes = 2;

  // Two indices of two bits for a chunk of a row; the lower one is the first stored unit's.
  //   16-bit units: lane f + c / 4 of the four has row g in its low half, row g + 8 in its high one
  //   bytes:        lane f + 2 (c / 8) has row g, the one after it row g + 8
  uint32_t indices(int row, int chunk) const {
    const int group = row % 8, half = row / 8;
    if (unit_bytes == 2)
      return lanes[4 * group + static_cast<int>(first_lane) + chunk / 4] >>
                 (16 * half + 4 * (chunk % 4)) &
             15;
    return lanes[4 * group + static_cast<int>(first_lane) + chunk / 8 * 2 + half] >>
               (4 * (chunk % 8)) &
           15;
  }
};

constexpr int sparse_unit_bytes(TileElement element) {
  return element == TileElement::F16 || element == TileElement::Bf16 || element == TileElement::Tf32
             ? 2
             : 1;
}

// How many lanes of each four contribute to rows of `bytes` when dense; the selector counts in
// steps of as many.
constexpr int sparse_lanes(int unit_bytes, int bytes) {
  return bytes / (4 * unit_bytes) / 4;
}

// Writes the dense row, of twice as many bytes as are stored.
void spread_row(const SparseMetadata& metadata, int row, const std::byte* stored, int stored_bytes,
                std::byte* dense);

}  // namespace weft::emulator
