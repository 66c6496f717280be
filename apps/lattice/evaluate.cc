// SPDX-License-Identifier: Apache-2.0

// lattice evaluate and lattice compare: how good models are, and which differences are more than
// chance.
#include "lattice/evaluation/evaluate_run.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "base/text_file.h"
#include "lattice/evaluation/comparison_page.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

std::string duration(const Json& seconds) {
  if (seconds.is_null()) return "-";
  return format_duration(seconds.get<double>());
}

std::string domain(const Json& line) {
  return line["domain"].is_null() ? "all" : line["domain"].get<std::string>();
}

std::string bounded(const Json& one, int digits) {
  if (!one.contains("value") || one["value"].is_null()) return "-";
  std::string text = fmt::format("{:.{}f}", one["value"].get<double>(), digits);
  if (one.contains("low"))
    text += fmt::format(" [{:.{}f}, {:.{}f}]", one["low"].get<double>(), digits,
                        one["high"].get<double>(), digits);
  return text;
}

std::string best_ne(const Json& best, const Json& line) {
  const std::string window = line["window_seconds"].is_null()
                                 ? "ever"
                                 : format_duration(line["window_seconds"].get<double>());
  for (const Json& one : best)
    if (one["domain"] == line["domain"] && one["task"] == line["task"] && one["window"] == window &&
        !one["ne"].is_null())
      return fmt::format("{:.4f}", one["ne"].get<double>());
  return "-";
}

// What is served only; the rest is in the JSON.
std::string slices(const Json& models, const Json& best) {
  std::vector<Row> rows = {{"task", "domain", "window", "rows", "positives", "model", "NE", "AUC",
                            "calibration", "best NE"}};
  if (models.empty()) return "";
  for (size_t i = 0; i < models[0]["slices"].size(); ++i)
    for (const Json& model : models) {
      const Json& line = model["slices"][i];
      if (!line["served"].get<bool>()) continue;
      rows.push_back({line["task"], domain(line), duration(line["window_seconds"]),
                      line["rows"].dump(), fmt::format("{:.0f}", line["positives"].get<double>()),
                      model["name"], bounded(line["ne"], 4), bounded(line["auc"], 4),
                      bounded(line["calibration"], 3), best_ne(best, line)});
    }
  return table(rows);
}

std::string costs(const Json& models) {
  std::vector<Row> rows = {{"model", "MFLOP an impression", "dense weights", "numbers in tables"}};
  for (const Json& model : models)
    rows.push_back({model["name"],
                    fmt::format("{:.4f}", model["flops_per_impression"].get<double>() / 1e6),
                    model["dense_parameters"].dump(), model["table_parameters"].dump()});
  return table(rows);
}

std::string differences(const Json& list) {
  std::vector<Row> rows = {{"task", "domain", "window", "model", "NE minus that of the first",
                            "AUC minus that of the first"}};
  for (const Json& one : list)
    for (const Json& line : one["slices"])
      rows.push_back({line["task"], domain(line), duration(line["window_seconds"]), one["model"],
                      bounded(line.value("ne", Json::object()), 5),
                      bounded(line.value("auc", Json::object()), 5)});
  return list.empty() ? "" : table(rows);
}

}  // namespace

Result<Outcome> run_evaluate(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "evaluate"));
  EvaluateConfiguration evaluate =
      TRY(read_evaluation(document, section(document, "evaluate"), base_folder(options)));
  evaluate.resampling.workers = options.workers;
  std::vector<std::string> inputs = {evaluate.models + "/manifest.json"};
  if (!evaluate.truth.empty()) inputs.push_back(evaluate.truth);
  const Json summary = TRY(perform_step(
      options, "evaluate",
      {.configuration = to_json(evaluate), .inputs = inputs, .seed = evaluate.resampling.seed}, 0,
      [&](RunFolder& run, const Advance& advance) {
        return evaluate_models(evaluate, run, [&](const std::string& stage) { advance(stage, 0); });
      }));
  return Outcome{.json = to_text(summary),
                 .text = slices(summary["models"], summary["best_possible"]) + "\n" +
                         differences(summary["differences"]) + "\n" + costs(summary["models"]) +
                         out_folder(options, "evaluate") + "\n"};
}

Result<Outcome> run_compare(const StepOptions& options) {
  if (options.runs.empty())
    return Error("compare needs run folders of evaluate", "lattice compare runs/a runs/b");
  const Json compared = TRY(
      compare_runs(options.runs, {.unit = Unit::Group, .draws = 200, .workers = options.workers}));
  std::string page;
  if (!options.out.empty()) {
    page = options.out + "/comparison.html";
    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
    TRY(write_file(page, comparison_page(compared)));
    page = "\nplots: " + page + "\n";
  }
  return Outcome{.json = to_text(compared),
                 .text = slices(compared["models"], Json::array()) + "\n" +
                         differences(compared["differences"]) + "\n" + costs(compared["models"]) +
                         page};
}

}  // namespace weft::lattice
