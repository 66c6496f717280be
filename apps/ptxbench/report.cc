// SPDX-License-Identifier: Apache-2.0

// ptxbench report: all verdicts of a folder as a table and as one HTML file; of a run, its metrics.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/report_page.h"
#include "apps/ptxbench/run_report.h"
#include "apps/ptxbench/verbs.h"
#include "apps/ptxbench/verdicts.h"
#include "base/text_file.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string folder, html;
  bool json = false;
};

std::string text_of(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.3g}{}", *value, unit) : "-";
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

int report(const Options& options) {
  if (is_run(options.folder)) return report_run(options.folder, options.json);
  const Result<std::vector<Json>> verdicts = verdicts_below(options.folder);
  if (!verdicts.ok()) return fail(verdicts.error(), kUsage);
  const std::vector<ReportRow> rows = report_rows(*verdicts);
  const std::string file = options.html.empty() ? options.folder + "/report.html" : options.html;
  const Result<Done> written = write_file(file, report_page(rows));
  if (!written.ok()) return fail(written.error(), kEnvironment);
  Json list = Json::array();
  std::vector<Row> lines = {
      {"definition", "workload", "solution", "status", "share", "error", "speed-up", "evidence"}};
  for (const ReportRow& row : rows) {
    list.push_back({{"definition", row.definition},
                    {"workload", row.workload},
                    {"solution", row.solution},
                    {"status", row.status},
                    {"share", or_null(row.share)},
                    {"max_absolute_error", or_null(row.error)},
                    {"speedup", or_null(row.speedup)},
                    {"evidence", row.evidence}});
    lines.push_back({row.definition, row.workload, row.solution, row.status,
                     row.share ? percent(*row.share) : "-", text_of(row.error, ""),
                     text_of(row.speedup, "x"), row.evidence.substr(0, 80)});
  }
  if (options.json)
    print_json({{"html", file}, {"verdicts", list}});
  else
    print(table(lines) + "\n" + file + "\n");
  return kPassed;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("report", "All verdicts of a folder: a table and an HTML file");
  verb->add_option(
          "folder", options->folder,
          "A store of ptxbench serve, a folder of files that eval --save wrote, a folder of "
          "ptxbench run, or a public per-turn table (CSV)")
      ->required();
  verb->add_option("--html", options->html,
                   "Where to write it (default: report.html in the folder)");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = report(*options); });
}

}  // namespace weft::ptxbench
