// SPDX-License-Identifier: Apache-2.0

// A section comes whole from one file: two files are never mixed inside one.
#include "apps/lattice/step.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/progress.h"
#include "base/table/database.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

Result<YamlDocument> load_configuration(const StepOptions& options, const std::string& section) {
  YamlDocument document = options.configuration.empty() ? TRY(parse_yaml("{}", "the command line"))
                                                        : TRY(read_yaml(options.configuration));
  if (document.root.find(section) == nullptr && !options.fallback.empty()) {
    YamlDocument fallback = TRY(read_yaml(options.fallback));
    if (fallback.root.find(section) != nullptr) document = std::move(fallback);
  }
  for (const std::string& assignment : options.set) TRY(set_value(document, assignment));
  Fields fields = TRY(Fields::open(document, document.root, "the configuration"));
  for (const Verb& verb : verbs())
    if (!verb.section.empty()) fields.node(verb.section);
  TRY(fields.finish());
  return document;
}

const YamlNode& section(const YamlDocument& document, const std::string& name) {
  static const YamlNode kNothing;
  const YamlNode* node = document.root.find(name);
  return node == nullptr ? kNothing : *node;
}

std::string base_folder(const StepOptions& options) {
  if (!options.input.empty()) return options.input;
  return std::filesystem::path(options.configuration).parent_path().string();
}

std::string out_folder(const StepOptions& options, const std::string& verb) {
  return options.out.empty() ? "runs/" + verb : options.out;
}

Result<Json> perform_step(const StepOptions& options, const std::string& verb, RunIdentity identity,
                          uint64_t total,
                          const std::function<Result<Json>(RunFolder&, const Advance&)>& work) {
  identity.verb = verb;
  identity.command = options.command;
  identity.versions = {{"duckdb", table::engine_version()}};
  RunFolder run = TRY(RunFolder::open(out_folder(options, verb), std::move(identity)));
  if (run.complete()) return run.summary();
  Progress progress(verb, total);
  const Advance advance = [&](const std::string& stage, uint64_t rows) {
    progress.advance(rows, stage);
  };
  Json summary = TRY(work(run, advance));
  progress.finish();
  return summary;
}

std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string portfolio_table(const Json& portfolios) {
  std::vector<Row> rows = {{"portfolio", "impressions", "rate", "median delay"}};
  for (const Json& one : portfolios)
    rows.push_back({one["name"], one["impressions"].dump(),
                    fmt::format("{:.4f}", one["rate"].get<double>()),
                    one["median_delay_seconds"].is_null()
                        ? "no conversions"
                        : fmt::format("{:.0f} s", one["median_delay_seconds"].get<double>())});
  return table(rows);
}

}  // namespace weft::lattice
