// SPDX-License-Identifier: Apache-2.0

// lattice sketch: how to hold a network on the ranks that train it.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/sharding/plan.h"

namespace weft::lattice {
namespace {

// "80GB", "64 GiB", "512MB" or bytes.
Result<double> bytes_of(const std::string& text) {
  static const std::vector<std::pair<std::string, double>> kUnits = {
      {"", 1},      {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  for (const auto& [word, scale] : kUnits)
    if (end != text.c_str() && unit == word && std::isfinite(number) && number > 0)
      return number * scale;
  return Error("--memory is no number of bytes: " + text, "as in 80GB or 64GiB, of one rank");
}

std::string describe(const Profile& profile, const PlanReport& report) {
  const ShardingPlan& plan = report.plan;
  std::vector<Row> blocks = {{"block", "strategy"}};
  for (size_t l = 0; l < plan.strategies.size(); ++l)
    blocks.push_back(
        {profile.blocks[l].name, kStrategyWords[static_cast<size_t>(plan.strategies[l])]});
  std::string text = table(blocks) + "\n";
  if (!profile.tables.empty()) {
    std::vector<Row> tables = {{"table", "placement", "rank"}};
    for (size_t i = 0; i < profile.tables.size(); ++i)
      tables.push_back({profile.tables[i].name,
                        kPlacementWords[static_cast<size_t>(plan.tables.placements[i])],
                        plan.tables.owners[i] < 0 ? "all" : std::to_string(plan.tables.owners[i])});
    text += table(tables) + "\n";
  }
  std::vector<Row> rates = {{"plan", "rows of a batch", "rows/s", "this plan is"}};
  rates.push_back(
      {"this", std::to_string(plan.batch_rows), fmt::format("{:.0f}", plan.rows_per_second), "-"});
  for (const UniformPlan& one : report.uniform)
    rates.push_back(
        {kStrategyWords[static_cast<size_t>(one.strategy)],
         one.best ? std::to_string(one.best->batch_rows) : "-",
         one.best ? fmt::format("{:.0f}", one.best->rows_per_second) : "does not fit",
         one.best ? fmt::format("{:.2f} times", plan.rows_per_second / one.best->rows_per_second)
                  : "-"});
  return text + table(rates) +
         fmt::format("predicted for {}: {:.6f} s a step, {:.2f} GB at the peak{}\n", plan.hardware,
                     plan.predicted.seconds, plan.predicted.peak_bytes / 1e9,
                     plan.exact ? "" : "; states were thinned");
}

}  // namespace

Result<Outcome> run_sketch(const StepOptions& options) {
  if (options.runs != std::vector<std::string>{"plan"})
    return Error("sketch does not know what to do",
                 "lattice sketch plan --profile FILE --memory 80GB");
  for (const char* name : {"profile", "memory"})
    if (options.named.count(name) == 0)
      return Error(fmt::format("sketch plan needs --{}", name),
                   "lattice sketch plan --profile FILE --memory 80GB");
  const double memory = TRY(bytes_of(options.named.at("memory")));
  const Profile profile = TRY(read_profile(options.named.at("profile")));
  const PlanReport report = TRY(make_plan(profile, memory));
  std::string text = describe(profile, report);
  if (const auto out = options.named.find("out"); out != options.named.end()) {
    TRY(write_json(out->second, to_json(profile, report.plan)));
    text += out->second + "\n";
  }
  return Outcome{.json = to_text(to_json(profile, report)), .text = text};
}

}  // namespace weft::lattice
