// SPDX-License-Identifier: Apache-2.0

// lattice world: writes a synthetic world whose truth is known.
#include "lattice/world/world.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"

namespace weft::lattice {
namespace {

std::string number(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.4f}", value.get<double>());
}

std::string report(const Json& summary, const std::string& path) {
  std::vector<Row> rows = {
      {"domain", "objective", "rate", "conversions", "Bayes NE", "NE of the drawn labels"}};
  for (const Json& portfolio : summary["portfolios"]) {
    const Json& ever = portfolio["windows"].back();
    rows.push_back({portfolio["domain"], portfolio["objective"], number(ever["rate"]),
                    std::to_string(ever["conversions"].get<uint64_t>()), number(ever["bayes_ne"]),
                    number(ever["realized_ne"])});
  }
  return table(rows) +
         fmt::format("{} impressions in {}\n", summary["impressions"].get<uint64_t>(), path);
}

}  // namespace

Result<Outcome> run_world(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "world"));
  const WorldConfiguration world = TRY(read_world(document, section(document, "world")));
  const Json summary = TRY(perform_step(
      options, "world", {.configuration = to_json(world), .seed = world.seed}, world.impressions,
      [&](RunFolder& run, const Advance& advance) {
        const auto progress = [&](uint64_t rows) { advance("impressions", rows); };
        return write_world(world, run, {.workers = options.workers, .progress = progress});
      }));
  return Outcome{.json = to_text(summary), .text = report(summary, out_folder(options, "world"))};
}

}  // namespace weft::lattice
