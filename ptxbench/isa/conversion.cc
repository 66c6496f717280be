// SPDX-License-Identifier: Apache-2.0

// Conversions between types and between address spaces (sections 9.7.9: cvt, cvt.pack, cvta,
// isspacep, mapa).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "cvt{.sat}.<type>.<type>  d, a",
     .types = "u8 u16 u32 u64 s8 s16 s32 s64", .since = 10, .status = Executes,
     .family = Conversion},
    {.syntax = "cvt.<rnd>{.ftz}{.sat}.f16|f32|f64.<type>  d, a",
     .types = "u8 u16 u32 u64 s8 s16 s32 s64", .since = 10, .status = Executes,
     .family = Conversion},
    {.syntax = "cvt.<rndi>{.ftz}{.sat}.<type>.f16|f32|f64  d, a",
     .types = "u8 u16 u32 u64 s8 s16 s32 s64", .since = 10, .status = Executes,
     .family = Conversion},
    {.syntax = "cvt{.<rndi>}{.ftz}{.sat}.f32.f32  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt{.<rndi>}{.sat}.f16.f16  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt{.<rndi>}{.sat}.f64.f64  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt{.ftz}{.sat}.f32.f16  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt{.sat}.f64.f16  d, a", .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt{.ftz}{.sat}.f64.f32  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rnd>{.ftz}{.sat}.f16|f32.f64  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rnd>{.ftz}{.sat}.f16.f32  d, a",
     .since = 10, .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rnd>{.relu}{.satfinite}.f16|bf16.f32  d, a",
     .since = 70, .target = "sm_80", .status = Executes, .family = Conversion},
    {.syntax = "cvt{.<rnd>}.bf16.f16  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rnd>{.sat}.bf16.<type>  d, a",
     .types = "u8 u16 u32 u64 s8 s16 s32 s64 f64", .since = 78, .target = "sm_90",
     .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rndi>.bf16.bf16  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Conversion},
    {.syntax = "cvt.<rndi>{.ftz}{.sat}.<type>.bf16  d, a",
     .types = "u8 u16 u32 u64 s8 s16 s32 s64", .since = 78, .target = "sm_90", .status = Executes,
     .family = Conversion},
    {.syntax = "cvt.f32.bf16  d, a",
     .since = 71, .target = "sm_80", .status = Executes, .family = Conversion},
    {.syntax = "cvt.f64.bf16  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Conversion},
    {.syntax = "cvt{.<rnd>}.f16.bf16  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn|rz{.relu}{.satfinite}.f16x2|bf16x2.f32  d, a, b",
     .since = 70, .target = "sm_80", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rs{.relu}{.satfinite}.f16x2|bf16x2.f32  d, a, b, random",
     .since = 87, .target = "sm_100a sm_103a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rna{.satfinite}.tf32.f32  d, a",
     .since = 70, .target = "sm_80", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn|rz{.relu}.tf32.f32  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn|rz.satfinite{.relu}.tf32.f32  d, a",
     .since = 86, .target = "sm_100", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn.satfinite{.relu}.e4m3x2|e5m2x2.f32  d, a, b",
     .since = 78, .target = "sm_89", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn.satfinite{.relu}.e4m3x2|e5m2x2.f16x2  d, a",
     .since = 78, .target = "sm_89", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn{.relu}.f16x2.e4m3x2|e5m2x2  d, a",
     .since = 78, .target = "sm_89", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rs{.relu}.satfinite.e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4.f32  d, a, random",
     .since = 87, .target = "sm_100a sm_103a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn.satfinite{.relu}.e2m1x2|e2m3x2|e3m2x2.f32  d, a, b",
     .since = 86, .target = "sm_100a sm_101a sm_120a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn{.relu}.f16x2.e2m1x2|e2m3x2|e3m2x2  d, a",
     .since = 86, .target = "sm_100a sm_101a sm_120a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rz|rp{.satfinite}.ue8m0x2.f32  d, a, b",
     .since = 86, .target = "sm_100a sm_101a sm_120a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rz|rp{.satfinite}.ue8m0x2.bf16x2  d, a",
     .since = 86, .target = "sm_100a sm_101a sm_120a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.rn.bf16x2.ue8m0x2  d, a",
     .since = 86, .target = "sm_100a sm_101a sm_120a", .status = Executes, .family = Conversion},
    {.syntax = "cvt.pack.sat.u16|s16.s32  d, a, b",
     .since = 65, .target = "sm_72", .status = Executes, .family = Conversion},
    {.syntax = "cvt.pack.sat.u2|s2|u4|s4|u8|s8.s32.b32  d, a, b, c",
     .since = 65, .target = "sm_72", .status = Executes, .family = Conversion},
    {.syntax = "cvta.const|global|local|<shared>|param|param::entry.u64  p, a",
     .since = 20, .target = "sm_20", .status = Executes, .family = Conversion},
    {.syntax = "cvta.to.const|global|local|<shared>|param|param::entry.u64  p, a",
     .since = 20, .target = "sm_20", .status = Executes, .family = Conversion},
    // The emulated devices have 64-bit addresses.
    {.syntax = "cvta.const|global|local|<shared>|param|param::entry.u32  p, a",
     .since = 20, .target = "sm_20", .family = Conversion},
    {.syntax = "cvta.to.const|global|local|<shared>|param|param::entry.u32  p, a",
     .since = 20, .target = "sm_20", .family = Conversion},
    {.syntax = "isspacep.const|global|local|<shared>|param|param::entry  p, a",
     .since = 20, .target = "sm_20", .status = Executes, .family = Move},
    {.syntax = "mapa{.shared::cluster}.u32|u64  d, a, b",
     .since = 78, .target = "sm_90", .status = Executes, .family = Cluster},
    {.syntax = "getctarank{.shared::cluster}.u32|u64  d, a",
     .since = 78, .target = "sm_90", .status = Executes, .family = Cluster},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> conversion() {
  return kForms;
}

}  // namespace weft::isa
