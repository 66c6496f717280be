// SPDX-License-Identifier: Apache-2.0

#include "lattice/claims/experiment.h"

#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/evaluation/scored_split.h"
#include "lattice/selection/importance.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {

namespace {

// The rows without the column that says which domain they are of.
WorldRows without_domain(const WorldRows& rows) {
  std::vector<Choice> kept;
  for (const InputFeature& feature : input_features(rows.schema))
    kept.push_back({.name = feature.name, .selected = feature.name != kDomainFeature});
  WorldRows made = rows;
  made.schema = keep_features(rows.schema, kept);
  made.train = keep_features(rows.train, rows.schema, kept);
  made.valid = keep_features(rows.valid, rows.schema, kept);
  made.test = keep_features(rows.test, rows.schema, kept);
  return made;
}

}  // namespace

Result<ArmResult> run_arm(const WorldRows& rows, const Arm& arm, const ArmOptions& options) {
  if (!arm.sees_domain) {
    Arm blind = arm;
    blind.sees_domain = true;
    return run_arm(without_domain(rows), blind, options);
  }
  const ShardIndex& schema = rows.schema;
  const size_t objectives = schema.labels.size(), domains = schema.domains.size();
  const MemorySource train_source(rows.train), valid_source(rows.valid), test_source(rows.test);
  const Rates rates = count_rates(train_source, schema);
  TrainConfiguration configuration;
  for (size_t o = 0; o < arm.task_weights.size(); ++o)
    configuration.tasks[schema.labels[o].name].weight = arm.task_weights[o];
  const std::vector<ModelPlan> plans = TRY(plan(configuration, arm.portfolios, schema));
  const YamlDocument document = TRY(parse_yaml(arm.network, "network of " + arm.name));

  ArmResult result;
  std::vector<Learner> learners;
  std::vector<ServedModel> served;
  for (const ModelPlan& one : plans) {
    LearnerOptions learning = {.seed = options.seed,
                               .dense = {.learning_rate = arm.learning_rate, .warm_up_steps = 50},
                               .table_learning_rate = arm.table_learning_rate};
    for (size_t j = 0; j < one.tasks.size(); ++j)
      learning.tasks.push_back({one.tasks[j].name, rates.starting_rates(one.domain, one.columns[j],
                                                                        one.tasks[j].windowed)});
    for (size_t d = 0; arm.untied && d < domains; ++d)
      learning.domain_groups.push_back(static_cast<int64_t>(d));
    Learner learner = TRY(Learner::create(schema, document, document.root, learning));
    Training training;
    training.options = {.seed = options.seed,
                        .batch_rows = options.batch_rows,
                        .passes = options.passes,
                        .domain = one.domain};
    for (const Task& task : one.tasks) training.tasks.push_back(task.name);
    training.loss = loss_of(Objective(one.tasks, learner.windows(), {}), one.columns);
    training.source = &train_source;
    training.validation = &valid_source;
    result.validation_loss += TRY(train(learner, training)).validation_loss;
    result.flops += learner.flops_per_sample() * rates.share(one.domain);
    result.dense_parameters += learner.dense_parameters();
    learners.push_back(std::move(learner));
  }
  for (size_t i = 0; i < plans.size(); ++i)
    served.push_back({&learners[i], plans[i].columns, plans[i].domain});
  const ScoredSplit scored = TRY(score(served, test_source, schema, {}));
  for (size_t o = 0; o < objectives; ++o)
    for (size_t d = 0; d < domains; ++d) {
      const Values values =
          quality_of(scored, {o, static_cast<int32_t>(d), 0}, schema, std::nullopt).measure();
      const auto ne = values[static_cast<size_t>(Measure::Entropy)];
      const auto auc = values[static_cast<size_t>(Measure::Auc)];
      if (!ne.value || !auc.value)
        return Error(
            fmt::format("a portfolio of the claim's test rows has no measure: {} in {}: {}",
                        schema.labels[o].name, schema.domains[d], ne.reason + auc.reason),
            "give the claim more impressions");
      result.ne.push_back(*ne.value);
      result.auc.push_back(*auc.value);
    }
  return result;
}

SeedMean paired(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> differences;
  for (size_t i = 0; i < one.size(); ++i) differences.push_back(one[i] - other[i]);
  return across_seeds(differences);
}

std::string text(const SeedMean& mean, int digits) {
  if (!mean.interval) return fmt::format("{:+.{}f}", mean.mean, digits);
  return fmt::format("{:+.{}f} [{:+.{}f}, {:+.{}f}]", mean.mean, digits, mean.interval->low, digits,
                     mean.interval->high, digits);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool surely_below(const SeedMean& difference, double bound) {
  return difference.interval.has_value() && difference.interval->high < bound;
}

}  // namespace weft::lattice
