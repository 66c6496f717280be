// SPDX-License-Identifier: Apache-2.0

// Words between memory and 32 lanes when the warp's accesses form a pattern: one run of bytes, or
// small structures of two and four words. Registers are always written by full vectors: what was
// stored in smaller parts has to leave the store buffer before a vector load may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ptxbench/emulator/lanes.h"

namespace weft::emulator {

// Copies kBytes bytes, a multiple of 32.
template <size_t kBytes>
inline void copy_vectors(void* to, const void* from) {
#if defined(__AVX2__)
  auto* d = static_cast<__m256i*>(to);
  const auto* s = static_cast<const __m256i*>(from);
  for (size_t k = 0; k < kBytes / 32; ++k) _mm256_storeu_si256(d + k, _mm256_loadu_si256(s + k));
#else
  std::memcpy(to, from, kBytes);
#endif
}

#if defined(__AVX2__)

// Four structures of four words <-> four vectors of one word each, within both 128-bit halves.
inline void transpose_words(__m256i& a, __m256i& b, __m256i& c, __m256i& d) {
  const __m256i t0 = _mm256_unpacklo_epi32(a, b), t1 = _mm256_unpackhi_epi32(a, b);
  const __m256i t2 = _mm256_unpacklo_epi32(c, d), t3 = _mm256_unpackhi_epi32(c, d);
  a = _mm256_unpacklo_epi64(t0, t2);
  b = _mm256_unpackhi_epi64(t0, t2);
  c = _mm256_unpacklo_epi64(t1, t3);
  d = _mm256_unpackhi_epi64(t1, t3);
}

// Lane i's four words are at first + at(i); d[k] gets word k of every lane.
template <typename At>
inline void load_quads(const std::byte* first, At at, uint32_t* const* d) {
  for (int k = 0; k < kLanes; k += 8) {
    auto pair = [&](int i) {
      const auto* low = reinterpret_cast<const __m128i*>(first + at(k + i));
      const auto* high = reinterpret_cast<const __m128i*>(first + at(k + i + 4));
      return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)),
                                     _mm_loadu_si128(high), 1);
    };
    __m256i word[4] = {pair(0), pair(1), pair(2), pair(3)};
    transpose_words(word[0], word[1], word[2], word[3]);
    for (int j = 0; j < 4; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(d[j] + k), word[j]);
  }
}

// The other way round; lanes are written in order.
template <typename At>
inline void store_quads(std::byte* first, At at, const uint32_t* const* s) {
  for (int k = 0; k < kLanes; k += 8) {
    __m256i word[4];
    for (int j = 0; j < 4; ++j)
      word[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s[j] + k));
    transpose_words(word[0], word[1], word[2], word[3]);
    for (int j = 0; j < 4; ++j)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(first + at(k + j)),
                       _mm256_castsi256_si128(word[j]));
    for (int j = 0; j < 4; ++j)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(first + at(k + 4 + j)),
                       _mm256_extracti128_si256(word[j], 1));
  }
}

// Pairs of words that follow each other.
inline void load_pairs(const std::byte* first, uint32_t* const* d) {
  for (int k = 0; k < kLanes; k += 8) {
    const auto* from = reinterpret_cast<const float*>(first) + 2 * k;
    const __m256 x = _mm256_loadu_ps(from), y = _mm256_loadu_ps(from + 8);
    const auto place = [](__m256 v) {
      return _mm256_permute4x64_epi64(_mm256_castps_si256(v), 0xd8);
    };
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d[0] + k), place(_mm256_shuffle_ps(x, y, 0x88)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d[1] + k), place(_mm256_shuffle_ps(x, y, 0xdd)));
  }
}

inline void store_pairs(std::byte* first, const uint32_t* const* s) {
  for (int k = 0; k < kLanes; k += 8) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s[0] + k));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s[1] + k));
    const __m256i low = _mm256_unpacklo_epi32(x, y), high = _mm256_unpackhi_epi32(x, y);
    auto* to = reinterpret_cast<__m256i*>(first + 8 * k);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
  }
}

#endif

}  // namespace weft::emulator
