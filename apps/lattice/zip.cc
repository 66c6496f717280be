// SPDX-License-Identifier: Apache-2.0

// lattice zip: one labelled stream from impressions and later events.
#include "lattice/consolidation/zip.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"

namespace weft::lattice {
namespace {

std::string report(const Json& summary, const std::string& path) {
  std::vector<Row> rows(1);
  for (const auto& [name, value] : summary["labels"][0].items()) rows[0].push_back(name);
  for (const Json& line : summary["labels"]) {
    Row row;
    for (const auto& [name, value] : line.items())
      row.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    rows.push_back(row);
  }
  std::string text = table(rows);
  for (const auto& [name, value] : summary.items())
    if (!value.is_array())
      text += fmt::format("{:<24}{}\n", name,
                          value.is_string() ? value.get<std::string>() : value.dump());
  return text + path + "\n";
}

}  // namespace

Result<Outcome> run_zip(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "zip"));
  const ZipConfiguration configuration =
      TRY(read_zip(document, section(document, "zip"), base_folder(options)));
  const std::vector<std::string> inputs = TRY(zip_inputs(configuration));
  const Json summary = TRY(perform_step(
      options, "zip",
      {.configuration = to_json(configuration), .inputs = inputs, .seed = configuration.seed}, 0,
      [&](RunFolder& run, const Advance& advance) {
        return zip(configuration, run, {.workers = options.workers, .progress = advance});
      }));
  return Outcome{.json = to_text(summary), .text = report(summary, out_folder(options, "zip"))};
}

}  // namespace weft::lattice
