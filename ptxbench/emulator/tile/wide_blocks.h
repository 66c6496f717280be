// SPDX-License-Identifier: Apache-2.0

// The same as block_copy.h with 512-bit vectors: accumulators between their parts and rows in order
// of columns, four rows of two blocks at a time. Static for the same reason.
//
//   even part   (0,0) (0,2) (0,4) (0,6) | (1,0) ...    interleaved   row 0, columns 0-3 | row 1 ...
//   odd part    (0,1) (0,3) (0,5) (0,7) | (1,1) ...                  row 0, columns 4-7 | row 1 ...
//
// Quarters of the interleaved vectors then change places: a 4 x 4 transpose, its own inverse.
#pragma once

#include <immintrin.h>

namespace weft::emulator {

static inline void transpose_quarters(__m512 (&r)[4]) {
  const __m512 t0 = _mm512_shuffle_f32x4(r[0], r[1], 0x44);
  const __m512 t1 = _mm512_shuffle_f32x4(r[0], r[1], 0xee);
  const __m512 t2 = _mm512_shuffle_f32x4(r[2], r[3], 0x44);
  const __m512 t3 = _mm512_shuffle_f32x4(r[2], r[3], 0xee);
  r[0] = _mm512_shuffle_f32x4(t0, t2, 0x88);
  r[1] = _mm512_shuffle_f32x4(t0, t2, 0xdd);
  r[2] = _mm512_shuffle_f32x4(t1, t3, 0x88);
  r[3] = _mm512_shuffle_f32x4(t1, t3, 0xdd);
}

// `groups` blocks of 8 x 8 to a row-major array of 8 rows, `stride` 32-bit values apart. Where
// `groups` is odd, eight more columns of the rows become zero.
template <typename T>
static inline void gather_wide(T* const* parts, int groups, T* rows, int stride) {
  static_assert(sizeof(T) == 4);
  for (int j = 0; j < groups; j += 2)
    for (int half = 0; half < 2; ++half) {
      const auto load = [&](int part) {
        return j + part / 2 < groups ? _mm512_loadu_ps(parts[2 * j + part] + 16 * half)
                                     : _mm512_setzero_ps();
      };
      const __m512 even[2] = {load(0), load(2)}, odd[2] = {load(1), load(3)};
      __m512 r[4] = {_mm512_unpacklo_ps(even[0], odd[0]), _mm512_unpackhi_ps(even[0], odd[0]),
                     _mm512_unpacklo_ps(even[1], odd[1]), _mm512_unpackhi_ps(even[1], odd[1])};
      transpose_quarters(r);
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row)
        _mm512_storeu_ps(rows + (4 * half + row) * stride + 8 * j, r[row]);
    }
}

template <typename T>
static inline void scatter_wide(const T* rows, int stride, T* const* parts, int groups) {
  for (int j = 0; j < groups; j += 2)
    for (int half = 0; half < 2; ++half) {
      __m512 r[4];
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row)
        r[row] = _mm512_loadu_ps(rows + (4 * half + row) * stride + 8 * j);
      transpose_quarters(r);
#pragma GCC unroll 2
      for (int block = 0; block < 2; ++block) {
        if (j + block == groups) break;
        const auto store = [&](int part, __m512 values) {
          _mm512_storeu_ps(parts[2 * (j + block) + part] + 16 * half, values);
        };
        store(0, _mm512_shuffle_ps(r[2 * block], r[2 * block + 1], 0x88));
        store(1, _mm512_shuffle_ps(r[2 * block], r[2 * block + 1], 0xdd));
      }
    }
}

}  // namespace weft::emulator
