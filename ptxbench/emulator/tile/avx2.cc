// SPDX-License-Identifier: Apache-2.0

// The tile product with 256-bit vectors and fused multiply-add. A tile of 4 rows x 24 columns keeps
// twelve sums in registers, which hides the latency of the two multiply-add units; accumulators are
// loaded from and stored to the warps' registers once a tile.

#include "ptxbench/emulator/tile/tile_engine.h"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

namespace weft::emulator {

namespace {

constexpr int kWidth = 24;

// Two rows' four even and four odd columns each, in order of columns; and back.
inline void join(const float* even, const float* odd, __m256& first, __m256& second) {
  const __m256 e = _mm256_loadu_ps(even), o = _mm256_loadu_ps(odd);
  const __m256 low = _mm256_unpacklo_ps(e, o), high = _mm256_unpackhi_ps(e, o);
  first = _mm256_permute2f128_ps(low, high, 0x20);
  second = _mm256_permute2f128_ps(low, high, 0x31);
}
inline void part(__m256 first, __m256 second, float* even, float* odd) {
  const __m256 low = _mm256_permute2f128_ps(first, second, 0x20);
  const __m256 high = _mm256_permute2f128_ps(first, second, 0x31);
  _mm256_storeu_ps(even, _mm256_shuffle_ps(low, high, 0x88));
  _mm256_storeu_ps(odd, _mm256_shuffle_ps(low, high, 0xdd));
}

template <int kRows, int kVectors>
inline void tile(const float* a, ptrdiff_t a_row, ptrdiff_t a_depth, const float* b, int depth,
                 float* const* parts, int first_row) {
  __m256 sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; i += 2)
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      join(parts[2 * j] + 4 * (first_row + i), parts[2 * j + 1] + 4 * (first_row + i), sum[i][j],
           sum[i + 1][j]);
  const float* a_high = a + 4 * a_row;
  for (int k = 0; k < depth; ++k) {
    __m256 column[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) column[j] = _mm256_loadu_ps(b + 8 * j);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m256 value = _mm256_broadcast_ss(i < 4 ? a + i * a_row : a_high + (i - 4) * a_row);
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm256_fmadd_ps(value, column[j], sum[i][j]);
    }
    a += a_depth;
    a_high += a_depth;
    b += 8 * kVectors;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; i += 2)
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      part(sum[i][j], sum[i + 1][j], parts[2 * j] + 4 * (first_row + i),
           parts[2 * j + 1] + 4 * (first_row + i));
}

void multiply(const FloatProduct& p) {
  for (int j = 0; j < p.column_groups; j += 3) {
    const int groups = p.column_groups - j < 3 ? p.column_groups - j : 3;
    const float* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
    for (int i = 0; i < p.row_groups; ++i) {
      float* const* parts = p.c + i * p.c_row + 2 * j;
      const float* a = p.a + i * 8 * p.a_row;
      const float* a_half = a + 4 * p.a_row;
      switch (groups) {
        case 3:
          tile<4, 3>(a, p.a_row, p.a_depth, b, p.depth, parts, 0);
          tile<4, 3>(a_half, p.a_row, p.a_depth, b, p.depth, parts, 4);
          break;
        case 2:
          tile<4, 2>(a, p.a_row, p.a_depth, b, p.depth, parts, 0);
          tile<4, 2>(a_half, p.a_row, p.a_depth, b, p.depth, parts, 4);
          break;
        default:
          tile<8, 1>(a, p.a_row, p.a_depth, b, p.depth, parts, 0);
      }
    }
  }
}

inline void join(const int32_t* even, const int32_t* odd, __m256i& first, __m256i& second) {
  __m256 one, other;
  join(reinterpret_cast<const float*>(even), reinterpret_cast<const float*>(odd), one, other);
  first = _mm256_castps_si256(one);
  second = _mm256_castps_si256(other);
}
inline void part(__m256i first, __m256i second, int32_t* even, int32_t* odd) {
  part(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), reinterpret_cast<float*>(even),
       reinterpret_cast<float*>(odd));
}

// Two products along the depth are summed by one instruction: s8 and u8 leave room in 32 bits.
template <int kVectors>
inline void integer_tile(const int16_t* a, ptrdiff_t a_row, const int16_t* b, int depth,
                         int32_t* const* parts, int first_row) {
  __m256i sum[4][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i += 2)
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      join(parts[2 * j] + 4 * (first_row + i), parts[2 * j + 1] + 4 * (first_row + i), sum[i][j],
           sum[i + 1][j]);
  for (int k = 0; k < depth; k += 2) {
    __m256i column[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      column[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 16 * j));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      int pair;
      __builtin_memcpy(&pair, a + i * a_row + k, sizeof pair);
      const __m256i value = _mm256_set1_epi32(pair);
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j)
        sum[i][j] = _mm256_add_epi32(sum[i][j], _mm256_madd_epi16(value, column[j]));
    }
    b += 16 * kVectors;
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i += 2)
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      part(sum[i][j], sum[i + 1][j], parts[2 * j] + 4 * (first_row + i),
           parts[2 * j + 1] + 4 * (first_row + i));
}

void multiply_integers(const IntegerProduct& p) {
  for (int j = 0; j < p.column_groups; j += 3) {
    const int groups = p.column_groups - j < 3 ? p.column_groups - j : 3;
    const int16_t* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
    for (int half = 0; half < 2 * p.row_groups; ++half) {
      int32_t* const* parts = p.c + half / 2 * p.c_row + 2 * j;
      const int16_t* a = p.a + half * 4 * p.a_row;
      const int first_row = half % 2 * 4;
      if (groups == 3)
        integer_tile<3>(a, p.a_row, b, p.depth, parts, first_row);
      else if (groups == 2)
        integer_tile<2>(a, p.a_row, b, p.depth, parts, first_row);
      else
        integer_tile<1>(a, p.a_row, b, p.depth, parts, first_row);
    }
  }
}

}  // namespace

const TileEngine* avx2_engine() {
  static constexpr TileEngine engine{"avx2", kWidth, kWidth, multiply, multiply_integers};
  static const bool here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return here ? &engine : nullptr;
}

}  // namespace weft::emulator

#else

namespace weft::emulator {
const TileEngine* avx2_engine() {
  return nullptr;
}
}  // namespace weft::emulator

#endif
