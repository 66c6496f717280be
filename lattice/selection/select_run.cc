// SPDX-License-Identifier: Apache-2.0

#include "lattice/selection/select_run.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "lattice/selection/importance.h"
#include "lattice/training/batch_rows.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kMethods = {"pareto", "weighted_sum", "union", "random"};
const std::vector<std::string> kTieBreaks = {"random", "total_rank"};

Result<Batch> first_rows(const std::string& data, const std::string& split, uint64_t most) {
  const auto source = TRY(ShardSource::open(data, split));
  std::vector<Batch> parts;
  uint64_t rows = 0;
  Batch batch;
  for (Batches next = source->pass({.order = RowOrder::AsWritten}); rows < most && next(batch);) {
    rows += batch.rows;
    parts.push_back(std::move(batch));
  }
  return join(parts);
}

}  // namespace

Result<SelectConfiguration> read_selection(const YamlDocument& document, const YamlNode& node,
                                           const std::string& base) {
  SelectConfiguration c;
  Fields fields = TRY(Fields::open(document, node, "select"));
  c.models = TRY(read_models_folder(fields, base));
  TRY(fields.read("model", c.model));
  TRY(fields.read("split", c.split));
  TRY(fields.read("rows", c.rows, 1));
  TRY(fields.read("repeats", c.repeats, 1));
  TRY(fields.read("floor_deviations", c.floor_deviations, 0, 100));
  TRY(fields.read_word("method", c.choice.method, kMethods));
  TRY(fields.read("budget", c.choice.budget));
  TRY(fields.read_word("tie_break", c.choice.tie_break, kTieBreaks));
  TRY(fields.read("seed", c.choice.seed));
  TRY(fields.finish());
  if (c.choice.budget == 0)
    return fields.error("budget", "select needs the number of features to keep", "budget: 10");
  return c;
}

Json to_json(const SelectConfiguration& c) {
  return {{"models", c.models},
          {"model", c.model},
          {"split", c.split},
          {"rows", c.rows},
          {"repeats", c.repeats},
          {"floor_deviations", c.floor_deviations},
          {"method", kMethods[static_cast<size_t>(c.choice.method)]},
          {"budget", c.choice.budget},
          {"tie_break", kTieBreaks[static_cast<size_t>(c.choice.tie_break)]},
          {"seed", c.choice.seed}};
}

Result<Json> select_run(const SelectConfiguration& c, RunFolder& run,
                        const std::function<void(const std::string&)>& progress) {
  const Json trained = TRY(finished_summary(c.models, "train"));
  const Json* model = nullptr;
  for (const Json& one : trained["models"])
    if (model == nullptr && (c.model.empty() || one["name"] == c.model)) model = &one;
  if (model == nullptr || (*model)["parts"].size() != 1)
    return Error("select needs one merged model, which the training does not have: " + c.model,
                 "name one with model: NAME");
  const Json& part = (*model)["parts"][0];
  const std::string data = trained["data"];
  const ShardIndex schema = TRY(ShardIndex::read(data));
  Learner learner = TRY(load_part(c.models, trained, *model, part, schema));
  const std::vector<size_t> columns = part["columns"];
  std::vector<Task> tasks;
  for (const size_t column : columns)
    tasks.push_back(
        {.name = schema.labels[column].name, .windowed = schema.labels[column].windowed});
  const Batch rows = TRY(first_rows(data, c.split, c.rows));
  if (rows.rows == 0) return Error("the split has no rows: " + c.split);
  const std::vector<MeasuredImportance> measured = TRY(permutation_importance(
      learner, loss_of(Objective(tasks, learner.windows(), {}), columns), rows, schema,
      {.repeats = c.repeats, .seed = c.choice.seed, .progress = progress}));

  // One floor a task: the deviation that an importance has on average.
  SelectionOptions choice = c.choice;
  choice.floor.assign(tasks.size(), 0);
  std::vector<FeatureImportance> features;
  for (const MeasuredImportance& one : measured) {
    features.push_back(one.feature);
    for (size_t j = 0; j < tasks.size(); ++j)
      choice.floor[j] +=
          c.floor_deviations * one.deviation[j] / static_cast<double>(measured.size());
  }
  const std::vector<Choice> choices = select_features(features, choice);
  Json lines = Json::array();
  for (size_t i = 0; i < choices.size(); ++i) {
    Json importance = Json::object(), deviation = Json::object();
    for (size_t j = 0; j < tasks.size(); ++j) {
      importance[tasks[j].name] = features[i].by_task[j];
      deviation[tasks[j].name] = measured[i].deviation[j];
    }
    lines.push_back({{"feature", choices[i].name},
                     {"selected", choices[i].selected},
                     {"front", choices[i].front < 0 ? Json(nullptr) : Json(choices[i].front)},
                     {"why", choices[i].why},
                     {"importance", importance},
                     {"deviation", deviation}});
    TRY(run.metric(lines.back()));
  }
  const Json summary = {{"model", (*model)["name"]},
                        {"split", c.split},
                        {"rows", rows.rows},
                        {"floor", choice.floor},
                        {"features", lines}};
  TRY(run.finish(summary));
  return summary;
}

}  // namespace weft::lattice
