// SPDX-License-Identifier: Apache-2.0

// The judge: screen, build, sanitize, correctness, audit, timing, in this order; the first failure
// ends it, with its evidence in the envelope.
#pragma once

#include <span>

#include "base/result.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/judge/settings.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/envelope.h"

namespace weft::judge {

// The tasks are workloads of one definition, at least one. Each gets a trace of its own; the
// candidate is built once. The error is one of the surroundings (no compiler, no emulator, no
// scratch space) or a cancellation: no verdict.
Result<wire::Envelope> judge(const Candidate& candidate, std::span<const problems::Task> tasks,
                             const Toolchain& toolchain, const Settings& settings);
Result<wire::Envelope> judge(const Candidate& candidate, const problems::Task& task,
                             const Toolchain& toolchain, const Settings& settings);

}  // namespace weft::judge
