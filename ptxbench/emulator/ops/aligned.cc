// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/aligned.h"

#include <fmt/format.h>

namespace weft::emulator {

std::optional<Outcome> not_together(Warp& warp, const Op& op, LaneMask exec) {
  if (exec == kAllLanes) [[likely]]
    return std::nullopt;
  if (!warp.converged(kAllLanes)) return warp.retry(Split::Wait::WarpSync, warp.live);
  const bool guarded = exec != warp.active;
  const LaneMask missing = ~exec;
  return warp.fault(
      op, first_lane(exec), FaultKind::DivergentInstruction,
      fmt::format("an .aligned instruction needs all 32 lanes of its warp, lanes here: {:#010x}",
                  exec),
      0,
      {fmt::format("lane {} {}", first_lane(missing),
                   guarded ? "has a false guard"
                           : "has left the kernel or is beyond the end of the block")});
}

}  // namespace weft::emulator
