// SPDX-License-Identifier: Apache-2.0

// The 16 bytes of a core matrix row as wider values, in vectors. Static like all code with vector
// types here, so that files built for other processors never share it.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "ptxbench/emulator/tile/element.h"

namespace weft::emulator {

static inline __m128i load_chunk(const std::byte* chunk) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(chunk));
}

// e4m3 has the exponent bias 7 and no infinities; put into an f16's fields it reads 2^8 too small.
static inline __m256 expand_e4m3(__m128i bytes) {
  const __m128i wide = _mm_cvtepu8_epi16(bytes);
  const __m128i magnitude = _mm_and_si128(wide, _mm_set1_epi16(0x7f));
  const __m128i sign = _mm_slli_epi16(_mm_andnot_si128(_mm_set1_epi16(0x7f), wide), 8);
  const __m128i half = _mm_or_si128(sign, _mm_slli_epi16(magnitude, 7));
  const __m128i is_nan = _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7f));
  const __m256 value = _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256.0f));
  const __m256 nan = _mm256_castsi256_ps(_mm256_cvtepi16_epi32(is_nan));
  return _mm256_or_ps(value,
                      _mm256_and_ps(nan, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000))));
}

// Eight values (four of tf32) from the chunk, beginning at the element that `part` eights stand
// before.
template <TileElement kElement>
static inline __m256 expand(const std::byte* chunk, int part) {
  if constexpr (kElement == TileElement::Bf16) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_chunk(chunk)), 16));
  } else if constexpr (kElement == TileElement::F16) {
    return _mm256_cvtph_ps(load_chunk(chunk));
  } else if constexpr (kElement == TileElement::E4m3) {
    return expand_e4m3(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(chunk + 8 * part)));
  } else {
    static_assert(kElement == TileElement::E5m2);  // the upper byte of an f16
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(chunk + 8 * part));
    return _mm256_cvtph_ps(_mm_slli_epi16(_mm_cvtepu8_epi16(bytes), 8));
  }
}

// tf32 counts only the upper 19 bits of an fp32 pattern.
static inline __m128 expand_tf32(const std::byte* chunk) {
  return _mm_castsi128_ps(_mm_and_si128(load_chunk(chunk), _mm_set1_epi32(~0x1fff)));
}

// Sixteen 8-bit integers, or the 4-bit ones of 8 bytes (low nibble first), as 16-bit integers.
template <TileElement kElement>
static inline __m256i expand_integers(const std::byte* chunk, int part) {
  if constexpr (kElement == TileElement::S8) {
    return _mm256_cvtepi8_epi16(load_chunk(chunk));
  } else if constexpr (kElement == TileElement::U8) {
    return _mm256_cvtepu8_epi16(load_chunk(chunk));
  } else {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(chunk + 8 * part));
    const __m256i wide = _mm256_cvtepu8_epi16(
        _mm_unpacklo_epi8(_mm_and_si128(bytes, _mm_set1_epi8(0xf)),
                          _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(0xf))));
    if constexpr (kElement == TileElement::U4) return wide;
    // Sign extension of four bits: (x ^ 8) - 8.
    return _mm256_sub_epi16(_mm256_xor_si256(wide, _mm256_set1_epi16(8)), _mm256_set1_epi16(8));
  }
}

static inline void transpose(__m256 (&r)[8]) {
  __m256 t[8], u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    u[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    u[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    u[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(u[i], u[4 + i], 0x20);
    r[4 + i] = _mm256_permute2f128_ps(u[i], u[4 + i], 0x31);
  }
}

}  // namespace weft::emulator
