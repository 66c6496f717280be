// SPDX-License-Identifier: Apache-2.0

// Texture and surface instructions (sections 9.7.10 and 9.7.11).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "tex.<geometry>.v4.u32|s32|f32.s32|f32  d{|p}, [a, c]{, e}",
     .since = 15, .status = Executes, .family = Texture},
    {.syntax = "tex.<geometry>.v4.f16.s32|f32  d{|p}, [a, c]{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tex.<geometry>.v2.f16x2.s32|f32  d{|p}, [a, c]{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v4.u32|s32|f32.s32|f32  d{|p}, [a, c]{, lod}{, e}",
     .since = 20, .target = "sm_20", .status = Executes, .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v4.f16.s32|f32  d{|p}, [a, c]{, lod}{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v2.f16x2.s32|f32  d{|p}, [a, c]{, lod}{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v4.u32|s32|f32.f32  d{|p}, [a, c], dx, dy{, e}",
     .since = 20, .target = "sm_20", .status = Executes, .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v4.f16.f32  d{|p}, [a, c], dx, dy{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v2.f16x2.f32  d{|p}, [a, c], dx, dy{, e}",
     .since = 42, .target = "sm_53", .status = Executes, .family = Texture},
    {.syntax = "tld4.r|g|b|a.2d|a2d|cube|acube.v4.u32|s32|f32.f32  d{|p}, [a, c]{, e}",
     .since = 22, .target = "sm_20", .status = Executes, .family = Texture},
    // Textures that hold depths, to be compared with f, come from graphics libraries only.
    {.syntax = "tex.<geometry>.v4.u32|s32|f32.s32|f32  d{|p}, [a, c]{, e}, f",
     .since = 15, .family = Texture},
    {.syntax = "tex.<geometry>.v4.f16.s32|f32  d{|p}, [a, c]{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex.<geometry>.v2.f16x2.s32|f32  d{|p}, [a, c]{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v4.u32|s32|f32.s32|f32  d{|p}, [a, c]{, lod}{, e}, f",
     .since = 20, .target = "sm_20", .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v4.f16.s32|f32  d{|p}, [a, c]{, lod}{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex.base|level.<geometry>.v2.f16x2.s32|f32  d{|p}, [a, c]{, lod}{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v4.u32|s32|f32.f32  d{|p}, [a, c], dx, "
               "dy{, e}, f",
     .since = 20, .target = "sm_20", .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v4.f16.f32  d{|p}, [a, c], dx, dy{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex.grad.1d|2d|3d|a1d|a2d|cube|acube.v2.f16x2.f32  d{|p}, [a, c], dx, dy{, e}, f",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tld4.r|g|b|a.2d|a2d|cube|acube.v4.u32|s32|f32.f32  d{|p}, [a, c]{, e}, f",
     .since = 22, .target = "sm_20", .family = Texture},
    // So do multisampled textures.
    {.syntax = "tex{.base|level}.2dms|a2dms.v4.u32|s32|f32.s32  d{|p}, [a, c]{, lod}{, e}{, f}",
     .since = 32, .target = "sm_30", .family = Texture},
    {.syntax = "tex{.base|level}.2dms|a2dms.v4.f16.s32  d{|p}, [a, c]{, lod}{, e}{, f}",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "tex{.base|level}.2dms|a2dms.v2.f16x2.s32  d{|p}, [a, c]{, lod}{, e}{, f}",
     .since = 42, .target = "sm_53", .family = Texture},
    {.syntax = "txq.width|height|depth|channel_data_type|channel_order|normalized_coords|"
               "array_size|num_mipmap_levels|num_samples.b32  d, [a]",
     .since = 15, .status = Executes, .family = Texture},
    {.syntax = "txq.level.width|height|depth.b32  d, [a], lod",
     .since = 43, .target = "sm_30", .status = Executes, .family = Texture},
    {.syntax = "txq.filter_mode|addr_mode_0|addr_mode_1|addr_mode_2|"
               "force_unnormalized_coords.b32  d, [a]",
     .since = 15, .status = Executes, .family = Texture},
    {.syntax = "istypep.texref|samplerref|surfref  p, a",
     .since = 40, .target = "sm_30", .status = Executes, .family = Texture},
    {.syntax = "suld.b.1d|2d|3d|a1d|a2d{.ca|cg|cs|cv}{.v2|v4}.b8|b16|b32|b64.trap|clamp|zero  "
               "d, [a, c]",
     .since = 15, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "sust.b.1d|2d|3d|a1d|a2d{.wb|cg|cs|wt}{.v2|v4}.b8|b16|b32|b64.trap|clamp|zero  "
               "[a, c], b",
     .since = 15, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "sust.p.1d|2d|3d|a1d|a2d{.wb|cg|cs|wt}{.v2|v4}.b32.trap|clamp|zero  [a, c], b",
     .since = 15, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "sured.b.1d|2d|3d.add|min|max.u32|u64|s32|s64.trap|clamp|zero  [a, c], b",
     .since = 30, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "sured.b.1d|2d|3d.and|or.b32.trap|clamp|zero  [a, c], b",
     .since = 30, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "sured.p.1d|2d|3d.add|min|max|and|or.b32|b64.trap|clamp|zero  [a, c], b",
     .since = 30, .target = "sm_20", .status = Executes, .family = Surface},
    {.syntax = "suq.width|height|depth|channel_data_type|channel_order|array_size|"
               "memory_layout.b32  d, [a]",
     .since = 15, .target = "sm_20", .status = Executes, .family = Surface},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> texture() {
  return kForms;
}

}  // namespace weft::isa
