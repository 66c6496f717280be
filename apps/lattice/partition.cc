// SPDX-License-Identifier: Apache-2.0

// lattice partition: which portfolios one model should serve, and why.
#include "lattice/consolidation/partition.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"

namespace weft::lattice {
namespace {

std::string joined(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : ", ") + word.get<std::string>();
  return text;
}

std::string describe(const Json& report, const std::string& path) {
  std::string text = portfolio_table(report["portfolios"]) + "\n";
  for (const Json& decision : report["decisions"])
    text += (decision["merged"].get<bool>() ? "merged   " : "refused  ") +
            decision["why"].get<std::string>() + "\n";
  text += "\n";
  size_t number = 0;
  for (const Json& group : report["groups"]) {
    text += fmt::format("group {}: {}; {:.3g} of {:.3g} MFLOP{}\n", ++number,
                        joined(group["portfolios"]), group["mflops"].get<double>(),
                        group["budget_mflops"].get<double>(),
                        group["within_budget"].get<bool>() ? "" : " (OVER BUDGET)");
    for (const Json& pair : group["untie"])
      text += fmt::format("  untie {} from {}: their gradients oppose each other\n",
                          pair[0].get<std::string>(), pair[1].get<std::string>());
  }
  return text + path + "/partition.json\n";
}

}  // namespace

Result<Outcome> run_partition(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "partition"));
  const PartitionConfiguration configuration =
      TRY(read_partition(document, section(document, "partition"), base_folder(options)));
  const std::vector<std::string> inputs = TRY(partition_inputs(configuration));
  const Json report = TRY(perform_step(
      options, "partition", {.configuration = to_json(configuration), .inputs = inputs}, 0,
      [&](RunFolder& run, const Advance& advance) {
        return partition(configuration, run, {.workers = options.workers, .progress = advance});
      }));
  return Outcome{.json = to_text(report),
                 .text = describe(report, out_folder(options, "partition"))};
}

}  // namespace weft::lattice
