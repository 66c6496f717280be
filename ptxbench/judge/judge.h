// SPDX-License-Identifier: Apache-2.0

// The judge: screen, build, run, correctness, audit, in this order; the first failure ends it, with
// its evidence in the envelope.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptxbench/judge/build.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/judge/run.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/envelope.h"

namespace weft::judge {

struct Settings {
  EmulationSettings emulation;
  BuildLimits build_limits;
  RunLimits run_limits;
  unsigned trials = 2;      // one or two: each has its own poison
  uint64_t input_seed = 0;  // 0: drawn afresh, so that inputs cannot be known beforehand
  // Told when a stage starts; may be empty.
  std::function<void(std::string_view stage)> on_stage;
};

// The error is one of the surroundings (no compiler, no emulator, no scratch space): no verdict.
Result<wire::Envelope> judge(const Candidate& candidate, const problems::Task& task,
                             const Toolchain& toolchain, const Settings& settings);

}  // namespace weft::judge
