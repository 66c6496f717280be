// SPDX-License-Identifier: Apache-2.0

// Sums of 32 rows x 32 columns on AMX: four tiles of sums, two of A and two of B. Static, like all
// code for processors that may not be this one.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/tile/avx512.h"

namespace weft::emulator {

// Eight tiles of 16 rows x 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, first_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The kind is a template parameter because the instruction is.
enum class SquareKind { Bf16, SignedSigned, SignedUnsigned, UnsignedSigned, UnsignedUnsigned };
template <SquareKind kKind>
static inline void square_step() {
  if constexpr (kKind == SquareKind::Bf16) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  } else if constexpr (kKind == SquareKind::SignedSigned) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  } else if constexpr (kKind == SquareKind::SignedUnsigned) {
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    _tile_dpbsud(2, 5, 6);
    _tile_dpbsud(3, 5, 7);
  } else if constexpr (kKind == SquareKind::UnsignedSigned) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  } else {
    _tile_dpbuud(0, 4, 6);
    _tile_dpbuud(1, 4, 7);
    _tile_dpbuud(2, 5, 6);
    _tile_dpbuud(3, 5, 7);
  }
}

// Adds a b to `sums`, 32 rows of kWidePanel, or puts it there (`from_zero`). a: 32 rows of
// `depth_bytes`, a multiple of 64; b: rows of 4 bytes x 32 columns, depth_bytes / 4 of them.
template <SquareKind kKind>
static inline void multiply_square(const std::byte* a, const std::byte* b, int depth_bytes,
                                   void* sums, bool from_zero) {
  auto* c = static_cast<std::byte*>(sums);
  constexpr int kRow = kWidePanel * 4;
  if (from_zero) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, c, kRow);
    _tile_loadd(1, c + 64, kRow);
    _tile_loadd(2, c + 16 * kRow, kRow);
    _tile_loadd(3, c + 16 * kRow + 64, kRow);
  }
  for (int k = 0; k < depth_bytes; k += 64) {
    _tile_loadd(4, a + k, depth_bytes);
    _tile_loadd(5, a + 16 * depth_bytes + k, depth_bytes);
    _tile_loadd(6, b + k / 4 * kRow, kRow);
    _tile_loadd(7, b + k / 4 * kRow + 64, kRow);
    square_step<kKind>();
  }
  _tile_stored(0, c, kRow);
  _tile_stored(1, c + 64, kRow);
  _tile_stored(2, c + 16 * kRow, kRow);
  _tile_stored(3, c + 16 * kRow + 64, kRow);
}

}  // namespace weft::emulator
