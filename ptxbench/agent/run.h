// SPDX-License-Identifier: Apache-2.0

// Plays all trajectories of a plan, many at once. Everything it knows is on disk before the next
// step is taken, so a run that was killed goes on where it was: answers are not asked again,
// kernels not judged again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/agent/judging.h"
#include "ptxbench/agent/plan.h"
#include "ptxbench/agent/prompt.h"

namespace weft::agent {

struct RunState {
  size_t trajectories = 0, ended = 0, passed = 0, turns = 0;
  int64_t tokens = 0;
  double dollars = 0;
  uint64_t judged = 0;       // by this process, not found
  std::string now;           // what happened last
  double seconds_left = -1;  // negative: not known
};

struct RunOptions {
  Plan plan;
  const problems::Catalogue* catalogue = nullptr;
  const PromptBook* prompts = nullptr;
  std::string folder;
  // How a trajectory begins; empty: with its task alone. Called by several threads.
  std::function<Result<Trajectory>(const TrajectoryHead&)> begin;
  JudgeKernel judge;
  unsigned judge_parallel = 1;
  const std::atomic<bool>* cancel = nullptr;       // may be null
  std::function<void(const RunState&)> on_change;  // called by one thread at a time; may be empty
};

struct RunOutcome {
  RunState state;
  bool budget_spent = false;
  std::vector<std::string> problems;  // why trajectories are still open, or what was set aside
};

// An error: nothing more can be done, such as a full disk or a folder in use. What was done is
// kept.
Result<RunOutcome> run_plan(const RunOptions& options);

}  // namespace weft::agent
