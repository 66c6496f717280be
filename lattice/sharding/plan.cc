// SPDX-License-Identifier: Apache-2.0

// A batch size that fits with no plan is left out; when none fits, the error is that of the first,
// which profiles list from the smallest.
#include "lattice/sharding/plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft::lattice {
namespace {

constexpr size_t kStatesInStep = 16;
constexpr size_t kShortList = 6;
constexpr int64_t kPrefetch = 1;

struct State {
  double bytes = 0, seconds = 0;
  uint32_t parent = 0;
  Strategy strategy = Strategy::NoShard;
};

// Sorted by bytes; only those stay that are faster than all with less.
void keep_front(std::vector<State>& states) {
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  double fastest = std::numeric_limits<double>::infinity();
  size_t kept = 0;
  for (const State& state : states) {
    if (state.seconds >= fastest) continue;
    fastest = state.seconds;
    states[kept++] = state;
  }
  states.resize(kept);
}

// Of a front, the smallest of each bin of bytes and an even choice of the rest.
void thin(std::vector<State>& states, double memory_bytes, size_t steps) {
  const auto bin_of = [&](const State& state) {
    return std::min(steps - 1,
                    static_cast<size_t>(state.bytes / memory_bytes * static_cast<double>(steps)));
  };
  std::vector<State> kept;
  for (size_t from = 0; from < states.size();) {
    size_t to = from;
    while (to < states.size() && bin_of(states[to]) == bin_of(states[from])) ++to;
    const size_t count = to - from, wanted = std::min(count, kStatesInStep);
    for (size_t i = 0; i < wanted; ++i)
      kept.push_back(states[from + (wanted == 1 ? 0 : i * (count - 1) / (wanted - 1))]);
    from = to;
  }
  states = std::move(kept);
}

// Beside what the states count: gathered parameters of one block and of those prefetched, and
// gradients that wait for their reduction.
double working_bytes(const Profile& profile) {
  double largest = 0;
  for (const BlockProfile& block : profile.blocks)
    largest = std::max(largest, block.parameter_bytes);
  return profile.ranks == 1 ? 0 : largest * static_cast<double>(kPrefetch + 2);
}

// The least that a block takes, however it is held.
double least_bytes(const Profile& profile, const BlockProfile& block, size_t batch) {
  double bytes = std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < kStrategies; ++s)
    bytes = std::min(bytes, cost_of(profile, block, static_cast<Strategy>(s)).bytes());
  return bytes + block.activation_bytes[batch];
}

Error blocks_do_not_fit(const Profile& profile, size_t batch, double least, double memory_bytes) {
  const auto needs = [&](const BlockProfile& block) { return least_bytes(profile, block, batch); };
  const auto largest = std::max_element(
      profile.blocks.begin(), profile.blocks.end(),
      [&](const BlockProfile& a, const BlockProfile& b) { return needs(a) < needs(b); });
  return Error(
      fmt::format("blocks do not fit at {} rows: the largest is {}, {:.0f} bytes; needed "
                  "on a rank {:.0f}, available {:.0f}",
                  profile.batch_rows[batch], largest->name, needs(*largest), least, memory_bytes),
      "more memory, more ranks or a smaller batch");
}

}  // namespace

AdditivePlans plan_blocks(const Profile& profile, size_t batch, double memory_bytes, size_t wanted,
                          size_t memory_steps) {
  AdditivePlans plans;
  std::vector<std::vector<State>> layers = {{State{}}};
  for (const BlockProfile& block : profile.blocks) {
    const double seconds = block.forward_seconds[batch] + block.backward_seconds[batch];
    std::array<State, kStrategies> steps;
    for (size_t s = 0; s < kStrategies; ++s) {
      const StrategyCost cost = cost_of(profile, block, static_cast<Strategy>(s));
      steps[s] = {.bytes = cost.bytes() + block.activation_bytes[batch],
                  .seconds = seconds + cost.communication_seconds(),
                  .strategy = static_cast<Strategy>(s)};
    }
    const std::vector<State>& before = layers.back();
    std::vector<State> after;
    after.reserve(before.size() * kStrategies);
    for (uint32_t i = 0; i < before.size(); ++i)
      for (const State& step : steps)
        if (before[i].bytes + step.bytes <= memory_bytes)
          after.push_back(
              {before[i].bytes + step.bytes, before[i].seconds + step.seconds, i, step.strategy});
    keep_front(after);
    if (after.size() > memory_steps * kStatesInStep) {
      thin(after, memory_bytes, memory_steps);
      plans.exact = false;
    }
    layers.push_back(std::move(after));
  }
  const std::vector<State>& last = layers.back();
  for (size_t back = 0; back < std::min(wanted, last.size()); ++back) {
    size_t index = last.size() - 1 - back;
    AdditivePlan plan{.bytes = last[index].bytes, .seconds = last[index].seconds};
    for (size_t l = layers.size() - 1; l > 0; --l) {
      plan.strategies.push_back(layers[l][index].strategy);
      index = layers[l][index].parent;
    }
    std::reverse(plan.strategies.begin(), plan.strategies.end());
    plans.fastest.push_back(std::move(plan));
  }
  return plans;
}

Result<PlanReport> make_plan(const Profile& profile, double memory_bytes) {
  PlanReport report;
  for (size_t s = 0; s < kStrategies; ++s)
    report.uniform.push_back({.strategy = static_cast<Strategy>(s)});
  std::optional<Error> why_not;
  double best_rate = 0;
  for (size_t batch = 0; batch < profile.batch_rows.size(); ++batch) {
    const int64_t rows = profile.batch_rows[batch];
    double least = 0;
    for (const BlockProfile& block : profile.blocks) least += least_bytes(profile, block, batch);
    const double for_tables = memory_bytes - least;
    if (for_tables < 0) {
      if (!why_not) why_not = blocks_do_not_fit(profile, batch, least, memory_bytes);
      continue;
    }
    // Tables that may take all, or leave room for faster blocks.
    for (const double share : {1.0, 0.5, 0.25, 0.1, 0.0}) {
      Result<PlacedTables> tables = place_tables(profile, rows, for_tables * share);
      if (!tables.ok()) {
        if (share == 1.0 && !why_not) why_not = tables.error();
        break;
      }
      const double left = memory_bytes - tables->most_bytes;
      std::vector<std::vector<Strategy>> candidates;
      bool exact = true;
      for (const double memory : {left, left - working_bytes(profile)}) {
        const AdditivePlans found = plan_blocks(profile, batch, memory, kShortList);
        exact = exact && found.exact;
        for (const AdditivePlan& one : found.fastest) candidates.push_back(one.strategies);
      }
      for (size_t s = 0; s < kStrategies; ++s)
        candidates.emplace_back(profile.blocks.size(), static_cast<Strategy>(s));
      for (size_t c = 0; c < candidates.size(); ++c) {
        const Simulated predicted = simulate(profile, batch, candidates[c],
                                             {tables->seconds, tables->most_bytes}, kPrefetch);
        if (predicted.peak_bytes > memory_bytes) continue;
        const double rate = static_cast<double>(rows * profile.ranks) / predicted.seconds;
        ShardingPlan plan{.hardware = profile.hardware,
                          .ranks = profile.ranks,
                          .ranks_per_host = profile.ranks_per_host,
                          .batch_rows = rows,
                          .strategies = candidates[c],
                          .tables = *tables,
                          .predicted = predicted,
                          .rows_per_second = rate,
                          .exact = exact};
        if (c + kStrategies >= candidates.size()) {
          UniformPlan& uniform = report.uniform[c + kStrategies - candidates.size()];
          if (!uniform.best || rate > uniform.best->rows_per_second) uniform.best = plan;
        }
        if (rate > best_rate) {
          best_rate = rate;
          report.plan = std::move(plan);
        }
      }
      if (profile.tables.empty()) break;
    }
    if (best_rate == 0 && !why_not)
      why_not = Error(
          fmt::format("no plan fits at {} rows: blocks need {:.0f} bytes between steps and up to "
                      "{:.0f} while they compute, available {:.0f}",
                      rows, least, least + working_bytes(profile), memory_bytes),
          "more memory, more ranks or a smaller batch");
  }
  if (best_rate == 0) return *why_not;
  return report;
}

Json to_json(const Profile& profile, const ShardingPlan& plan) {
  Json json = {{"hardware", plan.hardware},
               {"ranks", plan.ranks},
               {"ranks_per_host", plan.ranks_per_host},
               {"batch_rows", plan.batch_rows},
               {"predicted_step_seconds", plan.predicted.seconds},
               {"predicted_peak_bytes", plan.predicted.peak_bytes},
               {"predicted_rows_per_second", plan.rows_per_second},
               {"exact", plan.exact}};
  json["blocks"] = Json::array();
  for (size_t l = 0; l < plan.strategies.size(); ++l)
    json["blocks"].push_back(
        {{"name", profile.blocks[l].name},
         {"strategy", kStrategyWords[static_cast<size_t>(plan.strategies[l])]}});
  json["tables"] = Json::array();
  for (size_t i = 0; i < plan.tables.placements.size(); ++i)
    json["tables"].push_back(
        {{"name", profile.tables[i].name},
         {"placement", kPlacementWords[static_cast<size_t>(plan.tables.placements[i])]},
         {"rank", plan.tables.owners[i] < 0 ? Json() : Json(plan.tables.owners[i])}});
  return json;
}

Json to_json(const Profile& profile, const PlanReport& report) {
  Json json = {{"plan", to_json(profile, report.plan)}, {"uniform", Json::array()}};
  for (const UniformPlan& one : report.uniform)
    json["uniform"].push_back(
        {{"strategy", kStrategyWords[static_cast<size_t>(one.strategy)]},
         {"batch_rows", one.best ? Json(one.best->batch_rows) : Json()},
         {"predicted_rows_per_second", one.best ? Json(one.best->rows_per_second) : Json()},
         {"reason", one.best ? Json() : Json("does not fit")}});
  return json;
}

}  // namespace weft::lattice
