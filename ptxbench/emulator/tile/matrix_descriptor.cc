// SPDX-License-Identifier: Apache-2.0

// Canonical layouts, in 16-byte chunks (W = chunks of a swizzle atom: 1, 2, 4, 8):
//
//   K-major    row i, chunk c     none      (i % 8) + (i / 8) stride + c leading
//                                 swizzled  (i % 8) W + (i / 8) stride + c
//   MN-major   k, chunk c of MN   none      (k % 8) + (k / 8) leading + c stride
//                                 swizzled  (k % 8) W + (k / 8) stride + (c % W) + (c / W) leading
//
// The swizzle then XORs bits of the absolute address, so an atom may be entered in its middle.

#include "ptxbench/emulator/tile/matrix_descriptor.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::emulator {

MatrixDescriptor decode_descriptor(uint64_t bits) {
  // Addresses and offsets are 18 bits wide without their lowest four.
  const auto field = [&](int first) {
    return static_cast<uint32_t>((bits >> first) & 0x3fff) << 4;
  };
  return {.start = field(0),
          .leading_offset = field(16),
          .stride_offset = field(32),
          .base_offset = static_cast<uint32_t>((bits >> 49) & 7),
          .mode = static_cast<SwizzleMode>(bits >> 62)};
}

std::string describe(const MatrixDescriptor& d) {
  constexpr const char* kModes[] = {"no swizzle", "128-byte swizzle", "64-byte swizzle",
                                    "32-byte swizzle"};
  return fmt::format("start {:#x}, leading offset {}, stride offset {}, base offset {}, {}",
                     d.start, d.leading_offset, d.stride_offset, d.base_offset,
                     kModes[static_cast<int>(d.mode)]);
}

OperandRows descriptor_rows(const MatrixDescriptor& d, Major major, const std::byte* shared) {
  OperandRows rows;
  rows.base = shared;
  rows.start = d.start;
  uint32_t width_shift = 0;  // log2 of W
  switch (d.mode) {
    case SwizzleMode::None:
      break;
    case SwizzleMode::Bytes32:
      width_shift = 1;
      rows.mask = kSwizzle32;
      break;
    case SwizzleMode::Bytes64:
      width_shift = 2;
      rows.mask = kSwizzle64;
      break;
    case SwizzleMode::Bytes128:
      width_shift = 3;
      rows.mask = kSwizzle128;
      break;
  }
  rows.base_offset = d.base_offset;
  rows.row_stride = 16u << width_shift;
  if (d.mode != SwizzleMode::None) {
    rows.group_stride = d.stride_offset;
    if (major == Major::Outer) {
      rows.atom_shift = width_shift;
      rows.atom_stride = d.leading_offset;
    }
  } else if (major == Major::Depth) {
    rows.group_stride = d.stride_offset;
    rows.chunk_stride = d.leading_offset;
  } else {
    rows.group_stride = d.leading_offset;
    rows.chunk_stride = d.stride_offset;
  }
  return rows;
}

uint32_t reach(const OperandRows& rows, int groups, int chunks) {
  // Offsets only add, so the last row's last chunk is the furthest, but for the last chunk of a
  // full atom before it.
  const uint32_t last_group = static_cast<uint32_t>(groups - 1),
                 last_chunk = static_cast<uint32_t>(chunks - 1);
  const uint32_t full_atom =
      std::min(last_chunk, (last_chunk >> rows.atom_shift << rows.atom_shift) - 1);
  const uint32_t furthest =
      std::max(rows.linear(last_group, 7, last_chunk), rows.linear(last_group, 7, full_atom));
  // A swizzle moves chunks within their line.
  return rows.mask == 0 ? furthest + 16 : (furthest | 127) + 1;
}

}  // namespace weft::emulator
