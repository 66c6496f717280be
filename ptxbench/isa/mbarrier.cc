// SPDX-License-Identifier: Apache-2.0

// Barriers in memory with phases and transaction counts, and cluster launch control (section
// 9.7.13).
#include "ptxbench/isa/catalogue.h"

namespace weft::isa {
namespace {

using enum InstructionFamily;
using enum Status;

// clang-format off
constexpr Row kRows[] = {
    {.syntax = "mbarrier.init{.shared|shared::cta}.b64  [a], count",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.inval{.shared|shared::cta}.b64  [a]",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.expect_tx{.relaxed}{.cta|cluster}{.<shared>}.b64  [a], bytes",
     .since = 80, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.complete_tx{.relaxed}{.cta|cluster}{.<shared>}.b64  [a], bytes",
     .since = 80, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive{.relaxed|release}{.cta|cluster}{.<shared>}.b64  state, [a]{, "
               "count}",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive.expect_tx{.relaxed|release}{.cta|cluster}{.<shared>}.b64  "
               "state, [a], bytes",
     .since = 80, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive.noComplete{.release}{.cta|cluster}{.shared|shared::cta}.b64  "
               "state, [a], count",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive_drop{.relaxed|release}{.cta|cluster}{.<shared>}.b64  state, "
               "[a]{, count}",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive_drop.expect_tx{.relaxed|release}{.cta|cluster}{.<shared>}.b64  "
               "state, [a], bytes",
     .since = 80, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.arrive_drop.noComplete{.release}{.cta|cluster}{.shared|"
               "shared::cta}.b64  state, [a], count",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.test_wait{.relaxed|acquire}{.cta|cluster}{.shared|shared::cta}.b64  p, "
               "[a], state",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.test_wait.parity{.relaxed|acquire}{.cta|cluster}{.shared|"
               "shared::cta}.b64  p, [a], parity",
     .since = 71, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.try_wait{.relaxed|acquire}{.cta|cluster}{.shared|shared::cta}.b64  p, "
               "[a], state{, time}",
     .since = 78, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.try_wait.parity{.relaxed|acquire}{.cta|cluster}{.shared|"
               "shared::cta}.b64  p, [a], parity{, time}",
     .since = 78, .target = "sm_90", .status = Executes, .family = Mbarrier},
    {.syntax = "mbarrier.pending_count.b64  count, state",
     .since = 70, .target = "sm_80", .status = Executes, .family = Mbarrier},
    {.syntax = "clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes"
               "{.multicast::cluster::all}.b128  [a], [barrier]",
     .since = 86, .target = "sm_100", .status = Executes, .family = Cluster},
    {.syntax = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p, a",
     .since = 86, .target = "sm_100", .status = Executes, .family = Cluster},
    {.syntax = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d, a",
     .since = 86, .target = "sm_100", .status = Executes, .family = Cluster},
    {.syntax = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x|get_first_ctaid::y|"
               "get_first_ctaid::z.b32.b128  d, a",
     .since = 86, .target = "sm_100", .status = Executes, .family = Cluster},
};
// clang-format on

constexpr auto kForms = read_rows(kRows);

}  // namespace

std::span<const Form> mbarrier() {
  return kForms;
}

}  // namespace weft::isa
