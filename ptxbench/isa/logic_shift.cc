// SPDX-License-Identifier: Apache-2.0

// Logic, shift and permute instructions (sections 9.7.8 and 9.7.9: prmt).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "and.<type>  d, a, b",
     .types = "pred b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "or.<type>  d, a, b",
     .types = "pred b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "xor.<type>  d, a, b",
     .types = "pred b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "not.<type>  d, a",
     .types = "pred b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "cnot.<type>  d, a",
     .types = "b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "lop3.b32  d, a, b, c, table",
     .since = 43, .target = "sm_50", .status = Executes, .family = Logic},
    {.syntax = "lop3.or|and.b32  d|p, a, b, c, table, q",
     .since = 82, .target = "sm_70", .status = Executes, .family = Logic},
    {.syntax = "shf.l|r.clamp|wrap.b32  d, a, b, c",
     .since = 31, .target = "sm_32", .status = Executes, .family = Logic},
    {.syntax = "shl.<type>  d, a, b",
     .types = "b16 b32 b64", .since = 10, .status = Executes, .family = Logic},
    {.syntax = "shr.<type>  d, a, b",
     .types = "b16 b32 b64 u16 u32 u64 s16 s32 s64", .since = 10, .status = Executes,
     .family = Logic},
    {.syntax = "prmt.b32{.f4e|b4e|rc8|ecl|ecr|rc16}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Logic},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> logic_shift() {
  return kForms;
}

}  // namespace weft::isa
