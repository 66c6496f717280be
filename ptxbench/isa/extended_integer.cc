// SPDX-License-Identifier: Apache-2.0

// Extended-precision integer arithmetic: carries through the condition code (section 9.7.2).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "add.cc.<type>  d, a, b",
     .types = "u32 s32 u64 s64", .since = 12, .status = Executes, .family = Integer},
    {.syntax = "addc{.cc}.<type>  d, a, b",
     .types = "u32 s32 u64 s64", .since = 12, .status = Executes, .family = Integer},
    {.syntax = "sub.cc.<type>  d, a, b",
     .types = "u32 s32 u64 s64", .since = 12, .status = Executes, .family = Integer},
    {.syntax = "subc{.cc}.<type>  d, a, b",
     .types = "u32 s32 u64 s64", .since = 12, .status = Executes, .family = Integer},
    {.syntax = "mad.lo|hi.cc.<type>  d, a, b, c",
     .types = "u32 s32 u64 s64", .since = 30, .target = "sm_20", .status = Executes,
     .family = Integer},
    {.syntax = "madc.lo|hi{.cc}.<type>  d, a, b, c",
     .types = "u32 s32 u64 s64", .since = 30, .target = "sm_20", .status = Executes,
     .family = Integer},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> extended_integer() {
  return kForms;
}

}  // namespace weft::isa
