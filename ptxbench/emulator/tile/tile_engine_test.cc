// SPDX-License-Identifier: Apache-2.0

// Every engine that this processor has against sums written out element by element in double
// precision (exact for these operands up to the last rounding) or in 64-bit integers.

#include "ptxbench/emulator/tile/tile_engine.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

struct Size {
  int row_groups, column_groups, depth;
};
constexpr Size kSizes[] = {{8, 32, 64}, {8, 31, 16}, {8, 1, 16}, {8, 2, 32},
                           {8, 3, 8},   {2, 1, 16},  {2, 1, 4},  {1, 1, 16},
                           {8, 5, 128}, {4, 4, 40},  {8, 7, 300}};

// A value that bf16 holds, so that all engines take it without rounding.
float draw(std::mt19937& random) {
  return static_cast<float>(static_cast<int>(random() % 255) - 127) / 16.0f;
}

// Accumulators in parts of 32, in a scattered order as the registers of several warps are.
template <typename T>
struct Parts {
  std::vector<T> storage;
  std::vector<T*> pointers;
  int c_row;
  Parts(Size size, std::mt19937& random)
      : storage(size.row_groups * size.column_groups * 64), c_row(2 * size.column_groups) {
    for (size_t i = 0; i < storage.size() / 32; ++i) pointers.push_back(storage.data() + 32 * i);
    std::shuffle(pointers.begin(), pointers.end(), random);
  }
  T& at(int row, int column) {
    return pointers[row / 8 * c_row + column / 8 * 2 + column % 2][row % 8 * 4 + column % 8 / 2];
  }
};

// Index of (k, column) in panels, by counting: the panels before it are full.
int panel_index(int k, int column, int columns, int width, int depth, int unit) {
  int before = 0, first = 0;
  while (column >= first + width) first += width, before += width * depth;
  const int w = columns - first < width ? columns - first : width;
  return before + (k / unit * w + (column - first)) * unit + k % unit;
}

class Engines : public testing::TestWithParam<const TileEngine*> {};

TEST_P(Engines, MultiplyFloatsLikeWrittenOutSums) {
  const TileEngine& engine = *GetParam();
  std::mt19937 random(11);
  for (const Size size : kSizes)
    for (bool transposed : {false, true}) {
      const int rows = 8 * size.row_groups, columns = 8 * size.column_groups, depth = size.depth;
      std::vector<float> a(rows * depth), b(columns * depth);
      for (float& value : a) value = draw(random);
      for (float& value : b) value = draw(random);
      Parts<float> c(size, random);
      for (float& value : c.storage) value = draw(random);
      Parts<float> before = c;
      for (size_t i = 0; i < c.pointers.size(); ++i)
        before.pointers[i] = before.storage.data() + (c.pointers[i] - c.storage.data());
      const ptrdiff_t a_row = transposed ? 1 : depth, a_depth = transposed ? rows : 1;
      engine.multiply({.row_groups = size.row_groups,
                       .column_groups = size.column_groups,
                       .depth = depth,
                       .c = c.pointers.data(),
                       .c_row = c.c_row,
                       .a = a.data(),
                       .a_row = a_row,
                       .a_depth = a_depth,
                       .b = b.data(),
                       .fits_bf16 = true});
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = before.at(i, j);
          for (int k = 0; k < depth; ++k)
            sum += double{a[i * a_row + k * a_depth]} *
                   b[panel_index(k, j, columns, engine.panel_width, depth, 1)];
          ASSERT_EQ(c.at(i, j), sum)
              << rows << "x" << columns << "x" << depth << " at " << i << "," << j;
        }
    }
}

TEST_P(Engines, KeepAllBitsOfOperandsThatDoNotFitBf16) {
  const TileEngine& engine = *GetParam();
  const Size size{8, 4, 32};
  std::mt19937 random(5);
  std::vector<float> a(64 * 32, 0.0f), b(32 * 32, 0.0f);
  for (int i = 0; i < 64; ++i) a[i * 32 + i % 32] = 1.0f + std::ldexp(1.0f, -10);  // an f16 value
  for (int k = 0; k < 32; ++k) b[panel_index(k, k, 32, engine.panel_width, 32, 1)] = 1.0f;
  Parts<float> c(size, random);
  engine.multiply({.row_groups = 8,
                   .column_groups = 4,
                   .depth = 32,
                   .c = c.pointers.data(),
                   .c_row = c.c_row,
                   .a = a.data(),
                   .a_row = 32,
                   .a_depth = 1,
                   .b = b.data(),
                   .fits_bf16 = false});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(c.at(i, i % 32), 1.0009765625f);
}

TEST_P(Engines, MultiplyIntegersLikeWrittenOutSums) {
  const TileEngine& engine = *GetParam();
  std::mt19937 random(3);
  for (const Size size : kSizes) {
    if (size.depth % 16 != 0) continue;
    for (bool a_signed : {false, true})
      for (bool b_signed : {false, true}) {
        const int rows = 8 * size.row_groups, columns = 8 * size.column_groups, depth = size.depth;
        const auto value = [&](bool is_signed) {
          const int byte =
              random() % 8 == 0 ? (is_signed ? -128 : 255) : static_cast<int>(random() & 0xff);
          return static_cast<int16_t>(is_signed ? static_cast<int8_t>(byte)
                                                : static_cast<uint8_t>(byte));
        };
        std::vector<int16_t> a(rows * depth), b(columns * depth);
        for (auto& x : a) x = value(a_signed);
        for (auto& x : b) x = value(b_signed);
        Parts<int32_t> c(size, random);
        for (auto& x : c.storage) x = 0x7ffffff0;
        engine.multiply_integers({.row_groups = size.row_groups,
                                  .column_groups = size.column_groups,
                                  .depth = depth,
                                  .c = c.pointers.data(),
                                  .c_row = c.c_row,
                                  .a = a.data(),
                                  .a_row = depth,
                                  .b = b.data(),
                                  .a_signed = a_signed,
                                  .b_signed = b_signed});
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            int64_t sum = 0x7ffffff0;
            for (int k = 0; k < depth; ++k)
              sum += int64_t{a[i * depth + k]} *
                     b[panel_index(k, j, columns, engine.panel_width, depth, 2)];
            ASSERT_EQ(c.at(i, j), static_cast<int32_t>(sum)) << "wrapped to 32 bits";
          }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Engines, testing::ValuesIn(available_tile_engines()),
                         [](const auto& engine) { return std::string(engine.param->name); });

}  // namespace
}  // namespace weft::emulator
