// SPDX-License-Identifier: Apache-2.0

// Expected counts are hand arithmetic from the shapes in the opcodes (PTX ISA, matrix
// instructions).
#include "ptxbench/judge/operations.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(Operations, OfWgmmaAreSharedByFourWarps) {
  const Operations operations =
      operations_of("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16");
  EXPECT_EQ(operations.unit, Unit::Wgmma);
  EXPECT_EQ(4 * operations.per_warp, 2.0 * 64 * 256 * 16);
}

TEST(Operations, OfMmaSyncBelongToOneWarp) {
  const Operations operations =
      operations_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  EXPECT_EQ(operations.unit, Unit::OtherTensor);
  EXPECT_EQ(operations.per_warp, 2.0 * 16 * 8 * 16);
}

TEST(Operations, OfScalarInstructionsCountLanes) {
  const std::pair<const char*, double> cases[] = {
      {"fma.rn.f32", 2},      {"add.f32", 1},       {"add.rn.f16x2", 2},
      {"fma.rn.bf16x2", 4},   {"mul.ftz.f32", 1},   {"ex2.approx.ftz.f32", 1},
      {"add.s32", 0},         {"mad.lo.s32", 0},    {"max.f32", 0},
      {"cvt.rn.bf16.f32", 0}, {"ld.global.f32", 0}, {"fma.rn.f32x2", 4},
      {"setp.lt.f32", 0},     {"bar.sync", 0},      {"", 0}};
  for (const auto& [opcode, lanes] : cases)
    EXPECT_EQ(operations_of(opcode).per_lane, lanes) << opcode;
}

TEST(Operations, OfTcgen05StandInItsDescriptor) {
  const char* opcode = "tcgen05.mma.cta_group::1.kind::f16";
  EXPECT_EQ(operations_of(opcode).unit, Unit::Tcgen05);
  EXPECT_EQ(target_group(opcode), "tcgen05");
  for (const char* other :
       {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
        "tcgen05.ld.sync.aligned.32x32b.x32.b32", "tcgen05.cp.cta_group::1.128x256b"}) {
    EXPECT_EQ(operations_of(other).unit, Unit::None) << other;
    EXPECT_EQ(target_group(other), "") << other;
  }
}

TEST(Operations, OfFencesAndWaitsAreNone) {
  EXPECT_EQ(operations_of("wgmma.fence.sync.aligned").unit, Unit::None);
  EXPECT_EQ(operations_of("wgmma.wait_group.sync.aligned").unit, Unit::None);
}

TEST(TargetGroup, IsTheMultiplyAndTheTransferOnly) {
  EXPECT_EQ(target_group("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"), "wgmma");
  EXPECT_EQ(target_group("wgmma.commit_group.sync.aligned"), "");
  EXPECT_EQ(
      target_group("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"),
      "tma");
  EXPECT_EQ(target_group("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"),
            "tma");
  EXPECT_EQ(target_group("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"),
            "tma");
  EXPECT_EQ(target_group("cp.async.bulk.commit_group"), "");
  EXPECT_EQ(target_group("cp.async.bulk.wait_group.read"), "");
  EXPECT_EQ(target_group("cp.async.bulk.prefetch.tensor.2d.L2.global"), "");
  EXPECT_EQ(target_group("cp.async.cg.shared.global"), "");
}

}  // namespace
}  // namespace weft::judge
