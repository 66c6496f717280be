// SPDX-License-Identifier: Apache-2.0

// Tensor memory and the fifth-generation tensor core: tcgen05 (section 9.7.16).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "tcgen05.alloc.<group>.sync.aligned{.shared::cta}.b32  [dst], columns",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.dealloc.<group>.sync.aligned.b32  taddr, columns",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.relinquish_alloc_permit.<group>.sync.aligned",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.ld.sync.aligned.16x64b|16x128b|16x256b|32x32b.<count>{.pack::16b}.b32  "
               "d, [taddr]",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.ld.sync.aligned.16x32bx2.<count>{.pack::16b}.b32  d, [taddr], "
               "half_offset",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.ld.red.sync.aligned.32x32b.<count>.min|max{.abs}{.NaN}.f32|u32|s32  d, "
               "reduced, [taddr]",
     .since = 88, .target = "sm_103a sm_110a", .family = Tcgen05},
    {.syntax = "tcgen05.ld.red.sync.aligned.16x32bx2.<count>.min|max{.abs}{.NaN}.f32|u32|s32  "
               "d, reduced, [taddr], half_offset",
     .since = 88, .target = "sm_103a sm_110a", .family = Tcgen05},
    {.syntax = "tcgen05.st.sync.aligned.16x64b|16x128b|16x256b|32x32b.<count>{.unpack::16b}.b32 "
               " [taddr], d",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.st.sync.aligned.16x32bx2.<count>{.unpack::16b}.b32  [taddr], "
               "half_offset, d",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.wait::ld|wait::st.sync.aligned",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.shift.<group>.down  [taddr]",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .family = Tcgen05},
    {.syntax = "tcgen05.commit.<group>.mbarrier::arrive::one{.shared::cluster}{.multicast::clust"
               "er}.b64  [barrier]{, mask}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.fence::before_thread_sync|fence::after_thread_sync",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.128x256b|4x256b|128x128b  [taddr], descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.128x256b|4x256b|128x128b.b8x16.b6x16_p32|b4x16_p64  [taddr], "
               "descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.64x128b.warpx2::02_13|warpx2::01_23  [taddr], descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.64x128b.warpx2::02_13|warpx2::01_23.b8x16.b6x16_p32|"
               "b4x16_p64  [taddr], descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.32x128b.warpx4  [taddr], descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.cp.<group>.32x128b.warpx4.b8x16.b6x16_p32|b4x16_p64  [taddr], descriptor",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::f16|kind::tf32|"
               "kind::f8f6f4{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::f16|kind::tf32|"
               "kind::f8f6f4.ashift{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::i8{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, idesc{, disable}, "
               "enable",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::i8.ashift{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, idesc{, disable}, "
               "enable",
     .since = 86, .target = "sm_100a sm_101a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::mxf8f6f4|kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::1X|scale_vec::2X|scale_vec::4X|block16|"
               "block32}{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], a, b, idesc, [scale_a], [scale_b], enable",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.cta_group::1.kind::f16|kind::tf32|kind::f8f6f4"
               "{.<collector_b>}  [d], a, b, idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.cta_group::1.kind::i8{.<collector_b>}  [d], a, b, idesc, "
               "enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::f16|kind::tf32|"
               "kind::f8f6f4{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::f16|kind::tf32|"
               "kind::f8f6f4.ashift{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::i8{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, idesc{, disable}, "
               "enable",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::i8.ashift{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, idesc{, disable}, "
               "enable",
     .since = 86, .target = "sm_100a sm_101a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.<group>.kind::mxf8f6f4|kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::1X|scale_vec::2X|scale_vec::4X|block16|"
               "block32}{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], [a], b, idesc, [scale_a], [scale_b], enable",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.cta_group::1.kind::f16|kind::tf32|kind::f8f6f4"
               "{.<collector_b>}  [d], [a], b, idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.cta_group::1.kind::i8{.<collector_b>}  [d], [a], b, "
               "idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::f16|kind::tf32|kind::f8f6f4"
               "{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], a, b, [metadata], idesc{, disable}, enable"
               "{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::f16|kind::tf32|kind::f8f6f4.ashift"
               "{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], a, b, [metadata], idesc{, disable}, enable"
               "{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::i8{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, [metadata], "
               "idesc{, disable}, enable",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::i8.ashift{.collector::a::fill|"
               "collector::a::use|collector::a::lastuse|collector::a::discard}  [d], a, "
               "b, [metadata], idesc{, disable}, enable",
     .since = 86, .target = "sm_100a sm_101a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::mxf8f6f4|kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::1X|scale_vec::2X|scale_vec::4X|"
               "block16|block32}{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], a, b, [metadata], "
               "idesc, [scale_a], [scale_b], enable",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.sp.cta_group::1.kind::f16|kind::tf32|"
               "kind::f8f6f4{.<collector_b>}  [d], a, b, [metadata], idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.sp.cta_group::1.kind::i8{.<collector_b>}  [d], a, b, [metadata], "
               "idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::f16|kind::tf32|kind::f8f6f4"
               "{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], [a], b, [metadata], idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::f16|kind::tf32|kind::f8f6f4.ashift"
               "{.collector::a::fill|collector::a::use|collector::a::lastuse|"
               "collector::a::discard}  [d], [a], b, [metadata], idesc{, disable}, "
               "enable{, scale_d}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::i8{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, [metadata], "
               "idesc{, disable}, enable",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::i8.ashift{.collector::a::fill|"
               "collector::a::use|collector::a::lastuse|collector::a::discard}  [d], "
               "[a], b, [metadata], idesc{, disable}, enable",
     .since = 86, .target = "sm_100a sm_101a", .family = Tcgen05},
    {.syntax = "tcgen05.mma.sp.<group>.kind::mxf8f6f4|kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::1X|scale_vec::2X|scale_vec::4X|"
               "block16|block32}{.collector::a::fill|collector::a::use|"
               "collector::a::lastuse|collector::a::discard}  [d], [a], b, [metadata], "
               "idesc, [scale_a], [scale_b], enable",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.sp.cta_group::1.kind::f16|kind::tf32|"
               "kind::f8f6f4{.<collector_b>}  [d], [a], b, [metadata], idesc, enable{, "
               "zero_mask}",
     .since = 86, .target = "sm_100a sm_101a sm_103a", .status = Executes, .family = Tcgen05},
    {.syntax = "tcgen05.mma.ws.sp.cta_group::1.kind::i8{.<collector_b>}  [d], [a], b, "
               "[metadata], idesc, enable{, zero_mask}",
     .since = 86, .target = "sm_100a sm_101a", .status = Executes, .family = Tcgen05},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> tensor_memory() {
  return kForms;
}

}  // namespace weft::isa
