// SPDX-License-Identifier: Apache-2.0

// Barriers of a block, a warp and a cluster, and fences (section 9.7.13).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "barrier{.cta}.sync{.aligned}  a{, b}",
     .since = 60, .target = "sm_30", .status = Executes, .family = Barrier},
    {.syntax = "barrier{.cta}.arrive{.aligned}  a, b",
     .since = 60, .target = "sm_30", .status = Executes, .family = Barrier},
    {.syntax = "barrier{.cta}.red.popc{.aligned}.u32  d, a{, b}, c",
     .since = 60, .target = "sm_30", .status = Executes, .family = Barrier},
    {.syntax = "barrier{.cta}.red.and|or{.aligned}.pred  p, a{, b}, c",
     .since = 60, .target = "sm_30", .status = Executes, .family = Barrier},
    {.syntax = "bar{.cta}.sync  a{, b}", .since = 10, .status = Executes, .family = Barrier},
    {.syntax = "bar{.cta}.arrive  a, b", .since = 10, .status = Executes, .family = Barrier},
    {.syntax = "bar{.cta}.red.popc.u32  d, a{, b}, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Barrier},
    {.syntax = "bar{.cta}.red.and|or.pred  p, a{, b}, c",
     .since = 20, .target = "sm_20", .status = Executes, .family = Barrier},
    {.syntax = "bar.warp.sync  mask",
     .since = 60, .target = "sm_30", .status = Executes, .family = Barrier},
    {.syntax = "barrier.cluster.arrive{.release|relaxed}{.aligned}",
     .since = 78, .target = "sm_90", .status = Executes, .family = ClusterBarrier},
    {.syntax = "barrier.cluster.wait{.acquire}{.aligned}",
     .since = 78, .target = "sm_90", .status = Executes, .family = ClusterBarrier},
    {.syntax = "fence{.sc|acq_rel|acquire|release}.<scope>",
     .since = 60, .target = "sm_70", .status = Executes, .family = Fence},
    {.syntax = "fence.mbarrier_init.release.cluster",
     .since = 80, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.acquire.sync_restrict::shared::cluster.cluster",
     .since = 86, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.release.sync_restrict::shared::cta.cluster",
     .since = 86, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.alias",
     .since = 75, .target = "sm_70", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.async{.global|shared::cta|shared::cluster}",
     .since = 80, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.tensormap::generic.release.<scope>",
     .since = 83, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.tensormap::generic.acquire.<scope>  [a], size",
     .since = 83, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
     .since = 86, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
     .since = 86, .target = "sm_90", .status = Executes, .family = Fence},
    {.syntax = "membar.cta|gl|sys", .since = 14, .status = Executes, .family = Fence},
    {.syntax = "membar.proxy.alias",
     .since = 75, .target = "sm_70", .status = Executes, .family = Fence},
    {.syntax = "griddepcontrol.launch_dependents|wait",
     .since = 78, .target = "sm_90", .status = Executes, .family = DependentLaunch},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> barriers() {
  return kForms;
}

}  // namespace weft::isa
