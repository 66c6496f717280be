// SPDX-License-Identifier: Apache-2.0

// A wrong kernel and a right one for the same task, both judged: what a repair is learnt from. A
// kernel that was right at once has no wrong one beside it, and leads to no repair. The
// verdicts are files beside the pair, named by their content, so that every training row leads back
// to what the judge said.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/agent/verdict_summary.h"

namespace weft::sft {

struct JudgedKernel {
  std::string source;
  std::string evaluation;         // path of the envelope, from the folder of the pairs' file
  std::string evaluation_sha256;  // of its bytes
  agent::VerdictSummary verdict;
};

struct Pair {
  std::string id;    // hash of both sources, the definition and the axes
  std::string kind;  // "injected", "repaired" (by a teacher), "self-repaired" or "right"
  std::string definition, family, workload_uuid;
  std::string architecture = "hopper";
  std::map<std::string, int64_t> axes;  // every axis
  std::string cause;                    // the fault's name, or the model that repaired
  std::string meaning;                  // of the fault; empty when nobody knows
  std::string origin;                   // the kernel's file or the trajectory, with the turn
  uint32_t line = 0;                    // of the change in the wrong source; 0: not one place
  JudgedKernel wrong, fixed;            // "right": `wrong` is empty
  std::string log;                      // what the judge said about the wrong kernel
  std::string reasoning;  // of a teacher: from the failure to the repair; empty: none yet
  std::string design;     // of a teacher: why the right kernel is as it is; empty: none yet

  bool is_repair() const { return !wrong.source.empty(); }
};

Json to_json(const JudgedKernel& kernel);
JudgedKernel kernel_from(const Json& json);  // may throw what the JSON library throws
Json to_json(const Pair& pair);
// `file` and `line` are for diagnostics.
Result<Pair> pair_from(const Json& json, const std::string& file, uint32_t line);

// The pairs of a file: one a line, or a line's "pair" (null: that attempt led to none). Paths of
// evaluations come back relative to the working directory.
Result<std::vector<Pair>> read_pairs(const std::string& path);

std::string pair_id(const Pair& pair);

// To be written into `folder`: evaluations are named from there, so that both can move together.
Json to_json_in(Pair pair, const std::string& folder);

// Writes an envelope's text into `folder`/evaluations and names it in the kernel.
Result<Done> keep_evaluation(JudgedKernel& kernel, const std::string& folder, const Json& envelope);

}  // namespace weft::sft
