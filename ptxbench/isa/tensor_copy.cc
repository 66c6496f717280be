// SPDX-License-Identifier: Apache-2.0

// Copies through tensor maps, and edits of tensor maps (section 9.7.9.27).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "cp.async.bulk.tensor.<dim>.shared::cluster|shared::cta.global{.tile|"
               "tile::gather4|im2col}.mbarrier::complete_tx::bytes{.multicast::cluster}{.<group>}"
               "{.L2::cache_hint}  [dst], [map, coordinates], [barrier]{, offsets}{, mask}"
               "{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = TensorCopy},
    {.syntax = "cp.async.bulk.tensor.<dim>.shared::cluster|shared::cta.global.im2col::w|"
               "im2col::w::128.mbarrier::complete_tx::bytes{.multicast::cluster}{.<group>}"
               "{.L2::cache_hint}  [dst], [map, coordinates], [barrier]{, offsets}{, mask}"
               "{, policy}",
     .since = 80, .target = "sm_90", .family = TensorCopy},
    {.syntax = "cp.async.bulk.tensor.<dim>.global.shared::cta{.tile|tile::scatter4|"
               "im2col_no_offs}.bulk_group{.L2::cache_hint}  [map, coordinates], [src]{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = TensorCopy},
    {.syntax = "cp.reduce.async.bulk.tensor.<dim>.global.shared::cta.add|min|max|inc|dec|and|or|"
               "xor{.tile|im2col_no_offs}.bulk_group{.L2::cache_hint}  [map, coordinates], "
               "[src]{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = TensorCopy},
    {.syntax = "cp.async.bulk.prefetch.tensor.<dim>.L2.global{.tile|tile::gather4|im2col}"
               "{.L2::cache_hint}  [map, coordinates]{, offsets}{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = TensorCopy},
    {.syntax = "cp.async.bulk.prefetch.tensor.<dim>.L2.global.im2col::w|im2col::w::128"
               "{.L2::cache_hint}  [map, coordinates]{, offsets}{, policy}",
     .since = 80, .target = "sm_90", .family = TensorCopy},
    {.syntax = "tensormap.replace.tile.global_address{.global|shared::cta}.b1024.b64  [map], "
               "value",
     .since = 83, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = TensorMap},
    {.syntax = "tensormap.replace.tile.rank{.global|shared::cta}.b1024.b32  [map], value",
     .since = 83, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = TensorMap},
    {.syntax = "tensormap.replace.tile.box_dim|global_dim|element_stride{.global|"
               "shared::cta}.b1024.b32  [map], ordinal, value",
     .since = 83, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = TensorMap},
    {.syntax = "tensormap.replace.tile.global_stride{.global|shared::cta}.b1024.b64  [map], "
               "ordinal, value",
     .since = 83, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = TensorMap},
    {.syntax = "tensormap.replace.tile.elemtype|interleave_layout|swizzle_mode|fill_mode|"
               "swizzle_atomicity{.global|shared::cta}.b1024.b32  [map], value",
     .since = 83, .target = "sm_90a sm_100a sm_101a sm_103a sm_120a", .status = Executes,
     .family = TensorMap},
    {.syntax = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<scope>.sy"
               "nc.aligned  [dst], [src], size",
     .since = 83, .target = "sm_90", .status = Executes, .family = TensorMap},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> tensor_copy() {
  return kForms;
}

}  // namespace weft::isa
