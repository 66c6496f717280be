// SPDX-License-Identifier: Apache-2.0

// Where the bytes of a matrix operand lie. All of PTX's matrix operands are made of core matrices:
// eight rows of 16 bytes. In registers a 32-bit register of a warp is one core matrix as it stands
// (lane / 4 is the row); in shared memory a descriptor says how core matrices follow each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/swizzle.h"

namespace weft::emulator {

struct OperandRows {
  const std::byte* base = nullptr;  // of the memory that offsets count from
  uint32_t start = 0;               // bytes
  uint32_t group_stride = 0;        // from eight rows to the next eight
  uint32_t row_stride = 16;
  uint32_t chunk_stride = 16;  // from 16 bytes of a row to the next, within an atom
  uint32_t atom_shift = 16;    // an atom is 1 << atom_shift chunks wide
  uint32_t atom_stride = 0;    // from atom to atom along a row
  SwizzleMask mask = kSwizzleNone;
  uint32_t base_offset = 0;

  // Before the swizzle a place is where its row begins and the chunk's distance from there.
  uint32_t row_start(uint32_t group, uint32_t row) const {
    return start + group * group_stride + row * row_stride;
  }
  uint32_t distance(uint32_t chunk) const {
    return (chunk & ((1u << atom_shift) - 1)) * chunk_stride + (chunk >> atom_shift) * atom_stride;
  }
  uint32_t linear(uint32_t group, uint32_t row, uint32_t chunk) const {
    return row_start(group, row) + distance(chunk);
  }
  const std::byte* at_linear(uint32_t linear) const {
    return base + swizzle(linear, mask, base_offset);
  }
  uint32_t offset(uint32_t group, uint32_t row, uint32_t chunk) const {
    return swizzle(linear(group, row, chunk), mask, base_offset);
  }
  // The operand without its first rows.
  OperandRows from_group(uint32_t group) const {
    OperandRows rest = *this;
    rest.start += group * group_stride;
    return rest;
  }
  const std::byte* at(uint32_t group, uint32_t row, uint32_t chunk) const {
    return base + offset(group, row, chunk);
  }
};

}  // namespace weft::emulator
