// SPDX-License-Identifier: Apache-2.0

// A stronger model repairs failed turns, with the judge in the loop. A repair is a trajectory whose
// first turn is the failure as it was, so it is played, resumed, budgeted and judged as every other
// one (ptxbench/agent/run.h), and its folder is that of a run.
//
// Beside the trajectories the output folder gets pairs.jsonl (the failure and every repair that
// passed), evaluations/, and repairs.json: what became of each failure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/agent/run.h"
#include "ptxbench/sft/mining.h"

namespace weft::sft {

struct RepairSettings {
  unsigned turns = 5;                    // answers of the teacher, at most
  std::optional<double> target_speedup;  // go on after a right kernel until it is so fast
  std::string tag;                       // hint packs; empty: those of the failed turn
};

struct Repaired {
  agent::RunOutcome run;
  Json summary;  // repairs.json
  size_t pairs = 0;
};

// `options` has the models as its plan, without trajectories; every model meets every failure.
Result<Repaired> repair(const std::vector<FailedTurn>& failures, agent::RunOptions options,
                        const RepairSettings& settings);

}  // namespace weft::sft
