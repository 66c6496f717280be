// SPDX-License-Identifier: Apache-2.0

// The rule of `.sync.aligned` instructions: the whole warp runs them together.
#pragma once

#include <optional>

#include "ptxbench/emulator/op.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

// Nothing when all 32 lanes are here. Else what the handler returns: Retry while other lanes of the
// warp have yet to arrive, Fault when they cannot (they have left the kernel, never existed, or
// their guard is false).
std::optional<Outcome> not_together(Warp& warp, const Op& op, LaneMask exec);

}  // namespace weft::emulator
