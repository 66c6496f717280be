// SPDX-License-Identifier: Apache-2.0

#include "lattice/claims/experiment.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lattice/evaluation/scored_split.h"
#include "lattice/learning/distilled_loss.h"
#include "lattice/selection/importance.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {

namespace {

// Rows that an arm may see: with what its teacher says of them, without the columns that are
// hidden. The teacher is asked first, for it may know a pair by columns that the arm does not see.
struct Seen {
  WorldRows rows;
  Batch test_away;  // of an arm with a teacher: the test rows when the store is away
};

void hide(Batch& batch, const ShardIndex& schema, const std::vector<Choice>& kept) {
  batch = keep_features(batch, schema, kept);
}

Result<Seen> seen_by(const Arm& arm, const WorldRows& rows, const ArmTeacher* teacher) {
  Seen seen{rows, {}};
  if (teacher != nullptr) {
    StudentViewOptions away = teacher->student.view;
    away.dropped_share = 1;
    StudentView view = TRY(StudentView::create(teacher->store, rows.schema, teacher->student.view));
    StudentView none = TRY(StudentView::create(teacher->store, rows.schema, away));
    seen.test_away = rows.test;
    for (Batch* part : {&seen.rows.train, &seen.rows.valid, &seen.rows.test})
      TRY(view.attach(*part));
    TRY(none.attach(seen.test_away));
  }
  std::vector<std::string> hidden = arm.without;
  if (!arm.sees_domain) hidden.emplace_back(kDomainFeature);
  if (hidden.empty()) return seen;
  std::vector<Choice> kept;
  for (const InputFeature& feature : input_features(rows.schema))
    kept.push_back(
        {.name = feature.name,
         .selected = std::find(hidden.begin(), hidden.end(), feature.name) == hidden.end()});
  for (Batch* part : {&seen.rows.train, &seen.rows.valid, &seen.rows.test})
    hide(*part, rows.schema, kept);
  if (teacher != nullptr) hide(seen.test_away, rows.schema, kept);
  seen.rows.schema = keep_features(rows.schema, kept);
  return seen;
}

// [objectives, domains], each with its NE and AUC defined.
Result<std::vector<Values>> measure_portfolios(const ScoredSplit& scored,
                                               const ShardIndex& schema) {
  std::vector<Values> all;
  for (size_t o = 0; o < schema.labels.size(); ++o)
    for (size_t d = 0; d < schema.domains.size(); ++d) {
      all.push_back(
          quality_of(scored, {o, static_cast<int32_t>(d), 0}, schema, std::nullopt).measure());
      const auto ne = all.back()[static_cast<size_t>(Measure::Entropy)];
      const auto auc = all.back()[static_cast<size_t>(Measure::Auc)];
      if (!ne.value || !auc.value)
        return Error(
            fmt::format("a portfolio of the claim's test rows has no measure: {} in {}: {}",
                        schema.labels[o].name, schema.domains[d], ne.reason + auc.reason),
            "give the claim more impressions");
    }
  return all;
}

}  // namespace

Result<ArmResult> run_arm(const WorldRows& rows, const Arm& arm, const ArmOptions& options) {
  const Seen seen = TRY(seen_by(arm, rows, options.teacher));
  const ShardIndex& schema = seen.rows.schema;
  const size_t domains = schema.domains.size();
  const MemorySource train_source(seen.rows.train), valid_source(seen.rows.valid),
      test_source(seen.rows.test);
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
    Training training;
    for (const Task& task : one.tasks) training.tasks.push_back(task.name);
    if (options.teacher != nullptr)
      learning.student = TRY(student_shape(options.teacher->use, options.teacher->student,
                                           options.teacher->store->description(), training.tasks));
    Learner learner = TRY(Learner::create(schema, document, document.root, learning));
    training.options = {.seed = options.seed,
                        .batch_rows = options.batch_rows,
                        .passes = options.passes,
                        .domain = one.domain};
    training.loss = loss_of(Objective(one.tasks, learner.windows(), {}), one.columns);
    if (!learning.student.distilled.empty())
      training.loss = distilled_loss(training.loss, options.teacher->student.loss, learning.student,
                                     one.tasks.size(), learner.windows(), one.columns);
    training.source = &train_source;
    training.validation = &valid_source;
    result.validation_loss += TRY(train(learner, training)).validation_loss;
    result.flops += learner.flops_per_sample() * rates.share(one.domain);
    result.dense_parameters += learner.dense_parameters();
    learners.push_back(std::move(learner));
  }
  for (size_t i = 0; i < plans.size(); ++i)
    served.push_back({&learners[i], plans[i].columns, plans[i].domain});
  const auto measured = [&](const BatchSource& source) -> Result<std::vector<Values>> {
    return measure_portfolios(TRY(score(served, source, schema, {})), schema);
  };
  for (const Values& values : TRY(measured(test_source))) {
    result.ne.push_back(*values[static_cast<size_t>(Measure::Entropy)].value);
    result.auc.push_back(*values[static_cast<size_t>(Measure::Auc)].value);
  }
  if (options.teacher != nullptr) {
    for (const Values& values : TRY(measured(MemorySource(seen.test_away))))
      result.ne_away.push_back(*values[static_cast<size_t>(Measure::Entropy)].value);
    const std::vector<uint8_t>& hits = seen.rows.test.teacher_hit;
    result.hit_rate = static_cast<double>(std::accumulate(hits.begin(), hits.end(), uint64_t{0})) /
                      static_cast<double>(hits.size());
  }
  if (options.keep != nullptr) *options.keep = std::move(learners.front());
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
