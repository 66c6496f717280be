// SPDX-License-Identifier: Apache-2.0

// The tile product with 512-bit vectors: 8 rows x 32 columns, sixteen sums in registers.
// Accumulators pass through a small row-major copy; the last panel is padded to whole vectors by
// masks.

#include "ptxbench/emulator/tile/avx512.h"

#include <immintrin.h>

#include "ptxbench/emulator/tile/wide_blocks.h"

namespace weft::emulator {

namespace {

inline __mmask16 columns_left(int width, int vector) {
  const int left = width - 16 * vector;
  return left >= 16 ? 0xffff : left <= 0 ? 0 : static_cast<__mmask16>((1u << left) - 1);
}

}  // namespace

void multiply_avx512(const FloatProduct& p) {
  alignas(64) float rows[8 * kWidePanel];
  for (int j = 0; j < p.column_groups; j += 4) {
    const int groups = p.column_groups - j < 4 ? p.column_groups - j : 4;
    const int width = 8 * groups;
    const __mmask16 masks[2] = {columns_left(width, 0), columns_left(width, 1)};
    for (int i = 0; i < p.row_groups; ++i) {
      float* const* parts = p.c + i * p.c_row + 2 * j;
      gather_wide(parts, groups, rows, kWidePanel);
      __m512 sum[8][2];
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row)
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v)
          sum[row][v] = _mm512_maskz_loadu_ps(masks[v], rows + row * kWidePanel + 16 * v);
      const float* a = p.a + i * 8 * p.a_row;
      const float* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
      for (int k = 0; k < p.depth; ++k) {
        const __m512 column[2] = {_mm512_maskz_loadu_ps(masks[0], b),
                                  _mm512_maskz_loadu_ps(masks[1], b + 16)};
#pragma GCC unroll 8
        for (int row = 0; row < 8; ++row) {
          const __m512 value = _mm512_set1_ps(a[row * p.a_row]);
#pragma GCC unroll 2
          for (int v = 0; v < 2; ++v) sum[row][v] = _mm512_fmadd_ps(value, column[v], sum[row][v]);
        }
        a += p.a_depth;
        b += width;
      }
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row)
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v)
          _mm512_mask_storeu_ps(rows + row * kWidePanel + 16 * v, masks[v], sum[row][v]);
      scatter_wide(rows, kWidePanel, parts, groups);
    }
  }
}

void multiply_integers_avx512(const IntegerProduct& p) {
  alignas(64) int32_t rows[8 * kWidePanel];
  for (int j = 0; j < p.column_groups; j += 4) {
    const int groups = p.column_groups - j < 4 ? p.column_groups - j : 4;
    const int width = 8 * groups;
    const __mmask16 masks[2] = {columns_left(width, 0), columns_left(width, 1)};
    for (int i = 0; i < p.row_groups; ++i) {
      int32_t* const* parts = p.c + i * p.c_row + 2 * j;
      gather_wide(parts, groups, rows, kWidePanel);
      __m512i sum[8][2];
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row)
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v)
          sum[row][v] = _mm512_maskz_loadu_epi32(masks[v], rows + row * kWidePanel + 16 * v);
      const int16_t* a = p.a + i * 8 * p.a_row;
      const int16_t* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
      for (int k = 0; k < p.depth; k += 2) {
        const __m512i column[2] = {_mm512_maskz_loadu_epi32(masks[0], b),
                                   _mm512_maskz_loadu_epi32(masks[1], b + 32)};
#pragma GCC unroll 8
        for (int row = 0; row < 8; ++row) {
          int pair;
          __builtin_memcpy(&pair, a + row * p.a_row + k, sizeof pair);
          const __m512i value = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
          for (int v = 0; v < 2; ++v)
            sum[row][v] = _mm512_add_epi32(sum[row][v], _mm512_madd_epi16(value, column[v]));
        }
        b += 2 * width;
      }
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row)
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v)
          _mm512_mask_storeu_epi32(rows + row * kWidePanel + 16 * v, masks[v], sum[row][v]);
      scatter_wide(rows, kWidePanel, parts, groups);
    }
  }
}

}  // namespace weft::emulator
