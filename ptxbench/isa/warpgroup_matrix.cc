// SPDX-License-Identifier: Apache-2.0

// Matrix instructions of a warpgroup: wgmma, and setmaxnreg which shares registers between
// warpgroups (section 9.7.15).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma16>.f16|f32.f16.f16  d, a, b, scale_d{, "
               "negate_a}{, negate_b}{, transpose_a}{, transpose_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma16>.f32.bf16.bf16  d, a, b, scale_d{, "
               "negate_a}{, negate_b}{, transpose_a}{, transpose_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma8>.f32.tf32.tf32  d, a, b, scale_d{, "
               "negate_a}{, negate_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma32>.f16|f32.e4m3|e5m2.e4m3|e5m2  d, a, b, "
               "scale_d{, negate_a}{, negate_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma32>{.satfinite}.s32.s8|u8.s8|u8  d, a, b, "
               "scale_d",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sp.sync.aligned.<wgmma32>.f16|f32.f16.f16  d, a, b, metadata, "
               "selector, scale_d{, negate_a}{, negate_b}{, transpose_a}{, transpose_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sp.sync.aligned.<wgmma32>.f32.bf16.bf16  d, a, b, metadata, "
               "selector, scale_d{, negate_a}{, negate_b}{, transpose_a}{, transpose_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sp.sync.aligned.<wgmma16>.f32.tf32.tf32  d, a, b, metadata, "
               "selector, scale_d{, negate_a}{, negate_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sp.sync.aligned.<wgmma64>.f16|f32.e4m3|e5m2.e4m3|e5m2  d, a, b, "
               "metadata, selector, scale_d{, negate_a}{, negate_b}",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sp.sync.aligned.<wgmma64>{.satfinite}.s32.s8|u8.s8|u8  d, a, b, "
               "metadata, selector, scale_d",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.mma_async.sync.aligned.<wgmma256>.s32.b1.b1.and.popc  d, a, b, scale_d",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.fence.sync.aligned",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.commit_group.sync.aligned",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "wgmma.wait_group.sync.aligned  n",
     .since = 80, .target = "sm_90a", .status = Executes, .family = Wgmma},
    {.syntax = "setmaxnreg.inc|dec.sync.aligned.u32  count",
     .since = 80, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = RegisterCount},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> warpgroup_matrix() {
  return kForms;
}

}  // namespace weft::isa
