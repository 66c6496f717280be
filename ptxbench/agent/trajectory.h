// SPDX-License-Identifier: Apache-2.0

// A trajectory: one model at one task, turn by turn. On disk it is a folder:
//   trajectory.json   messages in mini-swe-agent's form; all fields below live in it
//   kernel_vN.cu      the code of turn N, from 1; absent when the answer had none
//   verdict_vN.json   its envelope ptxbench.eval.v1
//   success/          copies of the kernels that passed
// trajectory.json is replaced as a whole after each answer and after each verdict, so a kill at any
// moment leaves either state, and a turn whose verdict is there is never judged again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/agent/verdict_summary.h"

namespace weft::agent {

struct TrajectoryHead {
  std::string id;  // the folder's name
  std::string model, definition, family, architecture, prompt_tag, workload_uuid;
  std::map<std::string, int64_t> axes;  // what departs from the workload
  unsigned replica = 0, turns = 8;      // turns: at most
  std::optional<double> target_speedup;
};

struct Tokens {
  int64_t prompt = 0, completion = 0;  // completion counts reasoning too
  int64_t reasoning = 0;
  bool estimated = false;  // the endpoint reported none
};

struct Turn {
  std::string answer, reasoning;
  std::string finish;  // how the answer ended: the names of chat::ending_name
  Tokens tokens;
  std::optional<double> cost;  // in dollars; absent when the plan has no prices
  std::string code;            // of the last block; empty when `problem` says why
  std::string problem;
  std::string feedback;    // what the model is told next; empty: not yet judged
  std::string judged_key;  // of the verdict cache; empty: not judged
  VerdictSummary verdict;  // error_class empty: not yet judged

  bool complete() const { return !verdict.error_class.empty(); }
};

struct Trajectory {
  TrajectoryHead head;
  std::string system, task;  // the first two messages
  std::vector<Turn> turns;
  std::string ended;   // why it is over: "passed", "target", "turns", "no_answer", ...; empty: open
  std::string reason;  // in words, when it ended early
};

// Reads trajectory.json and the code beside it; the answers are in it whole. The error names the
// file and the place where it is damaged.
Result<Trajectory> read_trajectory(const std::string& folder);
// Writes trajectory.json. The caller has written the code and the verdict before.
Result<Done> write_trajectory(const std::string& folder, const Trajectory& trajectory);

// Turn numbers count from 1.
std::string kernel_file(const std::string& folder, size_t turn);
std::string verdict_file(const std::string& folder, size_t turn);

// Folders below `run`/trajectories that hold a trajectory.json, sorted.
Result<std::vector<std::string>> trajectory_folders(const std::string& run);

}  // namespace weft::agent
