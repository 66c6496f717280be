// SPDX-License-Identifier: Apache-2.0

// Atomics and reductions (section 9.7.13: atom, red).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|"
               "<shared>}.add{.L2::cache_hint}.<type>  d, [a], b{, policy}",
     .types = "u32 s32 u64 f32 f64", .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|"
               "<shared>}.add.noftz{.L2::cache_hint}.<type>  d, [a], b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 62, .target = "sm_70", .status = Executes,
     .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|<shared>}.min|"
               "max{.L2::cache_hint}.<type>  d, [a], b{, policy}",
     .types = "u32 s32 u64 s64", .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|<shared>}.inc|"
               "dec{.L2::cache_hint}.u32  d, [a], b{, policy}",
     .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|<shared>}.and|or|"
               "xor{.L2::cache_hint}.<type>  d, [a], b{, policy}",
     .types = "b32 b64", .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|"
               "<shared>}.exch{.L2::cache_hint}.<type>  d, [a], b{, policy}",
     .types = "b32 b64", .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|"
               "<shared>}.exch{.L2::cache_hint}.b128  d, [a], b{, policy}",
     .since = 83, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|"
               "<shared>}.cas{.L2::cache_hint}.<type>  d, [a], b, c{, policy}",
     .types = "b32 b64", .since = 11, .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|<shared>}.cas.b16  d, "
               "[a], b, c",
     .since = 63, .target = "sm_70", .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global|<shared>}.cas.b128  d, "
               "[a], b, c",
     .since = 83, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|"
               "acq_rel}{.<scope>}{.global}.add{.L2::cache_hint}.v2|v4.<type>  d, [a], b{, "
               "policy}",
     .types = "f32", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|"
               "acq_rel}{.<scope>}{.global}.add.noftz{.L2::cache_hint}.v2|v4|v8.<type>  d, [a], "
               "b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 81, .target = "sm_90", .status = Executes,
     .family = Atomic},
    {.syntax = "atom{.relaxed|acquire|release|acq_rel}{.<scope>}{.global}.min|"
               "max.noftz{.L2::cache_hint}.v2|v4|v8.<type>  d, [a], b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 81, .target = "sm_90", .status = Executes,
     .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global|<shared>}.add{.L2::cache_hint}.<type>  "
               "[a], b{, policy}",
     .types = "u32 s32 u64 f32 f64", .since = 12, .status = Executes, .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global|"
               "<shared>}.add.noftz{.L2::cache_hint}.<type>  [a], b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 62, .target = "sm_70", .status = Executes,
     .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global|<shared>}.min|"
               "max{.L2::cache_hint}.<type>  [a], b{, policy}",
     .types = "u32 s32 u64 s64", .since = 12, .status = Executes, .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global|<shared>}.inc|dec{.L2::cache_hint}.u32  "
               "[a], b{, policy}",
     .since = 12, .status = Executes, .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global|<shared>}.and|or|"
               "xor{.L2::cache_hint}.<type>  [a], b{, policy}",
     .types = "b32 b64", .since = 12, .status = Executes, .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global}.add{.L2::cache_hint}.v2|v4.<type>  "
               "[a], b{, policy}",
     .types = "f32", .since = 81, .target = "sm_90", .status = Executes, .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global}.add.noftz{.L2::cache_hint}.v2|v4|"
               "v8.<type>  [a], b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 81, .target = "sm_90", .status = Executes,
     .family = Atomic},
    {.syntax = "red{.relaxed|release}{.<scope>}{.global}.min|max.noftz{.L2::cache_hint}.v2|v4|"
               "v8.<type>  [a], b{, policy}",
     .types = "f16 f16x2 bf16 bf16x2", .since = 81, .target = "sm_90", .status = Executes,
     .family = Atomic},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> atomics() {
  return kForms;
}

}  // namespace weft::isa
