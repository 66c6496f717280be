// SPDX-License-Identifier: Apache-2.0

// lattice select: which features a model of many tasks should keep, and why.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/selection/select_run.h"

namespace weft::lattice {
namespace {

std::string report(const Json& summary, const std::string& path) {
  std::vector<Row> rows = {{"feature", "front"}};
  if (summary["features"].empty()) return path + "\n";
  for (const auto& [task, value] : summary["features"][0]["importance"].items())
    rows[0].push_back(task);
  rows[0].insert(rows[0].end(), {"kept", "why"});
  for (const Json& one : summary["features"]) {
    Row row = {one["feature"], one["front"].is_null() ? "-" : one["front"].dump()};
    for (const auto& [task, value] : one["importance"].items())
      row.push_back(fmt::format("{:+.5f}", value.get<double>()));
    row.push_back(one["selected"].get<bool>() ? "yes" : "no");
    row.push_back(one["why"]);
    rows.push_back(row);
  }
  return table(rows) + path + "\n";
}

}  // namespace

Result<Outcome> run_select(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "select"));
  const SelectConfiguration select =
      TRY(read_selection(document, section(document, "select"), base_folder(options)));
  const Json summary = TRY(perform_step(
      options, "select",
      {.configuration = to_json(select),
       .inputs = {select.models + "/manifest.json"},
       .seed = select.choice.seed},
      0, [&](RunFolder& run, const Advance& advance) {
        return select_run(select, run, [&](const std::string& feature) { advance(feature, 0); });
      }));
  return Outcome{.json = to_text(summary), .text = report(summary, out_folder(options, "select"))};
}

}  // namespace weft::lattice
