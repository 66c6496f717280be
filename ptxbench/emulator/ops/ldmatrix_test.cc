// SPDX-License-Identifier: Apache-2.0

// ldmatrix, stmatrix and movmatrix. Expected places are the manual's (PTX ISA 9.0, 9.7.14.5.15 to
// 17): row r of matrix j begins at the address of lane 8 j + r; lane l holds elements 2 (l % 4) and
// the next of row l / 4, or of column l / 4 with .trans.

#include <random>

#include "ptxbench/emulator/ops/matrix_program.h"

namespace weft::emulator {
namespace {

constexpr uint32_t kShared = 4096;
constexpr int kPitch = 48;  // bytes between rows: not dense, 16-byte aligned

// Shared word i holds in[i]; %r3: the address of the lane's row.
std::string prologue() {
  std::string text;
  for (uint32_t i = 0; i < kShared / 4; i += 32)
    text += fmt::format(
        "ld.global.b32 %r9, [%rd1+{}];\nmad.lo.s32 %r10, %r1, 4, %r2;\nst.shared.b32 [%r10+{}], "
        "%r9;\n",
        i * 4, i * 4);
  return text + fmt::format("bar.warp.sync -1;\nmad.lo.s32 %r3, %r1, {}, %r2;\n", kPitch);
}

MatrixProgram program_with_data() {
  MatrixProgram program;
  program.shared = kShared;
  program.in.resize(kShared / 4);
  std::mt19937 random(1);
  for (auto& word : program.in) word = random();
  return program;
}

uint16_t half_in(const std::vector<uint32_t>& words, int byte) {
  return static_cast<uint16_t>(words[byte / 4] >> (byte % 4 * 8));
}

TEST(LdMatrix, LoadsOneTwoAndFourBlocksBothWays) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      MatrixProgram program = program_with_data();
      program.body = prologue() +
                     fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%r3];\n", count,
                                 transposed ? ".trans" : "", register_list("d", count)) +
                     store_registers("d", count, 32);
      program.out_words = static_cast<size_t>(count) * 32;
      program.run();
      ASSERT_FALSE(program.fault) << format(*program.fault);
      for (int j = 0; j < count; ++j)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 2; ++i) {
            const int along = 2 * (lane % 4) + i, across = lane / 4;
            const int row = transposed ? along : across, column = transposed ? across : along;
            const uint16_t expected = half_in(program.in, (8 * j + row) * kPitch + column * 2);
            ASSERT_EQ(program.out[j * 32 + lane] >> (i * 16) & 0xffff, expected)
                << count << transposed << lane;
          }
    }
}

TEST(StMatrix, StoresWhatLdMatrixLoads) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      MatrixProgram program = program_with_data();
      const char* trans = transposed ? ".trans" : "";
      // Store registers to fresh rows, then read the memory back word by word.
      program.body = prologue() + load_registers("a", 0, count, 32) +
                     fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%r3+2048], {};\n",
                                 count, trans, register_list("a", count)) +
                     "bar.warp.sync -1;\n";
      for (int i = 0; i < 16; ++i)
        program.body += fmt::format(
            "mad.lo.s32 %r10, %r1, 4, %r2;\nld.shared.b32 %r9, [%r10+{}];\nst.global.b32 "
            "[%rd2+{}], %r9;\n",
            2048 + i * 128, i * 128);
      program.out_words = 512;
      program.run();
      ASSERT_FALSE(program.fault) << format(*program.fault);
      for (int j = 0; j < count; ++j)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 2; ++i) {
            const int along = 2 * (lane % 4) + i, across = lane / 4;
            const int row = transposed ? along : across, column = transposed ? across : along;
            ASSERT_EQ(half_in(program.out, (8 * j + row) * kPitch + column * 2),
                      program.in[j * 32 + lane] >> (i * 16) & 0xffff);
          }
    }
}

TEST(MovMatrix, Transposes) {
  MatrixProgram program = program_with_data();
  program.body = load_registers("a", 0, 1, 32) +
                 "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;\n" + store_registers("d", 1, 32);
  program.out_words = 32;
  program.run();
  ASSERT_FALSE(program.fault) << format(*program.fault);
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column)
      EXPECT_EQ(half_in(program.out, row * 16 + column * 2),
                half_in(program.in, column * 16 + row * 2));
}

TEST(LdMatrix, FaultsOnARowThatIsNotAligned) {
  MatrixProgram program = program_with_data();
  program.body =
      "mad.lo.s32 %r3, %r1, 8, %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%r3];\n";
  program.run();
  ASSERT_TRUE(program.fault);
  EXPECT_EQ(program.fault->kind, FaultKind::Misaligned);
  EXPECT_EQ(program.fault->lane, 1u);
}

TEST(LdMatrix, FaultsPastTheEndOfSharedMemory) {
  MatrixProgram program = program_with_data();
  program.body =
      "mad.lo.s32 %r3, %r1, 16, %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, "
      "[%r3+4032];\n";
  program.run();
  ASSERT_TRUE(program.fault);
  EXPECT_EQ(program.fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(program.fault->lane, 4u);
}

}  // namespace
}  // namespace weft::emulator
