// SPDX-License-Identifier: Apache-2.0

// Rows of accumulators in order of columns, for engines that do not work on the parts directly. The
// functions are static because each engine is compiled for its own processor: a copy that the
// linker shares would bring one engine's instructions into another.
#pragma once

namespace weft::emulator {

// `groups` blocks of 8 x 8 to a row-major array of 8 rows, `stride` values apart; and back.
template <typename T>
static inline void gather_blocks(T* const* parts, int groups, T* rows, int stride) {
  for (int j = 0; j < groups; ++j)
    for (int row = 0; row < 8; ++row)
      for (int pair = 0; pair < 4; ++pair) {
        rows[row * stride + 8 * j + 2 * pair] = parts[2 * j][4 * row + pair];
        rows[row * stride + 8 * j + 2 * pair + 1] = parts[2 * j + 1][4 * row + pair];
      }
}

template <typename T>
static inline void scatter_blocks(const T* rows, int stride, T* const* parts, int groups) {
  for (int j = 0; j < groups; ++j)
    for (int row = 0; row < 8; ++row)
      for (int pair = 0; pair < 4; ++pair) {
        parts[2 * j][4 * row + pair] = rows[row * stride + 8 * j + 2 * pair];
        parts[2 * j + 1][4 * row + pair] = rows[row * stride + 8 * j + 2 * pair + 1];
      }
}

}  // namespace weft::emulator
