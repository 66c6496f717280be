// SPDX-License-Identifier: Apache-2.0

// Scalar and packed video instructions (section 9.7.18).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "vadd.u32|s32.u32|s32.u32|s32{.sat}  d, a, b",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vadd.u32|s32.u32|s32.u32|s32{.sat}.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vadd.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vsub.u32|s32.u32|s32.u32|s32{.sat}  d, a, b",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vsub.u32|s32.u32|s32.u32|s32{.sat}.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vsub.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vabsdiff.u32|s32.u32|s32.u32|s32{.sat}  d, a, b",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vabsdiff.u32|s32.u32|s32.u32|s32{.sat}.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vabsdiff.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmin.u32|s32.u32|s32.u32|s32{.sat}  d, a, b",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmin.u32|s32.u32|s32.u32|s32{.sat}.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmin.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmax.u32|s32.u32|s32.u32|s32{.sat}  d, a, b",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmax.u32|s32.u32|s32.u32|s32{.sat}.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmax.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vshl.u32|s32.u32|s32.u32{.sat}.clamp|wrap  d, a, b{, c}",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vshl.u32|s32.u32|s32.u32{.sat}.clamp|wrap.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vshr.u32|s32.u32|s32.u32{.sat}.clamp|wrap  d, a, b{, c}",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vshr.u32|s32.u32|s32.u32{.sat}.clamp|wrap.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmad.u32|s32.u32|s32.u32|s32{.sat}{.shr7|shr15}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vmad.u32|s32.u32|s32.u32|s32.po{.sat}{.shr7|shr15}  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vset.u32|s32.u32|s32.<cmp>  d, a, b{, c}",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vset.u32|s32.u32|s32.<cmp>.add|min|max  d, a, b, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Video},
    {.syntax = "vadd2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vadd2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vsub2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vsub2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vavrg2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vavrg2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vabsdiff2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vabsdiff2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmin2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmin2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmax2.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmax2.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vset2.u32|s32.u32|s32.<cmp>{.add}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vadd4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vadd4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vsub4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vsub4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vavrg4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vavrg4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vabsdiff4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vabsdiff4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmin4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmin4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmax4.u32|s32.u32|s32.u32|s32{.sat}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vmax4.u32|s32.u32|s32.u32|s32.add  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
    {.syntax = "vset4.u32|s32.u32|s32.<cmp>{.add}  d, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = Video},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> video() {
  return kForms;
}

}  // namespace weft::isa
