// SPDX-License-Identifier: Apache-2.0

// The fourth stage: are the bytes that came back right, and are the inputs still what they were?
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ptxbench/judge/run.h"
#include "ptxbench/problems/comparison.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/trace.h"

namespace weft::judge {

struct CorrectnessOutcome {
  std::optional<wire::Status> failure;
  std::string evidence;
  wire::Correctness correctness;
};

Result<CorrectnessOutcome> check_correctness(const RunRequest& request, const RunOutcome& run,
                                             const problems::Task& task);

// "matrix element C[3, 7] is 0.5, expected 1.25; ..." for one output that did not pass.
std::string explain(const wire::OutputComparison& comparison);

}  // namespace weft::judge
