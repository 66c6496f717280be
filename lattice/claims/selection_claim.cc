// SPDX-License-Identifier: Apache-2.0

// Claim 4: choosing features by Pareto fronts never starves a task. One objective is rare and
// weighs little, and has private features that help nobody else. A model with all features gives
// the importances on the validation rows; every method chooses as many features from the same
// numbers, and a new model is trained on its choice alone.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/claims/claims.h"
#include "lattice/selection/importance.h"
#include "lattice/training/rates.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {
namespace {

constexpr const char* kNetwork = "{kind: mlp, width: 8, hidden: [48, 24], head: [16]}";
constexpr uint64_t kBudget = 10;

struct Named {
  const char* name;
  Method method;
};
constexpr Named kMethods[] = {{"pareto", Method::Pareto},
                              {"weighted sum", Method::WeightedSum},
                              {"union", Method::Union},
                              {"random", Method::Random}};

WorldConfiguration world(uint64_t seed, uint64_t impressions) {
  WorldConfiguration w = small_world(seed, impressions);
  w.private_features = 4;
  w.noise_features = 8;
  w.objectives = {{.name = "click", .rate = 0.25, .signal = 1.3},
                  {.name = "like", .rate = 0.15, .signal = 1.2},
                  {.name = "purchase", .rate = 0.05, .signal = 1}};
  return w;
}

// What a portfolio's owner would weigh tasks with: by how often they happen.
const std::vector<double> kWeights = {1, 0.6, 0.2};

Result<std::vector<MeasuredImportance>> measure_importance(const WorldRows& rows, uint64_t seed) {
  const MemorySource train_source(rows.train), valid_source(rows.valid);
  const Rates rates = count_rates(train_source, rows.schema);
  const YamlDocument document = TRY(parse_yaml(kNetwork, "network"));
  LearnerOptions learning = {.seed = seed, .dense = {.learning_rate = 2e-3, .warm_up_steps = 50}};
  std::vector<Task> tasks;
  std::vector<size_t> columns;
  for (size_t o = 0; o < rows.schema.labels.size(); ++o) {
    learning.tasks.push_back({rows.schema.labels[o].name, rates.starting_rates(-1, o, false)});
    tasks.push_back({.name = rows.schema.labels[o].name});
    columns.push_back(o);
  }
  Learner learner = TRY(Learner::create(rows.schema, document, document.root, learning));
  Training training;
  training.options = {.seed = seed, .batch_rows = 512};
  training.loss = loss_of(Objective(tasks, 1, {}), columns);
  for (const Task& task : tasks) training.tasks.push_back(task.name);
  training.source = &train_source;
  TRY(train(learner, training));
  return permutation_importance(learner, training.loss, rows.valid, rows.schema,
                                {.repeats = 3, .seed = seed});
}

}  // namespace

Result<ClaimReport> claim_selection(const ClaimOptions& options) {
  const uint64_t impressions = options.impressions == 0 ? 120'000 : options.impressions;
  constexpr size_t kCount = std::size(kMethods);
  std::vector<std::vector<double>> worst(kCount);  // [method][seed]
  std::vector<std::vector<std::vector<double>>> by_task(kCount);
  std::vector<double> recovered(kCount, 0);
  size_t objectives = 0;
  for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
    options.progress(fmt::format("seed {}: all features", seed));
    const WorldRows rows = TRY(draw_rows(world(seed, impressions)));
    objectives = rows.schema.labels.size();
    const std::vector<MeasuredImportance> measured = TRY(measure_importance(rows, seed));
    std::vector<FeatureImportance> features;
    std::vector<double> floor(objectives, 0);
    for (const MeasuredImportance& one : measured) {
      features.push_back(one.feature);
      for (size_t j = 0; j < objectives; ++j)
        floor[j] += 2 * one.deviation[j] / static_cast<double>(measured.size());
    }
    for (size_t m = 0; m < kCount; ++m) {
      options.progress(fmt::format("seed {}: {}", seed, kMethods[m].name));
      const std::vector<Choice> choices =
          select_features(features, {.method = kMethods[m].method,
                                     .budget = kBudget,
                                     .floor = floor,
                                     .weights = kWeights,
                                     .tie_break = TieBreak::TotalRank,
                                     .seed = seed});
      WorldRows kept = rows;
      kept.schema = keep_features(rows.schema, choices);
      kept.train = keep_features(rows.train, rows.schema, choices);
      kept.valid = keep_features(rows.valid, rows.schema, choices);
      kept.test = keep_features(rows.test, rows.schema, choices);
      const ArmResult result = TRY(run_arm(kept, {.name = kMethods[m].name, .network = kNetwork},
                                           {.seed = seed, .batch_rows = 512}));
      // A task's NE is the mean over its domains.
      std::vector<double> ne(objectives, 0);
      const size_t domains = rows.schema.domains.size();
      for (size_t o = 0; o < objectives; ++o)
        for (size_t d = 0; d < domains; ++d)
          ne[o] += result.ne[o * domains + d] / static_cast<double>(domains);
      // Tasks differ in how predictable they are, so the worst is the one farthest above its best.
      double most = 0;
      for (size_t o = 0; o < objectives; ++o) {
        double best = 0;
        for (size_t d = 0; d < domains; ++d)
          best += best_ne(rows, rows.train.rows + rows.valid.rows, o, static_cast<int32_t>(d)) /
                  static_cast<double>(domains);
        most = std::max(most, ne[o] - best);
      }
      worst[m].push_back(most);
      by_task[m].push_back(ne);
      for (const Choice& one : choices)
        recovered[m] += one.selected && one.name.find("purchase") != std::string::npos
                            ? 1 / static_cast<double>(options.seeds)
                            : 0;
    }
  }
  ClaimReport report;
  report.rows = {{"method", "worst task: NE above the best possible", "against pareto",
                  "private features of purchase kept"}};
  report.holds = true;
  for (size_t m = 0; m < kCount; ++m) {
    const SeedMean difference = paired(worst[m], worst[0]);
    // Better or tied: no data that could not tell is taken for a tie.
    if (m != 0 && !surely_below(paired(worst[0], worst[m]), kEqualNe)) report.holds = false;
    report.rows.push_back({kMethods[m].name, fmt::format("{:.4f}", mean(worst[m])),
                           m == 0 ? "" : text(difference), fmt::format("{:.1f}", recovered[m])});
    report.json["methods"].push_back(
        {{"name", kMethods[m].name}, {"worst", worst[m]}, {"ne", by_task[m]}});
  }
  report.verdict =
      fmt::format("the worst task of fronts is {} within {} NE of every other method's, or better",
                  report.holds ? "surely" : "not shown to be", kEqualNe);
  return report;
}

}  // namespace weft::lattice
