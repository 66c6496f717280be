// SPDX-License-Identifier: Apache-2.0

// Expected values are the formulas of the PTX ISA manual (9.0, sections 9.7.14.5 and 9.7.15.5),
// written as they stand there: groupID = laneid >> 2, threadID_in_group = laneid % 4.

#include "ptxbench/emulator/tile/fragment.h"

#include <vector>

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

using Position = FragmentLayout::Position;

std::vector<FragmentLayout> all_layouts() {
  std::vector<FragmentLayout> layouts;
  for (int bits : {1, 4, 8, 16, 32, 64})
    for (int rows : {8, 16})
      for (int chunks : {1, 2, 4}) {
        const int depth = bits == 64 ? 4 * chunks : 128 / bits * chunks;
        layouts.push_back(operand_fragment(rows, depth, bits));
      }
  for (int rows : {8, 16})
    for (int columns = 8; columns <= 256; columns += 8)
      layouts.push_back(accumulator_fragment(rows, columns));
  return layouts;
}

TEST(Fragment, EveryLayoutCoversItsTileExactlyOnce) {
  for (const FragmentLayout& layout : all_layouts()) {
    std::vector<int> hits(layout.rows * layout.columns);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < layout.elements(); ++i) {
        const Position p = layout.position(lane, i);
        ASSERT_LT(p.row, layout.rows);
        ASSERT_LT(p.column, layout.columns);
        ++hits[p.row * layout.columns + p.column];
      }
    EXPECT_EQ(hits, std::vector<int>(hits.size(), 1)) << layout.rows << " x " << layout.columns;
  }
}

TEST(Fragment, SixteenBitAOfM16n8k16IsTheManuals) {
  const auto layout = operand_fragment(16, 16, 16);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 8; ++i) {
      const int group = lane >> 2, thread = lane % 4;
      const int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      const int column = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(layout.position(lane, i), (Position{row, column}));
    }
}

TEST(Fragment, SixteenBitBOfM16n8k16IsTheManuals) {
  const auto layout = operand_fragment(8, 16, 16);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int k = (lane % 4) * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      EXPECT_EQ(layout.position(lane, i), (Position{lane >> 2, k}));
    }
}

TEST(Fragment, EightBitAOfM16n8k32IsTheManuals) {
  const auto layout = operand_fragment(16, 32, 8);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 16; ++i) {
      const int group = lane >> 2;
      const int row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
      const int column = (lane % 4) * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      EXPECT_EQ(layout.position(lane, i), (Position{row, column}));
    }
}

TEST(Fragment, FourBitAOfM16n8k64IsTheManuals) {
  const auto layout = operand_fragment(16, 64, 4);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 32; ++i) {
      const int group = lane >> 2;
      const int row = (i < 8 || (i >= 16 && i < 24)) ? group : group + 8;
      const int column = (lane % 4) * 8 + (i & 7) + (i >= 16 ? 32 : 0);
      EXPECT_EQ(layout.position(lane, i), (Position{row, column}));
    }
}

TEST(Fragment, DoubleAOfM16n8k16IsTheManuals) {
  const auto layout = operand_fragment(16, 16, 64);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 8; ++i) {
      const int row = i % 2 == 0 ? lane >> 2 : (lane >> 2) + 8;
      const int column = i % 2 == 0 ? i * 2 + lane % 4 : i * 2 - 2 + lane % 4;
      EXPECT_EQ(layout.position(lane, i), (Position{row, column}));
    }
}

TEST(Fragment, AccumulatorOfWgmmaIsTheManuals) {
  const auto layout = accumulator_fragment(16, 256);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 128; ++i) {
      const int row = (lane >> 2) + ((i / 2) % 2) * 8;
      const int column = 8 * (i / 4) + (lane % 4) * 2 + (i & 1);
      EXPECT_EQ(layout.position(lane, i), (Position{row, column}));
    }
}

}  // namespace
}  // namespace weft::emulator
