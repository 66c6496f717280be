// SPDX-License-Identifier: Apache-2.0

// What went wrong in runs, as work for a teacher: the failed turns of trajectories, each kernel
// once, and not one definition or class of error more than the others.
//
// The output folder holds failures.jsonl (what was chosen), pairs.jsonl (failures that their own
// trajectory repaired later), right.jsonl (kernels that passed, each once, for KernelGen rows),
// evaluations/ (the envelopes), and manifest.json: counts, and every turn that was not taken as a
// failure with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/sft/pair.h"
#include "ptxbench/sft/selection.h"

namespace weft::sft {

struct FailedTurn {
  std::string id;  // hash of the kernel, the definition and the axes
  std::string definition, family, workload_uuid, architecture, prompt_tag;
  std::map<std::string, int64_t> axes;  // what departs from the workload
  std::string model;                    // whose turn it is
  std::string origin;                   // trajectory's folder and turn
  JudgedKernel wrong;
  std::string log;  // what the judge said about it
};

Json to_json(const FailedTurn& failure);
// Paths of evaluations come back relative to the working directory.
Result<std::vector<FailedTurn>> read_failures(const std::string& path);

// A pair without its right kernel, at all axes of the task.
Result<Pair> pair_of(const FailedTurn& failure, const problems::Catalogue& catalogue);

struct MiningSettings {
  std::vector<std::string> runs;  // folders that `ptxbench run` wrote
  std::string output;             // folder
  size_t most_per_cell = 0;       // of one definition and error class; 0: no limit
  size_t most = 0;                // in all, taken from the cells in turn; 0: no limit
  double near_duplicate = 0.95;   // kernels of one definition and class that share so much are one
  HeldOut held_out;
};

// The manifest.
Result<Json> mine(const MiningSettings& settings, const problems::Catalogue& catalogue);

}  // namespace weft::sft
