// SPDX-License-Identifier: Apache-2.0

// The numbers are those that an H200 counted for gemm_wgmma at M=1000, N=512, K=1024 (16 tiles of
// 128 x 256, 16 steps of 64, 8 consumer warps): 2048 executions of each of the four products.
#include "ptxbench/judge/sass_counts.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

Disassembly code() {
  Disassembly all;
  all["gemm"] = {{0xb80, {"HGMMA.64x256x16.F32.BF16", "gemm.cu", 80}},
                 {0x2540, {"UTMALDG.2D", "tma.cuh", 40}},
                 {0x2570, {"UTMALDG.2D.MULTICAST", "tma.cuh", 52}},
                 {0x2580, {"FFMA", "gemm.cu", 90}}};
  return all;
}

TEST(SassCounts, CountsWarpsOfProductsAndCopies) {
  const auto counts = read_sass_counts(
      R"([["gemm", 2944, 2048, 65536], ["gemm", 9536, 256, 256], ["gemm", 9584, 256, 256]])");
  ASSERT_TRUE(counts.ok()) << format(counts.error());
  const auto report = name_instructions(*counts, code());
  ASSERT_TRUE(report.ok()) << format(report.error());
  ASSERT_EQ(report->kernels.size(), 1u);
  const auto& instructions = report->kernels[0].instructions;
  ASSERT_EQ(instructions.size(), 3u);
  EXPECT_EQ(instructions[0].opcode, "HGMMA.64x256x16.F32.BF16");
  EXPECT_EQ(instructions[0].warps, 2048u);
  EXPECT_EQ(instructions[0].source_line, 80u);
  EXPECT_EQ(instructions[1].warps, 256u);
}

TEST(SassCounts, FalsePredicatesDoNotCount) {
  const auto report = name_instructions(
      {{"gemm", 2944, 2048, 0}, {"gemm", 9536, 256, 0}, {"gemm", 9584, 256, 17}}, code());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->kernels[0].instructions[0].warps, 0u);
  EXPECT_EQ(report->kernels[0].instructions[1].warps, 0u);
  EXPECT_EQ(report->kernels[0].instructions[2].warps, 17u);
}

TEST(SassCounts, CodeThatWasNotBuiltIsAnError) {
  EXPECT_FALSE(name_instructions({{"other", 0, 1, 32}}, code()).ok());
  EXPECT_FALSE(name_instructions({{"gemm", 16, 1, 32}}, code()).ok());
  EXPECT_TRUE(name_instructions({{"gemm", 16, 0, 0}}, code()).ok());
}

TEST(SassCounts, WhatIsNoListOfCountsIsAnError) {
  EXPECT_FALSE(read_sass_counts("{}").ok());
  EXPECT_FALSE(read_sass_counts(R"([["gemm", 0, 1]])").ok());
}

// 2 * 64 * 256 * 16 / 4 warps; 2 * 16 * 8 * 16.
TEST(SassCounts, OperationsOfMachineInstructions) {
  EXPECT_EQ(sass_operations_of("HGMMA.64x256x16.F32.BF16").per_warp, 131072);
  EXPECT_EQ(sass_operations_of("QGMMA.64x128x32.F32.E4M3.E4M3").per_warp, 131072);
  EXPECT_EQ(sass_operations_of("HMMA.16816.F32.BF16").per_warp, 4096);
  EXPECT_EQ(sass_operations_of("HMMA.1688.F32.TF32").per_warp, 2048);
  EXPECT_EQ(sass_operations_of("FFMA").per_lane, 2);
  EXPECT_EQ(sass_operations_of("MUFU.EX2").per_lane, 1);
  EXPECT_EQ(sass_operations_of("IMAD").unit, Unit::None);
}

TEST(SassCounts, GroupsOfMachineInstructions) {
  EXPECT_EQ(sass_target_group("UTMASTG.2D"), "tma");
  EXPECT_EQ(sass_target_group("UBLKCP.S.G"), "tma");
  EXPECT_EQ(sass_target_group("UTMACCTL.PF"), "");
  EXPECT_EQ(sass_target_group("UTMACMDFLUSH"), "");
  EXPECT_EQ(sass_target_group("HMMA.16816.F32"), "");
}

}  // namespace
}  // namespace weft::judge
