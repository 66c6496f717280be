// SPDX-License-Identifier: Apache-2.0

// lattice inspect: what is in the tables, and whether they leak. Changes nothing.
#include "lattice/ingest/inspection.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/consolidation/partition.h"

namespace weft::lattice {
namespace {

std::string describe(const Json& report) {
  std::string text;
  for (const Json& one : report["tables"]) {
    if (!one.contains("columns")) continue;
    text += fmt::format("{}: {} rows\n", one["name"].get<std::string>(), one["rows"].dump());
    std::vector<Row> rows = {
        {"column", "role", "type", "missing", "distinct, about", "least", "most"}};
    for (const Json& column : one["columns"])
      rows.push_back({column["name"], column["role"], column["stored_type"],
                      column["missing"].dump(), column["distinct_about"].dump(),
                      column["least"].get<std::string>().substr(0, 24),
                      column["most"].get<std::string>().substr(0, 24)});
    text += table(rows);
    for (const Json& label : one["labels"])
      text += fmt::format("{} in {}: {} of {} rows\n", label["label"].get<std::string>(),
                          label["domain"].get<std::string>(),
                          label["rate"].is_null()
                              ? "-"
                              : fmt::format("{:.2f} %", 100 * label["rate"].get<double>()),
                          label["known"].dump());
    for (const Json& pair : one["overlaps"])
      text += fmt::format("{} of {} and {}: Jaccard {:.3f}, containment {:.3f}\n",
                          pair["column"].get<std::string>(), pair["domains"][0].get<std::string>(),
                          pair["domains"][1].get<std::string>(), pair["jaccard"].get<double>(),
                          pair["containment"].get<double>());
    text += "\n";
  }
  if (report.contains("portfolios")) text += portfolio_table(report["portfolios"]) + "\n";
  for (const Json& line : report["audit"])
    text += fmt::format("{:<5}{}: {}\n", line["passed"].get<bool>() ? "ok" : "LEAK",
                        line["check"].get<std::string>(), line["count"].dump());
  return text;
}

}  // namespace

Result<Outcome> run_inspect(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "data"));
  const DataConfiguration data =
      TRY(read_data(document, section(document, "data"), base_folder(options)));
  Json report = TRY(inspect(data));
  // Rates and delays are in the log of feedback, which the partition's section describes.
  if (document.root.find("partition") != nullptr) {
    const PartitionConfiguration log =
        TRY(read_partition(document, section(document, "partition"), base_folder(options)));
    report["portfolios"] = TRY(measure_portfolios(log, options.workers))["portfolios"];
  }
  Outcome outcome{.json = to_text(report), .text = describe(report)};
  for (const Json& line : report["audit"])
    if (!line["passed"].get<bool>()) outcome.exit_code = kFailed;
  return outcome;
}

}  // namespace weft::lattice
