// SPDX-License-Identifier: Apache-2.0

#include "lattice/evaluation/evaluate_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "lattice/evaluation/comparison_page.h"
#include "lattice/evaluation/scored_split.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kBackgrounds = {"slice", "training"};

std::string resolved(const std::string& base, const std::string& path) {
  if (path.empty()) return path;
  return (std::filesystem::path(base) / path).lexically_normal().string();
}

// What the slices of a report are called; the schema of the data gives the order.
Json difference(const ScoredSplit& one, const ScoredSplit& other, const ShardIndex& schema,
                const Resampling& how) {
  Json lines = Json::array();
  for (const SliceKey& key : slices(schema)) {
    const Quality first = quality_of(one, key, schema, std::nullopt);
    const Quality second = quality_of(other, key, schema, std::nullopt);
    if (first.rows() != second.rows()) continue;  // a model that does not answer for the slice
    const Values a = first.measure(), b = second.measure();
    const Intervals bounds = paired_intervals(first, second, how);
    Json line = {
        {"task", schema.labels[key.task].name},
        {"domain",
         key.domain < 0 ? Json(nullptr) : Json(schema.domains[static_cast<size_t>(key.domain)])},
        {"window_seconds",
         schema.labels[key.task].windowed ? Json(schema.windows[key.window]) : Json(nullptr)}};
    for (const Measure measure : {Measure::Entropy, Measure::Auc}) {
      const auto i = static_cast<size_t>(measure);
      if (!a[i].value || !b[i].value || !bounds[i]) continue;
      line[name(measure)] = {
          {"value", *a[i].value - *b[i].value}, {"low", bounds[i]->low}, {"high", bounds[i]->high}};
    }
    lines.push_back(line);
  }
  return lines;
}

bool same_rows(const ScoredSplit& one, const ScoredSplit& other) {
  return one.label == other.label && one.domain == other.domain && one.window == other.window;
}

// The best possible NE of each portfolio, by the world's own truth over its whole log.
Result<Json> best_possible(const std::string& path) {
  if (path.empty()) return Json(nullptr);
  const Json truth = TRY(read_json(path));
  Json lines = Json::array();
  try {
    for (const Json& portfolio : truth.at("portfolios"))
      for (const Json& window : portfolio.at("windows"))
        lines.push_back({{"domain", portfolio.at("domain")},
                         {"task", portfolio.at("objective")},
                         {"window", window.at("window")},
                         {"ne", window.at("bayes_ne")}});
  } catch (const Json::exception& missing) {
    return Error(
        Diagnostic{.message = fmt::format("this is no truth of a world: {}", missing.what()),
                   .hint = "name the truth.json that lattice world writes, or leave it out",
                   .file = path});
  }
  return lines;
}

}  // namespace

Result<EvaluateConfiguration> read_evaluation(const YamlDocument& document, const YamlNode& node,
                                              const std::string& base) {
  EvaluateConfiguration c;
  Fields fields = TRY(Fields::open(document, node, "evaluate"));
  c.models = TRY(read_models_folder(fields, base));
  TRY(fields.read("split", c.split));
  TRY(fields.read("group", c.group));
  TRY(fields.read("truth", c.truth));
  c.truth = resolved(base, c.truth);
  size_t background = 0;
  TRY(fields.read_word("background", background, kBackgrounds));
  c.training_background = background == 1;
  TRY(fields.read("draws", c.resampling.draws, 20));
  TRY(fields.read("seed", c.resampling.seed));
  TRY(fields.read("batch_rows", c.batch_rows, 1));
  TRY(fields.finish());
  c.resampling.unit = c.group.empty() ? Unit::Row : Unit::Group;
  return c;
}

Json to_json(const EvaluateConfiguration& c) {
  return {{"models", c.models},
          {"split", c.split},
          {"group", c.group},
          {"truth", c.truth},
          {"background", kBackgrounds[c.training_background ? 1 : 0]},
          {"draws", c.resampling.draws},
          {"seed", c.resampling.seed},
          {"batch_rows", c.batch_rows}};
}

Result<Json> evaluate_models(const EvaluateConfiguration& c, RunFolder& run,
                             const std::function<void(const std::string&)>& progress) {
  const Json trained = TRY(finished_summary(c.models, "train"));
  const Json best = TRY(best_possible(c.truth));
  const std::string data = trained["data"];
  const ShardIndex schema = TRY(ShardIndex::read(data));
  const auto source = TRY(ShardSource::open(data, c.split));
  ScoringOptions scoring = {.batch_rows = c.batch_rows};
  for (size_t t = 0; t < schema.tables.size(); ++t)
    if (schema.tables[t].name == c.group) scoring.group_table = static_cast<int32_t>(t);
  if (!c.group.empty() && scoring.group_table < 0)
    return Error("the data has no categorical column to group by: " + c.group);
  const Rates rates = Rates::from_json(trained["rates"]);

  Json models = Json::array(), differences = Json::array();
  std::string first_name;
  ScoredSplit first;
  for (const Json& model : trained["models"]) {
    const std::string name = model["name"];
    progress("scoring " + name);
    std::vector<Learner> learners;
    for (const Json& part : model["parts"])
      learners.push_back(TRY(load_part(c.models, trained, model, part, schema)));
    std::vector<ServedModel> served;
    for (size_t i = 0; i < learners.size(); ++i)
      served.push_back({&learners[i], model["parts"][i]["columns"].get<std::vector<size_t>>(),
                        model["parts"][i]["domain"].get<int32_t>()});
    std::optional<StudentView> view;
    std::optional<TaughtSource> taught;
    if (const Json teacher = model.value("teacher", Json()); !teacher.is_null()) {
      view = TRY(open_view(student_from_json(teacher), schema));
      taught.emplace(*source, *view);
    }
    ScoredSplit scored = TRY(score(
        served, taught ? static_cast<const BatchSource&>(*taught) : *source, schema, scoring));
    if (taught) TRY(taught->failure());
    const std::string file = name + ".safetensors";
    TRY(scored.write(run.file(file)));
    TRY(run.record(file));
    progress("measuring " + name);
    const Json lines =
        report(scored, schema, c.resampling, c.training_background ? &rates : nullptr);
    for (Json line : lines) {
      line["model"] = name;
      TRY(run.metric(line));
    }
    models.push_back(
        {{"name", name},
         {"predictions", file},
         {"teacher_use", view ? to_json(view->use(), view->lifetime_seconds()) : Json()},
         {"flops_per_impression", model["flops_per_impression"]},
         {"dense_parameters", model["dense_parameters"]},
         {"table_parameters", model["table_parameters"]},
         {"slices", lines}});
    if (first_name.empty()) {
      first_name = name;
      first = std::move(scored);
    } else {
      differences.push_back({{"model", name},
                             {"against", first_name},
                             {"slices", difference(scored, first, schema, c.resampling)}});
    }
  }
  const Json summary = {{"data", data},     {"split", c.split},           {"rows", source->rows()},
                        {"models", models}, {"differences", differences}, {"best_possible", best}};
  TRY(write_file(run.file("comparison.html"), comparison_page(summary)));
  TRY(run.record("comparison.html"));
  TRY(run.finish(summary));
  return summary;
}

Result<Json> compare_runs(const std::vector<std::string>& folders, const Resampling& how) {
  Json models = Json::array(), differences = Json::array();
  ScoredSplit first;
  ShardIndex schema;
  std::string first_name;
  for (const std::string& folder : folders) {
    const Json summary = TRY(finished_summary(folder, "evaluate"));
    for (Json model : summary["models"]) {
      const std::string file = folder + "/" + model["predictions"].get<std::string>();
      ScoredSplit scored = TRY(ScoredSplit::read(file));
      model["run"] = folder;
      models.push_back(model);
      const std::string name = model["name"];
      if (first_name.empty()) {
        first_name = name;
        first = std::move(scored);
        schema = TRY(ShardIndex::read(summary["data"].get<std::string>()));
        continue;
      }
      if (!same_rows(scored, first))
        return Error(Diagnostic{.message = "the evaluations are of other rows",
                                .hint = "compare evaluations of one split of one data set",
                                .file = file});
      Resampling shared = how;
      if (first.group.empty()) shared.unit = Unit::Row;
      differences.push_back({{"model", name},
                             {"run", folder},
                             {"against", first_name},
                             {"slices", difference(scored, first, schema, shared)}});
    }
  }
  return Json{{"models", models}, {"differences", differences}};
}

}  // namespace weft::lattice
