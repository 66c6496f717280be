// SPDX-License-Identifier: Apache-2.0

// Asynchronous copies without a tensor map (section 9.7.9.25): cp.async, cp.async.bulk and their
// kin.
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "cp.async.ca.shared|shared::cta.global{.L2::cache_hint}{.<prefetch2>}  [dst], "
               "[src], size{, source_size}{, policy}",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.cg.shared|shared::cta.global{.L2::cache_hint}{.<prefetch2>}  [dst], "
               "[src], size{, source_size}{, policy}",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.commit_group",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.wait_group  n",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.wait_all",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.mbarrier.arrive{.noinc}{.shared|shared::cta}.b64  [barrier]",
     .since = 70, .target = "sm_80", .status = Executes, .family = AsyncCopy},
    {.syntax = "cp.async.bulk.shared::cluster|"
               "shared::cta.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_"
               "hint}  [dst], [src], size, [barrier]{, mask}{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes  [dst], "
               "[src], size, [barrier]",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}  [dst], [src], "
               "size{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask  [dst], "
               "[src], size{, policy}, mask",
     .since = 86, .target = "sm_100", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.an"
               "d|or|xor.b32  [dst], [src], size, [barrier]",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.ad"
               "d.<type>  [dst], [src], size, [barrier]",
     .types = "u32 s32 u64", .since = 80, .target = "sm_90", .status = Executes,
     .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.mi"
               "n|max.<type>  [dst], [src], size, [barrier]",
     .types = "u32 s32", .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.in"
               "c|dec.u32  [dst], [src], size, [barrier]",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.and|or|"
               "xor.<type>  [dst], [src], size{, policy}",
     .types = "b32 b64", .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.<type>  "
               "[dst], [src], size{, policy}",
     .types = "u32 s32 u64 f32 f64", .since = 80, .target = "sm_90", .status = Executes,
     .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.<t"
               "ype>  [dst], [src], size{, policy}",
     .types = "f16 bf16", .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.min|"
               "max.<type>  [dst], [src], size{, policy}",
     .types = "u32 s32 u64 s64 f16 bf16", .since = 80, .target = "sm_90", .status = Executes,
     .family = BulkCopy},
    {.syntax = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.inc|dec.u32 "
               " [dst], [src], size{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.prefetch.L2.global{.L2::cache_hint}  [src], size{, policy}",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.commit_group",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "cp.async.bulk.wait_group{.read}  n",
     .since = 80, .target = "sm_90", .status = Executes, .family = BulkCopy},
    {.syntax = "st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|v4}.<type>  "
               "[a], b, [barrier]",
     .types = "b32 b64 u32 u64 s32 s64 f32 f64", .since = 81, .target = "sm_90", .status = Executes,
     .family = AsyncCopy},
    {.syntax = "st.async.mmio.release.gpu|sys{.global}.<type>  [a], b",
     .types = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", .since = 87,
     .target = "sm_100", .family = AsyncCopy},
    {.syntax = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.and|or|"
               "xor.b32  [a], b, [barrier]",
     .since = 81, .target = "sm_90", .status = Executes, .family = AsyncCopy},
    {.syntax = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.<ty"
               "pe>  [a], b, [barrier]",
     .types = "u32 s32 u64", .since = 81, .target = "sm_90", .status = Executes,
     .family = AsyncCopy},
    {.syntax = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.min|"
               "max.<type>  [a], b, [barrier]",
     .types = "u32 s32", .since = 81, .target = "sm_90", .status = Executes, .family = AsyncCopy},
    {.syntax = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.inc|"
               "dec.u32  [a], b, [barrier]",
     .since = 81, .target = "sm_90", .status = Executes, .family = AsyncCopy},
    {.syntax = "red.async.mmio.release.gpu|sys{.global}.add.<type>  [a], b",
     .types = "u32 s32 u64", .since = 87, .target = "sm_100", .family = AsyncCopy},
    {.syntax = "st.bulk{.weak}{.shared::cta}  [a], size, value",
     .since = 86, .target = "sm_100", .status = Executes, .family = AsyncCopy},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> async_copy() {
  return kForms;
}

}  // namespace weft::isa
