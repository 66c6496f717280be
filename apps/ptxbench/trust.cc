// SPDX-License-Identifier: Apache-2.0

// Reports hold no times and no names of machines: repeated, they come out the same.
#include "apps/ptxbench/trust.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/text_file.h"
#include "ptxbench/problems/lint.h"
#include "ptxbench/problems/measure.h"
#include "ptxbench/problems/reference.h"

namespace weft::ptxbench {
namespace {

using namespace problems;

constexpr uint64_t kSeed = 1;
// Models of implementations add one by one, fifteen times.
constexpr double kMeasuredOperations = 1.5e8;

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
  std::vector<Admission> admissions = TRY(lint_definition(
      definition, workloads, kSeed, options.operations > 0 ? options.operations : kLintOperations));
  if (options.write.empty()) return admissions;
  Json runs = Json::array();
  for (const Admission& admission : admissions) runs.push_back(admission_json(admission));
  const Json report = {{"definition", name}, {"seed", kSeed}, {"runs", std::move(runs)}};
  TRY(write_file(
      fmt::format("{}/workloads/{}/{}.admission.json", options.write, definition.op_type, name),
      report.dump(1) + "\n"));
  return admissions;
}

// What a report says of one output: the worst of the good implementations, which the limits come
// from, and of each precision class.
struct OutputReport {
  double norm = 0, row = 0, absolute = 0, relative = 0;
  std::string worst;                           // the good implementation with the largest norm
  std::map<std::string, double> classes;       // relative norm
  std::map<std::string, bool> coarse_refused;  // class to whether the tolerance refuses it always
};

std::map<std::string, OutputReport> summary(const std::vector<MeasuredError>& errors) {
  std::map<std::string, OutputReport> outputs;
  for (const MeasuredError& error : errors) {
    OutputReport& output = outputs[error.output];
    // A class that overflows has no error of its own.
    if (std::isfinite(error.relative_norm)) {
      double& of_class = output.classes[error.precision];
      of_class = std::max(of_class, error.relative_norm);
    }
    if (!error.good) {
      const auto [place, added] = output.coarse_refused.emplace(error.precision, true);
      place->second = place->second && error.refused;
      continue;
    }
    if (output.worst.empty() || error.relative_norm > output.norm)
      output.worst = fmt::format("{}, {}", error.precision, error.implementation);
    output.norm = std::max(output.norm, error.relative_norm);
    output.row = std::max(output.row, error.row_norm);
    output.absolute = std::max(output.absolute, error.absolute);
    output.relative = std::max(output.relative, error.relative);
  }
  return outputs;
}

// Three digits: the last bits depend on the processor that measures.
double short_number(double value) {
  return std::stod(fmt::format("{:.3g}", value));
}

Json measured_json(const std::map<std::string, OutputReport>& outputs) {
  Json json = Json::object();
  for (const auto& [name, output] : outputs) {
    Json classes = Json::object(), coarse = Json::object();
    for (const auto& [precision, error] : output.classes) classes[precision] = short_number(error);
    for (const auto& [precision, refused] : output.coarse_refused) coarse[precision] = refused;
    json[name] = {{"norm", short_number(output.norm)},
                  {"row_norm", short_number(output.row)},
                  {"absolute", short_number(output.absolute)},
                  {"relative", short_number(output.relative)},
                  {"worst", output.worst},
                  {"norm_by_class", std::move(classes)},
                  {"refused", std::move(coarse)}};
  }
  return json;
}

// The smallest and the largest workload, shrunk, by axes.
Result<std::vector<Task>> measured_tasks(const Catalogue& catalogue, const std::string& name,
                                         double operations) {
  const Definition definition = TRY(catalogue.definition(name));
  std::vector<Workload> workloads = TRY(catalogue.workloads(definition));
  std::vector<Task> tasks;
  for (const Workload& workload : workloads) {
    Task task = TRY(shrunk(definition, workload, operations));
    const bool known = std::any_of(tasks.begin(), tasks.end(),
                                   [&task](const Task& other) { return other.axes == task.axes; });
    if (!known) tasks.push_back(std::move(task));
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return reference_cost(a).value_or(0) < reference_cost(b).value_or(0);
  });
  if (tasks.size() > 2) tasks.erase(tasks.begin() + 1, tasks.end() - 1);
  return tasks;
}

Result<Json> measure_one(const Catalogue& catalogue, const std::string& name,
                         const TrustOptions& options, std::vector<Row>& rows) {
  std::vector<MeasuredError> errors;
  Json axes = Json::array();
  const double operations = options.operations > 0 ? options.operations : kMeasuredOperations;
  const std::vector<Task> tasks = TRY(measured_tasks(catalogue, name, operations));
  for (const Task& task : tasks) {
    for (MeasuredError& error : TRY(problems::measure(task, kSeed)))
      errors.push_back(std::move(error));
    axes.push_back(task.axes);
  }
  const std::map<std::string, OutputReport> outputs = summary(errors);
  for (const auto& [output, report] : outputs) {
    std::string classes, refused;
    for (const auto& [precision, error] : report.classes)
      classes += fmt::format("{} {:.2g}  ", precision, error);
    for (const auto& [precision, always] : report.coarse_refused)
      refused += fmt::format("{}: {}  ", precision, always ? "refused" : "NOT refused");
    rows.push_back(
        {name, output, fmt::format("{:.3g}", report.norm), fmt::format("{:.3g}", report.row),
         fmt::format("{:.3g} + {:.3g} |x|", report.absolute, report.relative), classes, refused});
  }
  Json json = {{"definition", name},         {"seed", kSeed},
               {"norm_margin", kNormMargin}, {"element_margin", kElementMargin},
               {"axes", std::move(axes)},    {"outputs", measured_json(outputs)}};
  if (!options.write.empty()) {
    TRY(write_file(fmt::format("{}/workloads/{}/{}.measured.json", options.write,
                               tasks.front().definition.op_type, name),
                   json.dump(1) + "\n"));
  }
  return json;
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

int measure(const Catalogue& catalogue, const TrustOptions& options) {
  Json json = Json::array();
  std::vector<Row> rows = {
      {"task", "output", "norm", "worst row", "elements", "norm by class", "coarser ones"}};
  for (const std::string& name : names_of(catalogue, options)) {
    Result<Json> measured = measure_one(catalogue, name, options, rows);
    if (!measured.ok()) return fail(measured.error(), kUsage);
    json.push_back(std::move(measured).value());
  }
  if (options.json)
    print_json(json);
  else
    print(table(rows));
  return kPassed;
}

}  // namespace weft::ptxbench
