// SPDX-License-Identifier: Apache-2.0

// Exchange between the lanes of a warp: shuffles, votes, matches, reductions, election (sections
// 9.7.9 and 9.7.13).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "shfl.sync.up|down|bfly|idx.b32  d{|p}, a, b, c, mask",
     .since = 60, .target = "sm_30", .status = Executes, .family = WarpExchange},
    {.syntax = "shfl.up|down|bfly|idx.b32  d{|p}, a, b, c",
     .since = 30, .target = "sm_30", .status = Executes, .family = WarpExchange},
    {.syntax = "vote.sync.all|any|uni.pred  d, a, mask",
     .since = 60, .target = "sm_30", .status = Executes, .family = WarpExchange},
    {.syntax = "vote.sync.ballot.b32  d, a, mask",
     .since = 60, .target = "sm_30", .status = Executes, .family = WarpExchange},
    {.syntax = "vote.all|any|uni.pred  d, a",
     .since = 12, .status = Executes, .family = WarpExchange},
    {.syntax = "vote.ballot.b32  d, a",
     .since = 20, .target = "sm_20", .status = Executes, .family = WarpExchange},
    {.syntax = "match.any.sync.<type>  d, a, mask",
     .types = "b32 b64", .since = 60, .target = "sm_70", .status = Executes,
     .family = WarpExchange},
    {.syntax = "match.all.sync.<type>  d{|p}, a, mask",
     .types = "b32 b64", .since = 60, .target = "sm_70", .status = Executes,
     .family = WarpExchange},
    {.syntax = "activemask.b32  d",
     .since = 62, .target = "sm_30", .status = Executes, .family = WarpExchange},
    {.syntax = "redux.sync.add|min|max.u32|s32  d, a, mask",
     .since = 70, .target = "sm_80", .status = Executes, .family = WarpExchange},
    {.syntax = "redux.sync.and|or|xor.b32  d, a, mask",
     .since = 70, .target = "sm_80", .status = Executes, .family = WarpExchange},
    {.syntax = "redux.sync.min|max{.abs}{.NaN}.f32  d, a, mask",
     .since = 86, .target = "sm_100a", .status = Executes, .family = WarpExchange},
    {.syntax = "elect.sync  d|p, mask",
     .since = 80, .target = "sm_90", .status = Executes, .family = WarpExchange},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> warp_exchange() {
  return kForms;
}

}  // namespace weft::isa
