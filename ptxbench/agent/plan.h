// SPDX-License-Identifier: Apache-2.0

// A plan: which models meet which tasks, with which prompts, how often, and what it may cost. Keys
// are strict: a misspelt budget must not be no budget. docs/evaluating_a_model.md lists them all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/agent/trajectory.h"
#include "ptxbench/chat/chat_client.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::agent {

struct Prices {
  double prompt = 0, completion = 0;  // dollars a million tokens
};

struct Model {
  std::string name;      // in reports
  std::string served;    // what the endpoint calls it
  std::string endpoint;  // key of Plan::endpoints
  std::string options = "{}";
  std::optional<Prices> prices;
  bool send_seed = true;  // the replica's number
};

// In dollars; absent without prices.
std::optional<double> cost_of(const Model& model, const chat::Usage& usage);

struct PlannedEndpoint {
  chat::Endpoint endpoint;
  double requests_per_minute = 0;  // 0: no limit
};

struct JudgePlan {
  std::string device = "emulated", emulated_model = "h100";
  std::string url, token_variable;  // of a `ptxbench serve`; empty: judged here
  unsigned parallel = 0;            // judgings at once; 0: half of the cores
  double timeout_seconds = 300;
  std::string cache;  // folder of verdicts; empty: inside the run
};

struct Plan {
  std::map<std::string, PlannedEndpoint> endpoints;
  std::map<std::string, Model> models;
  std::vector<TrajectoryHead> trajectories;  // the matrix, multiplied out
  unsigned parallel = 16;                    // conversations at once
  std::optional<double> budget_dollars;
  std::optional<int64_t> budget_tokens;
  JudgePlan judge;
  size_t feedback_bytes = 6000;
};

// Tasks are looked up, so that an unknown one is an error before anything is spent.
Result<Plan> read_plan(const std::string& file, const problems::Catalogue& catalogue);

// A plan without tasks, for work that brings its own: endpoints, models, judge, budget, parallel
// and feedback_bytes.
Result<Plan> read_models(const std::string& file);

// "hopper" and "blackwell": what kernels are compiled for.
const std::vector<std::string>& architectures();

}  // namespace weft::agent
