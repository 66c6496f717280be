// SPDX-License-Identifier: Apache-2.0

// Matrix instructions of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix (section 9.7.14).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "wmma.load.a|b.sync.aligned.row|col.m16n16k16|m8n32k16|m32n8k16{.global|shared|"
               "shared::cta}.<type>  d, [a]{, stride}",
     .types = "f16 bf16 s8 u8", .since = 60, .target = "sm_70", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.c.sync.aligned.row|col.m16n16k16|m8n32k16|m32n8k16{.global|shared|"
               "shared::cta}.<type>  d, [a]{, stride}",
     .types = "f16 f32 s32", .since = 60, .target = "sm_70", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.a|b.sync.aligned.row|col.m16n16k8{.global|shared|shared::cta}.<type>  "
               "d, [a]{, stride}",
     .types = "tf32", .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.c.sync.aligned.row|col.m16n16k8{.global|shared|shared::cta}.<type>  "
               "d, [a]{, stride}",
     .types = "f32", .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.a|b|c.sync.aligned.row|col.m8n8k4{.global|shared|shared::cta}.f64  d, "
               "[a]{, stride}",
     .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.a|b.sync.aligned.row|col.m8n8k32{.global|shared|shared::cta}.<type>  "
               "d, [a]{, stride}",
     .types = "s4 u4", .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.c.sync.aligned.row|col.m8n8k32{.global|shared|shared::cta}.<type>  d, "
               "[a]{, stride}",
     .types = "s32", .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.a|b.sync.aligned.row|col.m8n8k128{.global|shared|shared::cta}.<type>  "
               "d, [a]{, stride}",
     .types = "b1", .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.load.c.sync.aligned.row|col.m8n8k128{.global|shared|shared::cta}.<type>  "
               "d, [a]{, stride}",
     .types = "s32", .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.store.d.sync.aligned.row|col.m16n16k16|m8n32k16|m32n8k16{.global|shared|"
               "shared::cta}.<type>  [a], d{, stride}",
     .types = "f16 f32 s32", .since = 60, .target = "sm_70", .status = Executes, .family = Wmma},
    {.syntax = "wmma.store.d.sync.aligned.row|col.m16n16k8|m8n8k4|m8n8k32|m8n8k128{.global|"
               "shared|shared::cta}.<type>  [a], d{, stride}",
     .types = "f32 f64 s32", .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m16n16k16|m8n32k16|"
               "m32n8k16{.satfinite}.f16|f32.f16|f32  d, a, b, c",
     .since = 60, .target = "sm_70", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m16n16k16|m8n32k16|"
               "m32n8k16.f32.bf16.bf16.f32  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m16n16k8.f32.tf32.tf32.f32  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m16n16k16|m8n32k16|"
               "m32n8k16{.satfinite}.s32.s8.s8.s32  d, a, b, c",
     .since = 63, .target = "sm_72", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m16n16k16|m8n32k16|"
               "m32n8k16{.satfinite}.s32.u8.u8.s32  d, a, b, c",
     .since = 63, .target = "sm_72", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row.col.m8n8k32{.satfinite}.s32.s4.s4.s32  d, a, b, c",
     .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row.col.m8n8k32{.satfinite}.s32.u4.u4.s32  d, a, b, c",
     .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.xor|and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32  d, a, b, c",
     .since = 63, .target = "sm_75", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m8n8k4{.rn}.f64.f64.f64.f64  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "wmma.mma.sync.aligned.row|col.row|col.m8n8k4.rz|rm|rp.f64.f64.f64.f64  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Wmma},
    {.syntax = "mma.sync.aligned.m8n8k4.row|col.row|col.f16|f32.f16.f16.f16|f32  d, a, b, c",
     .since = 64, .target = "sm_70", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k8|m16n8k16.row.col.f16.f16.f16.f16  d, a, b, c",
     .since = 65, .target = "sm_75", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k8|m16n8k16.row.col.f32.f16.f16.f16|f32  d, a, b, c",
     .since = 65, .target = "sm_75", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k8|m16n8k16.row.col.f32.bf16.bf16.f32  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k4|m16n8k8.row.col.f32.tf32.tf32.f32  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k4|m16n8k8|m16n8k16{.<rnd>}.row.col.f64.f64.f64.f64  d, "
               "a, b, c",
     .since = 78, .target = "sm_90", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m8n8k4.<rnd>.row.col.f64.f64.f64.f64  d, a, b, c",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m8n8k16|m16n8k16|m16n8k32.row.col{.satfinite}.s32.s8|u8.s8|"
               "u8.s32  d, a, b, c",
     .since = 65, .target = "sm_75", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m8n8k32|m16n8k32|m16n8k64.row.col{.satfinite}.s32.s4|u4.s4|"
               "u4.s32  d, a, b, c",
     .since = 65, .target = "sm_75", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m8n8k128|m16n8k128|m16n8k256.row.col.s32.b1.b1.s32.xor|"
               "and.popc  d, a, b, c",
     .since = 70, .target = "sm_75", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k16|m16n8k32.row.col.f32.e4m3|e5m2.e4m3|e5m2.f32  d, a, "
               "b, c",
     .since = 84, .target = "sm_89", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k16|m16n8k32.row.col.f16.e4m3|e5m2.e4m3|e5m2.f16  d, a, "
               "b, c",
     .since = 87, .target = "sm_89", .status = Executes, .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16|f32.e4m3|e5m2|e3m2|e2m3|"
               "e2m1.e4m3|e5m2|e3m2|e2m3|e2m1.f16|f32  d, a, b, c",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32"
               ".e4m3|e5m2|e3m2|e2m3|e2m1.e4m3|e5m2|e3m2|e2m3|e2m1.f32.ue8m0  d, a, b, c, "
               "scale_a, select_a, scale_b, select_b",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::2X|"
               "scale_vec::4X}.f32.e2m1.e2m1.f32.ue8m0|ue4m3  d, a, b, c, scale_a, select_a, "
               "scale_b, select_b",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k16|m16n8k32.row.col.f16|"
               "f32.f16.f16.f16|f32  d, a, b, c, e, selector",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k16|"
               "m16n8k32.row.col.f32.bf16.bf16.f32  d, a, b, c, e, selector",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k8|"
               "m16n8k16.row.col.f32.tf32.tf32.f32  d, a, b, c, e, selector",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k32|"
               "m16n8k64.row.col{.satfinite}.s32.s8|u8.s8|u8.s32  d, a, b, c, e, selector",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k64|"
               "m16n8k128.row.col{.satfinite}.s32.s4|u4.s4|u4.s32  d, a, b, c, e, selector",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3|e5m2.e4m3|"
               "e5m2.f32  d, a, b, c, e, selector",
     .since = 84, .target = "sm_89", .status = Executes, .family = Mma},
    {.syntax = "mma.sp|sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3|e5m2.e4m3|"
               "e5m2.f16  d, a, b, c, e, selector",
     .since = 87, .target = "sm_89", .status = Executes, .family = Mma},
    {.syntax = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16|"
               "f32.e4m3|e5m2|e3m2|e2m3|e2m1.e4m3|e5m2|e3m2|e2m3|e2m1.f16|f32  d, a, b, c, e, "
               "selector",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scal"
               "e{.scale_vec::1X}.f32.e4m3|e5m2|e3m2|e2m3|e2m1.e4m3|e5m2|e3m2|e2m3|"
               "e2m1.f32.ue8m0  d, a, b, c, e, selector, scale_a, select_a, scale_b, select_b",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4|"
               "kind::mxf4nvf4.block_scale{.scale_vec::2X|"
               "scale_vec::4X}.f32.e2m1.e2m1.f32.ue8m0|ue4m3  d, a, b, c, e, selector, scale_a, "
               "select_a, scale_b, select_b",
     .since = 87, .target = "sm_120a", .family = Mma},
    {.syntax = "ldmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.<shared>}.b16  d, [a]",
     .since = 65, .target = "sm_75", .status = Executes, .family = LdMatrix},
    {.syntax = "ldmatrix.sync.aligned.m16n16.x1|x2.trans{.shared|shared::cta}.b8  d, [a]",
     .since = 86, .target = "sm_100a", .status = Executes, .family = LdMatrix},
    {.syntax = "ldmatrix.sync.aligned.m16n16.x1|x2.trans{.shared|shared::cta}.b8x16.b6x16_p32|"
               "b4x16_p64  d, [a]",
     .since = 86, .target = "sm_100a", .status = Executes, .family = LdMatrix},
    {.syntax = "ldmatrix.sync.aligned.m8n16.x1|x2|x4{.shared|shared::cta}.b8x16.b6x16_p32|"
               "b4x16_p64  d, [a]",
     .since = 86, .target = "sm_100a", .status = Executes, .family = LdMatrix},
    {.syntax = "stmatrix.sync.aligned.m8n8.x1|x2|x4{.trans}{.<shared>}.b16  [a], d",
     .since = 78, .target = "sm_90", .status = Executes, .family = LdMatrix},
    {.syntax = "stmatrix.sync.aligned.m16n8.x1|x2|x4.trans{.shared|shared::cta}.b8  [a], d",
     .since = 86, .target = "sm_100a", .status = Executes, .family = LdMatrix},
    {.syntax = "movmatrix.sync.aligned.m8n8.trans.b16  d, a",
     .since = 78, .target = "sm_75", .status = Executes, .family = LdMatrix},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> matrix() {
  return kForms;
}

}  // namespace weft::isa
