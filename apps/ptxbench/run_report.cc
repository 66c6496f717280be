// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/run_report.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "ptxbench/agent/metrics.h"
#ifdef WEFT_RESULTS
#include "ptxbench/results/results.h"
#endif

namespace weft::ptxbench {
namespace {

std::string rate(size_t part, size_t all) {
  const agent::Interval interval = agent::wilson(part, all);
  return fmt::format("{} [{}, {}]", percent(static_cast<double>(part) / static_cast<double>(all)),
                     percent(interval.low), percent(interval.high));
}

Json summary_json(const agent::Summary& summary) {
  Json pass = Json::array();
  for (const agent::PassAtK& entry : summary.pass_at)
    pass.push_back({{"k", entry.k},
                    {"value", entry.value},
                    {"interval", entry.interval ? Json{entry.interval->low, entry.interval->high}
                                                : Json(nullptr)}});
  return {{"by", summary.by},
          {"group", summary.group},
          {"turns", summary.turns},
          {"trajectories", summary.trajectories},
          {"correct", summary.correct},
          {"audited", summary.audited},
          {"best_speedup", summary.best_speedup ? Json(*summary.best_speedup) : Json(nullptr)},
          {"pass_at", std::move(pass)},
          {"mean_tokens", summary.tokens}};
}

}  // namespace

bool is_run(const std::string& path) {
  std::error_code ignored;
  return path.ends_with(".csv") || std::filesystem::is_directory(path + "/trajectories", ignored);
}

int report_run(const std::string& path, bool json) {
  const bool is_table = path.ends_with(".csv");
  const Result<std::vector<agent::TrajectoryRow>> rows =
      is_table ? agent::csv_rows(path) : agent::run_rows(path);
  if (!rows.ok()) return fail(rows.error(), kUsage);
  const std::string folder =
      is_table ? path.substr(0, path.size() - 4) + ".report" : path + "/report";
  Result<Done> written = agent::write_report(folder, *rows);
#ifdef WEFT_RESULTS
  if (written.ok()) written = results::store(folder);
#endif
  if (!written.ok()) return fail(written.error(), kEnvironment);
  Json list = Json::array();
  std::vector<Row> lines = {
      {"by", "group", "turns", "trajectories", "correct", "correct and audited", "best speed-up"}};
  for (const agent::Summary& summary : agent::summaries_of(*rows)) {
    list.push_back(summary_json(summary));
    lines.push_back({summary.by, summary.group, std::to_string(summary.turns),
                     std::to_string(summary.trajectories),
                     rate(summary.correct, summary.trajectories),
                     rate(summary.audited, summary.trajectories),
                     summary.best_speedup ? fmt::format("{:.3f}", *summary.best_speedup) : "-"});
  }
  if (json)
    print_json({{"html", folder + "/report.html"}, {"summaries", std::move(list)}});
  else
    print(table(lines) + "\n" + folder + "/report.html\n");
  return kPassed;
}

}  // namespace weft::ptxbench
