// SPDX-License-Identifier: Apache-2.0

// Moves, loads, stores and cache control (section 9.7.9).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "mov.<type>  d, a",
     .types = "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", .since = 10, .status = Executes,
     .family = Move},
    {.syntax = "mov.<type>  d, a",
     .types = "b128", .since = 83, .target = "sm_70", .status = Executes, .family = Move},
    {.syntax = "mov{.v2|v4}.<type>  d, a",
     .types = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", .since = 10, .status = Executes,
     .family = Move},
    {.syntax = "ld{.weak}{.const|global|local|param|param::entry|param::func|"
               "<shared>}{.<loadcache>}{.<level1>}{.<level2>}{.L2::cache_hint}{.<prefetch2>}{.v2"
               "|v4|v8}.<type>  d, [a]{, policy}",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 10,
     .status = Executes, .family = LoadStore},
    {.syntax = "ld.volatile{.global|<shared>}{.<prefetch2>}{.v2|v4|v8}.<type>  d, [a]",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 10,
     .status = Executes, .family = LoadStore},
    {.syntax = "ld.relaxed|acquire.<scope>{.global|"
               "<shared>}{.<level1>}{.<level2>}{.L2::cache_hint}{.<prefetch2>}{.v2|v4|"
               "v8}.<type>  d, [a]{, policy}",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 60,
     .target = "sm_70", .status = Executes, .family = LoadStore},
    {.syntax = "ld.mmio.relaxed.sys{.global}.<type>  d, [a]",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 82,
     .target = "sm_70", .status = Executes, .family = LoadStore},
    {.syntax = "ld.global{.ca|cg|"
               "cs}.nc{.<level1>}{.<level2>}{.L2::cache_hint}{.<prefetch2>}{.v2|v4|v8}.<type>  "
               "d, [a]{, policy}",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 31,
     .target = "sm_32", .status = Executes, .family = LoadStore},
    {.syntax = "ldu{.global}{.v2|v4}.<type>  d, [a]",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 20,
     .target = "sm_20", .status = Executes, .family = LoadStore},
    {.syntax = "st{.weak}{.global|local|param|param::func|"
               "<shared>}{.<storecache>}{.<level1>}{.<level2>}{.L2::cache_hint}{.v2|v4|"
               "v8}.<type>  [a], b{, policy}",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 10,
     .status = Executes, .family = LoadStore},
    {.syntax = "st.volatile{.global|<shared>}{.v2|v4|v8}.<type>  [a], b",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 10,
     .status = Executes, .family = LoadStore},
    {.syntax = "st.relaxed|release.<scope>{.global|"
               "<shared>}{.<level1>}{.<level2>}{.L2::cache_hint}{.v2|v4|v8}.<type>  [a], b{, "
               "policy}",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 60,
     .target = "sm_70", .status = Executes, .family = LoadStore},
    {.syntax = "st.mmio.relaxed.sys{.global}.<type>  [a], b",
     .types = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 82,
     .target = "sm_70", .status = Executes, .family = LoadStore},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.and|or|xor.<type>  d, [a]",
     .types = "b32 b64", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.min|max.<type>  d, [a]",
     .types = "u32 s32 u64 s64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.add.<type>  d, [a]",
     .types = "u32 s32 u64 f32 f64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.add.v2|v4.f32  d, [a]",
     .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.add{.acc::f32}{.v2|v4}.<type>  d, [a]",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.add{.acc::f32}.v4|v8.<type>  d, [a]",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.min|max{.v2|v4}.<type>  d, [a]",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.min|max.v4|v8.<type>  d, [a]",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.add{.acc::f16}{.v2|v4}.<type>  d, [a]",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce{.weak}{.global}.min|max{.v2|v4}.<type>  d, [a]",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.and|or|xor.<type>  d, [a]",
     .types = "b32 b64", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.min|max.<type>  d, [a]",
     .types = "u32 s32 u64 s64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.add.<type>  d, [a]",
     .types = "u32 s32 u64 f32 f64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.add.v2|v4.f32  d, [a]",
     .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.add{.acc::f32}{.v2|"
               "v4}.<type>  d, [a]",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.add{.acc::f32}.v4|v8.<type> "
               " d, [a]",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.min|max{.v2|v4}.<type>  d, "
               "[a]",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.min|max.v4|v8.<type>  d, [a]",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.add{.acc::f16}{.v2|"
               "v4}.<type>  d, [a]",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.ld_reduce.relaxed|acquire.<scope>{.global}.min|max{.v2|v4}.<type>  d, "
               "[a]",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.st{.weak}{.global}.<type>  [a], b",
     .types = "b32 b64 u32 u64 s32 s64 f32 f64 f16x2 bf16x2", .since = 81, .target = "sm_90",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st{.weak}{.global}.v2|v4.<type>  [a], b",
     .types = "f16x2 bf16x2 f32", .since = 81, .target = "sm_90",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st{.weak}{.global}.v4|v8.<type>  [a], b",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st{.weak}{.global}{.v2|v4}.<type>  [a], b",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st.relaxed|release.<scope>{.global}.<type>  [a], b",
     .types = "b32 b64 u32 u64 s32 s64 f32 f64 f16x2 bf16x2", .since = 81, .target = "sm_90",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st.relaxed|release.<scope>{.global}.v2|v4.<type>  [a], b",
     .types = "f16x2 bf16x2 f32", .since = 81, .target = "sm_90",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st.relaxed|release.<scope>{.global}.v4|v8.<type>  [a], b",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = LoadStore},
    {.syntax = "multimem.st.relaxed|release.<scope>{.global}{.v2|v4}.<type>  [a], b",
     .types = "e4m3x4 e5m2x4", .since = 86, .target = "sm_100a sm_110a sm_120a",
     .status = Executes, .family = LoadStore},
    {.syntax = "multimem.red{.global}.and|or|xor.<type>  [a], b",
     .types = "b32 b64", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red{.global}.min|max.<type>  [a], b",
     .types = "u32 s32 u64 s64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.red{.global}.add.<type>  [a], b",
     .types = "u32 s32 u64 f32 f64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.red{.global}.add.v2|v4.f32  [a], b",
     .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red{.global}.add{.v2|v4}.<type>  [a], b",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red{.global}.add.v4|v8.<type>  [a], b",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.and|or|xor.<type>  [a], b",
     .types = "b32 b64", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.min|max.<type>  [a], b",
     .types = "u32 s32 u64 s64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.add.<type>  [a], b",
     .types = "u32 s32 u64 f32 f64", .since = 81, .target = "sm_90",
     .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.add.v2|v4.f32  [a], b",
     .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.add{.v2|v4}.<type>  [a], b",
     .types = "f16x2 bf16x2", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "multimem.red.relaxed|release.<scope>{.global}.add.v4|v8.<type>  [a], b",
     .types = "f16 bf16", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "prefetch{.global|local}.L1|L2  [a]",
     .since = 20, .target = "sm_20", .status = Executes, .family = Prefetch},
    {.syntax = "prefetch{.global}.L2::evict_last|L2::evict_normal  [a]",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
    {.syntax = "prefetch{.const|param}.tensormap  [a]",
     .since = 80, .target = "sm_90", .status = Executes, .family = Prefetch},
    {.syntax = "prefetchu.L1  [a]",
     .since = 20, .target = "sm_20", .status = Executes, .family = Prefetch},
    {.syntax = "applypriority{.global}.L2::evict_normal  [a], size",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
    {.syntax = "discard{.global}.L2  [a], size",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
    {.syntax = "createpolicy.fractional.L2::evict_last|L2::evict_normal|L2::evict_first|"
               "L2::evict_unchanged{.L2::evict_first|L2::evict_unchanged}.b64  policy{, "
               "fraction}",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
    {.syntax = "createpolicy.range{.global}.L2::evict_last|L2::evict_normal|L2::evict_first|"
               "L2::evict_unchanged{.L2::evict_first|L2::evict_unchanged}.b64  policy, [a], "
               "primary, total",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
    {.syntax = "createpolicy.cvt.L2.b64  policy, a",
     .since = 74, .target = "sm_80", .status = Executes, .family = Prefetch},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> data_movement() {
  return kForms;
}

}  // namespace weft::isa
