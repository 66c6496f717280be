// SPDX-License-Identifier: Apache-2.0

// Comparison and selection instructions (sections 9.7.6 and 9.7.7).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "set.eq|ne.u32|s32.<type>  d, a, b",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpu>.u32|s32.<type>  d, a, b",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>.u32|s32.<type>  d, a, b",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>{.ftz}.u32|s32.<type>  d, a, b",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "set.eq|ne.f32.<type>  d, a, b",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpu>.f32.<type>  d, a, b",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>.f32.<type>  d, a, b",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>{.ftz}.f32.<type>  d, a, b",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "set.eq|ne.<bool>.u32|s32.<type>  d, a, b, c",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpu>.<bool>.u32|s32.<type>  d, a, b, c",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>.<bool>.u32|s32.<type>  d, a, b, c",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>{.ftz}.u32|s32.<type>  d, a, b, c",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "set.eq|ne.<bool>.f32.<type>  d, a, b, c",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpu>.<bool>.f32.<type>  d, a, b, c",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>.<bool>.f32.<type>  d, a, b, c",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>{.ftz}.f32.<type>  d, a, b, c",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "setp.eq|ne.<type>  p{|q}, a, b",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpu>.<type>  p{|q}, a, b",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>.<type>  p{|q}, a, b",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>{.ftz}.<type>  p{|q}, a, b",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "setp.eq|ne.<bool>.<type>  p{|q}, a, b, c",
     .types = "b16 b32 b64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpu>.<bool>.<type>  p{|q}, a, b, c",
     .types = "u16 u32 u64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>.<bool>.<type>  p{|q}, a, b, c",
     .types = "s16 s32 s64", .since = 10, .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.<bool>{.ftz}.<type>  p{|q}, a, b, c",
     .types = "f32 f64", .since = 10, .family = Comparison},
    {.syntax = "selp.<type>  d, a, b, p",
     .types = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", .since = 10, .family = Comparison},
    {.syntax = "slct.<type>.s32  d, a, b, c",
     .types = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", .since = 10, .family = Comparison},
    {.syntax = "slct{.ftz}.<type>.f32  d, a, b, c",
     .types = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", .since = 10, .family = Comparison},
    // Half precision (section 9.7.7).
    {.syntax = "set.<cmp>|<cmpf>{.ftz}.f16|u16|s16|u32|s32.f16  d, a, b",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.bf16|u16|s16|u32|s32.bf16  d, a, b",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>{.ftz}.f16x2.f16x2  d, a, b",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.bf16x2.bf16x2  d, a, b",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>{.ftz}.u32|s32.f16x2  d, a, b",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.u32|s32.bf16x2  d, a, b",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>{.ftz}.f16|u16|s16|u32|s32.f16  d, a, b, c",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>.bf16|u16|s16|u32|s32.bf16  d, a, b, c",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>{.ftz}.f16x2|u32|s32.f16x2  d, a, b, c",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "set.<cmp>|<cmpf>.<bool>.bf16x2|u32|s32.bf16x2  d, a, b, c",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>{.ftz}.f16  p{|q}, a, b",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.bf16  p{|q}, a, b",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>{.ftz}.f16x2  p|q, a, b",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.bf16x2  p|q, a, b",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.<bool>{.ftz}.f16  p{|q}, a, b, c",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.<bool>.bf16  p{|q}, a, b, c",
     .since = 78, .target = "sm_90", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.<bool>{.ftz}.f16x2  p|q, a, b, c",
     .since = 42, .target = "sm_53", .family = Comparison},
    {.syntax = "setp.<cmp>|<cmpf>.<bool>.bf16x2  p|q, a, b, c",
     .since = 78, .target = "sm_90", .family = Comparison},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> comparison() {
  return kForms;
}

}  // namespace weft::isa
