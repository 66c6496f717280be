// SPDX-License-Identifier: Apache-2.0

// Reports are written by hand; shares follow from the counts in them.
#include "ptxbench/judge/audit.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

constexpr const char* kWgmma =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16";  // 16384 operations for four warps

constexpr const char* kTensorLoad =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";

EmulatorReport report(std::vector<ExecutedInstruction> instructions) {
  EmulatorReport made;
  made.kernels.push_back({"k", 1, 0.5, std::move(instructions), ""});
  return made;
}

TEST(Audit, CallsAKernelFullWhenWgmmaDidTheWork) {
  const wire::Audit result =
      audit(report({{kWgmma, 10, "k.cu", 7, 4, 128}, {"fma.rn.f32", 11, "k.cu", 8, 1, 32}}),
            16384.0, {1.0, std::nullopt});
  EXPECT_EQ(result.target_operations, 16384);
  EXPECT_EQ(result.scalar_operations, 64);
  EXPECT_DOUBLE_EQ(*result.share, 16384.0 / (16384 + 64));
  EXPECT_EQ(result.share_class, "full");
  EXPECT_TRUE(*result.target_instructions_executed);
  ASSERT_EQ(result.kernels[0].targets.size(), 1u);
  EXPECT_EQ(result.kernels[0].targets[0].source_line, 7u);
}

TEST(Audit, CountsWhatTcgen05WasToldToMultiply) {
  const EmulatorReport made =
      report({{"tcgen05.mma.cta_group::1.kind::f16", 10, "k.cu", 7, 2, 2, 2 * 2 * 128 * 256 * 16},
              {"mbarrier.try_wait.parity.shared::cta.b64", 9, "", 0, 5, 160}});
  const wire::Audit result = audit(made, 2097152.0, {1.0, std::nullopt});
  EXPECT_EQ(result.target_operations, 2097152);
  EXPECT_EQ(result.tcgen05_warps, 2u);
  EXPECT_EQ(result.wgmma_warps, 0u);
  EXPECT_EQ(result.mbarrier_warps, 5u);
  EXPECT_EQ(*result.share, 1);
  EXPECT_EQ(result.share_class, "full");
  EXPECT_TRUE(*result.target_instructions_executed);
  ASSERT_EQ(result.kernels[0].targets.size(), 1u);
  EXPECT_EQ(result.kernels[0].targets[0].group, "tcgen05");
  // Sums that nobody fetches, and sums of which it is not known whether somebody does.
  EXPECT_EQ(audit(made, 2097152.0, {0.0, std::nullopt}).share_class, "decorative");
  EXPECT_EQ(audit(made, 2097152.0, {}).share_class, "unverified");
}

TEST(Audit, SeesThroughOneTokenWgmma) {
  // The task needs 2 million operations; one wgmma did 16384 of them.
  const wire::Audit result =
      audit(report({{kWgmma, 10, "", 0, 4, 128}}), 2e6, {0.05, std::nullopt});
  EXPECT_DOUBLE_EQ(*result.share, 16384 / 2e6);
  EXPECT_EQ(result.share_class, "partial");
}

TEST(Audit, CallsResultsThatNobodyUsesDecorative) {
  const EmulatorReport made = report({{kWgmma, 10, "", 0, 4, 128}, {kTensorLoad, 9, "", 0, 1, 1}});
  EXPECT_EQ(audit(made, 16384.0, {0.0, 0.0}).share_class, "decorative");
  // The bytes of the copies count, the products do not: no full share.
  EXPECT_EQ(audit(made, 16384.0, {0.0, 1.0}).share_class, "partial");
  // Products that reach half of the output did at most half of the work.
  EXPECT_EQ(audit(made, 16384.0, {0.5, 1.0}).share_class, "partial");
  EXPECT_EQ(audit(made, 16384.0, {1.0, 0.0}).share_class, "full");
}

TEST(Audit, ClaimsNothingThatWasNotTried) {
  const EmulatorReport made = report({{kWgmma, 10, "", 0, 4, 128}, {kTensorLoad, 9, "", 0, 1, 1}});
  const wire::Audit result = audit(made, 16384.0, {1.0, std::nullopt});
  EXPECT_EQ(result.share_class, "unverified");
  EXPECT_FALSE(result.reason.empty());
}

TEST(Audit, DoesNotCountWhatNeverExecuted) {
  const wire::Audit result = audit(
      report({{kWgmma, 10, "", 0, 0, 0}, {"fma.rn.f32", 1, "", 0, 100, 3200}}), std::nullopt, {});
  EXPECT_FALSE(*result.target_instructions_executed);
  EXPECT_EQ(result.share_class, "absent");
  EXPECT_TRUE(result.kernels[0].targets.empty());
}

TEST(Audit, KeepsOtherTensorInstructionsApart) {
  const wire::Audit result =
      audit(report({{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 1, "", 0, 10, 320}}),
            40960.0, {});
  EXPECT_EQ(result.other_tensor_operations, 10 * 4096);
  EXPECT_EQ(*result.share, 0);
  EXPECT_EQ(result.share_class, "absent");
}

TEST(Audit, CallsHalfPartial) {
  const wire::Audit result =
      audit(report({{kWgmma, 10, "", 0, 4, 128}, {"fma.rn.f32", 1, "", 0, 256, 8192}}),
            std::nullopt, {1.0, std::nullopt});
  EXPECT_DOUBLE_EQ(*result.share, 0.5);
  EXPECT_EQ(result.share_class, "partial");
}

TEST(Audit, HasNoShareOfNothing) {
  const wire::Audit result = audit(report({}), std::nullopt, {});
  EXPECT_FALSE(result.share.has_value());
  EXPECT_FALSE(result.reason.empty());
}

}  // namespace
}  // namespace weft::judge
