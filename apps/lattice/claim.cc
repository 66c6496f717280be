// SPDX-License-Identifier: Apache-2.0

// lattice claim: measures a claim of the paper on synthetic worlds.
#include "lattice/claims/claims.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "base/progress.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

Result<Outcome> run_claim(const StepOptions& options) {
  StepOptions without_file = options;
  without_file.configuration.clear();
  const YamlDocument document = TRY(load_configuration(without_file, "claim"));
  ClaimOptions claim;
  Fields fields = TRY(Fields::open(document, section(document, "claim"), "claim"));
  TRY(fields.read("seeds", claim.seeds, 1));
  TRY(fields.read("impressions", claim.impressions));
  TRY(fields.finish());
  std::string known;
  for (const Claim& one : claims()) {
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", one.number, one.what);
    if (options.runs != std::vector<std::string>{std::to_string(one.number)}) continue;
    Progress progress(fmt::format("claim {}", one.number), 0);
    claim.progress = [&](const std::string& stage) { progress.advance(0, stage); };
    const ClaimReport report = TRY(one.work(claim));
    progress.finish();
    const std::string verdict = fmt::format(
        "claim {} {}: {}", one.number, report.holds ? "holds" : "does NOT hold", report.verdict);
    Json json = {{"claim", one.number},       {"what", one.what},     {"holds", report.holds},
                 {"verdict", report.verdict}, {"seeds", claim.seeds}, {"measured", report.json}};
    return Outcome{.json = to_text(json),
                   .text = table(report.rows) + verdict + "\n",
                   .exit_code = report.holds ? kPassed : kFailed};
  }
  return Error("claim needs the number of a claim", known);
}

}  // namespace weft::lattice
