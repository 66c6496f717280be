// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic instructions (PTX ISA 9.0, section 9.7.1).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "add.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "add{.sat}.s32  d, a, b", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "add.<type>  d, a, b",
     .types = "u16x2 s16x2", .since = 80, .target = "sm_90", .status = Executes, .family = Integer},
    {.syntax = "sub.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "sub{.sat}.s32  d, a, b", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mul.lo|hi.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mul.wide.<type>  d, a, b",
     .types = "u16 u32 s16 s32", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mad.lo|hi.<type>  d, a, b, c",
     .types = "u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mad.hi.sat.s32  d, a, b, c", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mad.wide.<type>  d, a, b, c",
     .types = "u16 u32 s16 s32", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mul24.lo|hi.<type>  d, a, b",
     .types = "u32 s32", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mad24.lo|hi.<type>  d, a, b, c",
     .types = "u32 s32", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "mad24.hi.sat.s32  d, a, b, c", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "sad.<type>  d, a, b, c",
     .types = "u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "div.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "rem.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "abs.<type>  d, a",
     .types = "s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "neg.<type>  d, a",
     .types = "s16 s32 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "min.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "min{.relu}.s32  d, a, b", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "min.u16x2  d, a, b",
     .since = 80, .target = "sm_90", .status = Executes, .family = Integer},
    {.syntax = "min{.relu}.s16x2  d, a, b",
     .since = 80, .target = "sm_90", .status = Executes, .family = Integer},
    {.syntax = "max.<type>  d, a, b",
     .types = "u16 u32 u64 s16 s64", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "max{.relu}.s32  d, a, b", .since = 10, .status = Executes, .family = Integer},
    {.syntax = "max.u16x2  d, a, b",
     .since = 80, .target = "sm_90", .status = Executes, .family = Integer},
    {.syntax = "max{.relu}.s16x2  d, a, b",
     .since = 80, .target = "sm_90", .status = Executes, .family = Integer},
    {.syntax = "popc.<type>  d, a",
     .types = "b32 b64", .since = 20, .target = "sm_20", .status = Executes, .family = Integer},
    {.syntax = "clz.<type>  d, a",
     .types = "b32 b64", .since = 20, .target = "sm_20", .status = Executes, .family = Integer},
    {.syntax = "bfind{.shiftamt}.<type>  d, a",
     .types = "u32 u64 s32 s64", .since = 20, .target = "sm_20", .status = Executes,
     .family = Integer},
    {.syntax = "fns.b32  d, mask, base, offset",
     .since = 60, .target = "sm_30", .status = Executes, .family = Integer},
    {.syntax = "brev.<type>  d, a",
     .types = "b32 b64", .since = 20, .target = "sm_20", .status = Executes, .family = Integer},
    {.syntax = "bfe.<type>  d, a, b, c",
     .types = "u32 u64 s32 s64", .since = 20, .target = "sm_20", .status = Executes,
     .family = Integer},
    {.syntax = "bfi.<type>  d, a, b, position, length",
     .types = "b32 b64", .since = 20, .target = "sm_20", .status = Executes, .family = Integer},
    {.syntax = "szext.clamp|wrap.<type>  d, a, b",
     .types = "u32 s32", .since = 76, .target = "sm_70", .status = Executes, .family = Integer},
    {.syntax = "bmsk.clamp|wrap.b32  d, a, b",
     .since = 76, .target = "sm_70", .status = Executes, .family = Integer},
    {.syntax = "dp4a.u32|s32.u32|s32  d, a, b, c",
     .since = 50, .target = "sm_61", .status = Executes, .family = Integer},
    {.syntax = "dp2a.lo|hi.u32|s32.u32|s32  d, a, b, c",
     .since = 50, .target = "sm_61", .status = Executes, .family = Integer},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> integer_arithmetic() {
  return kForms;
}

}  // namespace weft::isa
