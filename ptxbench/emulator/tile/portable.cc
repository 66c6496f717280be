// SPDX-License-Identifier: Apache-2.0

// The tile product in plain C++: the measure for the other engines, and what a processor without
// vector units runs.

#include <cmath>

#include "ptxbench/emulator/tile/block_copy.h"
#include "ptxbench/emulator/tile/tile_engine.h"

namespace weft::emulator {

namespace {

constexpr int kWidth = 16;  // kPortable.panel_width

// Calls f(row group, first column group, column groups) for each block of a panel.
template <typename F>
void each_block(int row_groups, int column_groups, F f) {
  for (int j = 0; j < column_groups; j += kWidth / 8) {
    const int groups = column_groups - j < kWidth / 8 ? column_groups - j : kWidth / 8;
    for (int i = 0; i < row_groups; ++i) f(i, j, groups);
  }
}

void multiply(const FloatProduct& p) {
  each_block(p.row_groups, p.column_groups, [&](int i, int j, int groups) {
    float rows[8 * kWidth];
    float* const* parts = p.c + i * p.c_row + 2 * j;
    gather_blocks(parts, groups, rows, kWidth);
    const int width = groups * 8;
    const float* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
    for (int row = 0; row < 8; ++row) {
      const float* a = p.a + (i * 8 + row) * p.a_row;
      for (int k = 0; k < p.depth; ++k)
        for (int column = 0; column < width; ++column)
          rows[row * kWidth + column] =
              std::fma(a[k * p.a_depth], b[k * width + column], rows[row * kWidth + column]);
    }
    scatter_blocks(rows, kWidth, parts, groups);
  });
}

void multiply_integers(const IntegerProduct& p) {
  each_block(p.row_groups, p.column_groups, [&](int i, int j, int groups) {
    int32_t rows[8 * kWidth];
    int32_t* const* parts = p.c + i * p.c_row + 2 * j;
    gather_blocks(parts, groups, rows, kWidth);
    const int width = groups * 8;
    const int16_t* b = p.b + static_cast<ptrdiff_t>(j) * 8 * p.depth;
    for (int row = 0; row < 8; ++row) {
      const int16_t* a = p.a + (i * 8 + row) * p.a_row;
      for (int k = 0; k < p.depth; ++k)
        for (int column = 0; column < width; ++column) {
          const int32_t product = a[k] * b[(k / 2 * width + column) * 2 + k % 2];
          int32_t& sum = rows[row * kWidth + column];
          sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(product));
        }
    }
    scatter_blocks(rows, kWidth, parts, groups);
  });
}

}  // namespace

const TileEngine& portable_engine() {
  static constexpr TileEngine engine{"portable", kWidth, kWidth, multiply, multiply_integers};
  return engine;
}

}  // namespace weft::emulator
