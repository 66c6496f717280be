// SPDX-License-Identifier: Apache-2.0

// The tile product on AMX: 16 x 16 tiles of sums, 64 bytes of depth an instruction. Operands are
// narrowed to what the unit takes (bf16, 8-bit integers) and padded with zeros to whole tiles.
// Products whose values do not fit bf16, and small ones, go to AVX-512.
//
// The unit treats denormal bf16 operands as zero and flushes denormal sums, which the other engines
// do not: docs/matrix_numerics.md says so.

#include <immintrin.h>

#include "ptxbench/emulator/tile/amx_square.h"
#include "ptxbench/emulator/tile/wide_blocks.h"

namespace weft::emulator {

namespace {

constexpr int kMostDepth = 256;  // of one pass, in elements; longer products take several

inline int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

inline uint16_t narrow(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

// Works panel by panel. `pack_b(first k, depth, column group, groups, out)` fills the panel's
// 4-byte rows; `pack_a(row, first k, depth, out)` one row.
template <typename Sum, typename PackA, typename PackB, typename Multiply>
void each_square(int row_groups, int column_groups, int depth, int unit, Sum* const* c,
                 ptrdiff_t c_row, PackA pack_a, PackB pack_b, Multiply multiply) {
  alignas(64) static thread_local std::byte a[256 * kMostDepth * 2];
  alignas(64) static thread_local std::byte b[kMostDepth / 2 * kWidePanel * 4];
  alignas(64) Sum sums[32 * kWidePanel];
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  const int element = 64 / unit;  // bytes of one value
  for (int first_row = 0; first_row < row_groups; first_row += 32)
    for (int k = 0; k < depth; k += kMostDepth) {
      const int last_row = row_groups - first_row < 32 ? row_groups : first_row + 32;
      const int part = depth - k < kMostDepth ? depth - k : kMostDepth;
      const int depth_bytes = round_up(part, unit) * element;
      const int rows = 8 * (last_row - first_row);
      __builtin_memset(a, 0, static_cast<size_t>(round_up(rows, 32)) * depth_bytes);
      for (int row = 0; row < rows; ++row)
        pack_a(8 * first_row + row, k, part, a + row * depth_bytes);
      for (int j = 0; j < column_groups; j += kWidePanel / 8) {
        const int groups = column_groups - j < kWidePanel / 8 ? column_groups - j : kWidePanel / 8;
        __builtin_memset(b, 0, static_cast<size_t>(depth_bytes) / 4 * kWidePanel * 4);
        pack_b(k, part, j, groups, b);
        for (int i = first_row; i < last_row; i += 4) {
          const int height = last_row - i < 4 ? last_row - i : 4;
          __builtin_memset(sums, 0, sizeof sums);
          for (int g = 0; g < height; ++g)
            gather_wide(c + (i + g) * c_row + 2 * j, groups, sums + g * 8 * kWidePanel, kWidePanel);
          multiply(a + 8 * (i - first_row) * depth_bytes, b, depth_bytes, sums, false);
          for (int g = 0; g < height; ++g)
            scatter_wide(sums + g * 8 * kWidePanel, kWidePanel, c + (i + g) * c_row + 2 * j,
                         groups);
        }
      }
    }
  _tile_release();
}

}  // namespace

void multiply_amx(const FloatProduct& p) {
  if (!p.fits_bf16 || p.row_groups * p.column_groups < 8 || p.depth < 16) {
    multiply_avx512(p);
    return;
  }
  each_square(
      p.row_groups, p.column_groups, p.depth, 32, p.c, p.c_row,
      [&](int row, int first, int depth, std::byte* out) {
        const float* a = p.a + row * p.a_row + first * p.a_depth;
        auto* values = reinterpret_cast<uint16_t*>(out);
        for (int k = 0; k < depth; ++k) values[k] = narrow(a[k * p.a_depth]);
      },
      [&](int first, int depth, int group, int groups, std::byte* out) {
        const int width = 8 * groups;
        const float* b = p.b + static_cast<ptrdiff_t>(group) * 8 * p.depth + first * width;
        auto* values = reinterpret_cast<uint16_t*>(out);
        for (int k = 0; k < depth; ++k)
          for (int column = 0; column < width; ++column)
            values[(k / 2 * kWidePanel + column) * 2 + k % 2] = narrow(b[k * width + column]);
      },
      multiply_square<SquareKind::Bf16>);
}

void multiply_integers_amx(const IntegerProduct& p) {
  if (p.row_groups * p.column_groups < 8 || p.depth < 32) {
    multiply_integers_avx512(p);
    return;
  }
  const auto multiply = p.a_signed ? (p.b_signed ? multiply_square<SquareKind::SignedSigned>
                                                 : multiply_square<SquareKind::SignedUnsigned>)
                                   : (p.b_signed ? multiply_square<SquareKind::UnsignedSigned>
                                                 : multiply_square<SquareKind::UnsignedUnsigned>);
  each_square(
      p.row_groups, p.column_groups, p.depth, 64, p.c, p.c_row,
      [&](int row, int first, int depth, std::byte* out) {
        const int16_t* a = p.a + row * p.a_row + first;
        for (int k = 0; k < depth; ++k) out[k] = static_cast<std::byte>(a[k]);
      },
      [&](int first, int depth, int group, int groups, std::byte* out) {
        const int width = 8 * groups;
        const int16_t* b = p.b + static_cast<ptrdiff_t>(group) * 8 * p.depth;
        for (int k = first; k < first + depth; ++k)
          for (int column = 0; column < width; ++column)
            out[((k - first) / 4 * kWidePanel + column) * 4 + k % 4] =
                static_cast<std::byte>(b[(k / 2 * width + column) * 2 + k % 2]);
      },
      multiply);
}

}  // namespace weft::emulator
