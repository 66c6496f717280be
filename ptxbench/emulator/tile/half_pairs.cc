// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tile/half_pairs.h"

#include <immintrin.h>

namespace weft::emulator {

void widen_pairs(const uint32_t* pairs, float* even, float* odd) {
  const __m128i low = _mm_set1_epi32(0xffff);
  for (int lane = 0; lane < 32; lane += 8) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs + lane));
    const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs + lane + 4));
    _mm256_storeu_ps(even + lane, _mm256_cvtph_ps(_mm_packus_epi32(_mm_and_si128(x, low),
                                                                   _mm_and_si128(y, low))));
    _mm256_storeu_ps(odd + lane, _mm256_cvtph_ps(_mm_packus_epi32(_mm_srli_epi32(x, 16),
                                                                  _mm_srli_epi32(y, 16))));
  }
}

void narrow_pairs(const float* even, const float* odd, uint32_t* pairs) {
  for (int lane = 0; lane < 32; lane += 8) {
    const __m128i x = _mm256_cvtps_ph(_mm256_loadu_ps(even + lane), _MM_FROUND_TO_NEAREST_INT);
    const __m128i y = _mm256_cvtps_ph(_mm256_loadu_ps(odd + lane), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + lane), _mm_unpacklo_epi16(x, y));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + lane + 4), _mm_unpackhi_epi16(x, y));
  }
}

}  // namespace weft::emulator
