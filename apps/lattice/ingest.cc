// SPDX-License-Identifier: Apache-2.0

// lattice ingest: tables become training shards.
#include "lattice/ingest/ingest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"

namespace weft::lattice {
namespace {

std::string report(const Json& index, const std::string& path) {
  std::vector<Row> rows = {{"split", "rows", "shards", "positives"}};
  for (const auto& [name, split] : index["splits"].items())
    rows.push_back({name, split["rows"].dump(), std::to_string(split["shards"].size()),
                    split["positives"].dump()});
  std::string text = table(rows);
  rows = {{"column", "table rows", "unknown in training"}};
  for (const Json& column : index["categorical"])
    rows.push_back({column["name"], column["table_rows"].dump(),
                    fmt::format("{:.2f} %", 100 * column["unknown_share"].get<double>())});
  return text + table(rows) + path + "/index.json\n";
}

}  // namespace

Result<Outcome> run_ingest(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "data"));
  const DataConfiguration data =
      TRY(read_data(document, section(document, "data"), base_folder(options)));
  const std::vector<std::string> inputs = TRY(ingest_inputs(data));
  const Json index = TRY(
      perform_step(options, "ingest", {.configuration = to_json(data), .inputs = inputs}, 0,
                   [&](RunFolder& run, const Advance& advance) {
                     return ingest(data, run, {.workers = options.workers, .progress = advance});
                   }));
  return Outcome{.json = to_text(index), .text = report(index, out_folder(options, "ingest"))};
}

}  // namespace weft::lattice
