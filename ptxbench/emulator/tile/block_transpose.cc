// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tile/block_transpose.h"

#include <immintrin.h>

namespace weft::emulator {

// Three rounds of interleaving; each doubles how many elements of a column stand together.
void transpose_block(const std::byte* from, std::byte* to) {
  __m128i r[8], s[8];
  for (int i = 0; i < 8; ++i)
    r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * i));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      s[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
      s[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
    }
    for (int i = 0; i < 8; ++i) r[i] = s[i];
  }
  for (int i = 0; i < 8; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * i), r[i]);
}

}  // namespace weft::emulator
