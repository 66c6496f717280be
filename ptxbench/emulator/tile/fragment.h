// SPDX-License-Identifier: Apache-2.0

// Which element of a matrix a lane's fragment element is. One rule gives every layout of mma.sync
// and wgmma (PTX ISA, "Matrix Fragments for mma...", "Register Fragments ..."), because all are
// made of core matrices of eight rows, four lanes to a row, `width` neighbours to a lane:
//
//   block b of 8 rows     lane 0: columns 0 .. width-1    lane 1: width .. 2 width-1    ...
//                         lane 4: the same, a row lower
//
// Blocks run down the rows first, then along the columns.
#pragma once

#include <cstdint>

namespace weft::emulator {

struct FragmentLayout {
  uint16_t rows = 0, columns = 0;  // of a warp's part; B counts its N as rows and K as columns
  uint8_t width = 0;               // neighbouring elements that one lane holds together

  struct Position {
    int row = 0, column = 0;
    bool operator==(const Position&) const = default;
  };
  constexpr int elements() const { return rows * columns / 32; }  // of one lane
  // Element `i` of `lane`: i counts through the lane's registers, low bits first.
  constexpr Position position(int lane, int i) const {
    const int block = i / width, row_groups = rows / 8;
    return {8 * (block % row_groups) + lane / 4,
            4 * width * (block / row_groups) + width * (lane % 4) + i % width};
  }
};

// Operands with `bits`-wide elements (32: tf32): what fills a 32-bit register stands together. f64
// operands have width 1.
constexpr FragmentLayout operand_fragment(int rows, int depth, int bits) {
  return {static_cast<uint16_t>(rows), static_cast<uint16_t>(depth),
          static_cast<uint8_t>(bits >= 32 ? 1 : 32 / bits)};
}
// Accumulators of any type: pairs.
constexpr FragmentLayout accumulator_fragment(int rows, int columns) {
  return {static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 2};
}

}  // namespace weft::emulator
