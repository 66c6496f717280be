// SPDX-License-Identifier: Apache-2.0

// Reports hold no times and no names of machines: repeated, they come out the same.
#include "apps/ptxbench/trust.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/text_file.h"
#include "ptxbench/problems/lint.h"

namespace weft::ptxbench {
namespace {

using namespace problems;

constexpr uint64_t kSeed = 1;

std::vector<std::string> names_of(const Catalogue& catalogue, const TrustOptions& options) {
  return options.name.empty() ? catalogue.names() : std::vector<std::string>{options.name};
}

Json admission_json(const Admission& admission) {
  Json checks = Json::array();
  for (const LintCheck& check : admission.checks) {
    checks.push_back({{"rule", check.rule},
                      {"subject", check.subject},
                      {"passed", check.passed},
                      {"detail", check.detail}});
  }
  return {{"admitted", admission.admitted()},
          {"axes", admission.axes},
          {"reduced", admission.reduced},
          {"workloads", admission.workloads},
          {"checks", std::move(checks)}};
}

void print_admission(const Admission& admission) {
  std::string axes;
  for (const auto& [axis, value] : admission.axes) axes += fmt::format(" {}={}", axis, value);
  print(fmt::format("{}  {}{}  {} checks, {} workloads{}\n",
                    admission.admitted() ? "admitted" : "REFUSED ", admission.definition, axes,
                    admission.checks.size(), admission.workloads.size(),
                    admission.reduced.empty()
                        ? ""
                        : fmt::format("  (reduced: {})", fmt::join(admission.reduced, ", "))));
  for (const LintCheck& check : admission.checks) {
    if (!check.passed)
      print(fmt::format("          {}  {}: {}\n", check.rule, check.subject, check.detail));
  }
}

Result<std::vector<Admission>> lint_one(const Catalogue& catalogue, const std::string& name,
                                        const TrustOptions& options) {
  const Definition definition = TRY(catalogue.definition(name));
  const std::vector<Workload> workloads = TRY(catalogue.workloads(definition));
  std::vector<Admission> admissions = TRY(lint_definition(definition, workloads, kSeed));
  if (options.write.empty()) return admissions;
  Json runs = Json::array();
  for (const Admission& admission : admissions) runs.push_back(admission_json(admission));
  const Json report = {{"definition", name}, {"seed", kSeed}, {"runs", std::move(runs)}};
  TRY(write_file(
      fmt::format("{}/workloads/{}/{}.admission.json", options.write, definition.op_type, name),
      report.dump(1) + "\n"));
  return admissions;
}

}  // namespace

int lint(const Catalogue& catalogue, const TrustOptions& options) {
  bool admitted = true;
  Json json = Json::object();
  for (const std::string& name : names_of(catalogue, options)) {
    const Result<std::vector<Admission>> admissions = lint_one(catalogue, name, options);
    if (!admissions.ok()) return fail(admissions.error(), kUsage);
    for (const Admission& admission : *admissions) {
      admitted = admitted && admission.admitted();
      json[name].push_back(admission_json(admission));
      if (!options.json) print_admission(admission);
    }
  }
  if (options.json) print_json(json);
  return admitted ? kPassed : kFailed;
}

}  // namespace weft::ptxbench
