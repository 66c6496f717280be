// SPDX-License-Identifier: Apache-2.0

// The fastest way to hold each block on each rank, under the memory of a rank: a dynamic programme
// over the blocks whose states are (bytes, seconds), exact for costs that add up. States that
// another beats in both go; when more are left than `memory_steps` bins of states take, bins are
// thinned and the answer says that it is no longer exact. Costs that overlap do not add up, so the
// best few of each batch size, and the uniform plans, are scored by the simulator, which decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/sharding/profile.h"
#include "lattice/sharding/simulator.h"
#include "lattice/sharding/strategy.h"
#include "lattice/sharding/table_placement.h"

namespace weft::lattice {

struct AdditivePlan {
  std::vector<Strategy> strategies;
  double bytes = 0, seconds = 0;
};

struct AdditivePlans {
  std::vector<AdditivePlan> fastest;  // the fastest first; empty when none fits
  bool exact = true;
};

// At most `wanted` plans of one batch size within `memory_bytes`.
AdditivePlans plan_blocks(const Profile& profile, size_t batch, double memory_bytes, size_t wanted,
                          size_t memory_steps = 64);

struct ShardingPlan {
  std::string hardware;
  int64_t ranks = 0, ranks_per_host = 0, batch_rows = 0;
  std::vector<Strategy> strategies;
  PlacedTables tables;
  Simulated predicted;
  double rows_per_second = 0;  // of all ranks
  bool exact = true;
};

struct UniformPlan {
  Strategy strategy = Strategy::NoShard;
  std::optional<ShardingPlan> best;  // over batch sizes; none fits otherwise
};

struct PlanReport {
  ShardingPlan plan;
  std::vector<UniformPlan> uniform;
};

// An error names the block or the table that does not fit, bytes needed and available.
Result<PlanReport> make_plan(const Profile& profile, double memory_bytes);

Json to_json(const Profile& profile, const ShardingPlan& plan);
Json to_json(const Profile& profile, const PlanReport& report);

}  // namespace weft::lattice
