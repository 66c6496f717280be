// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/wire/trace.h"

#include <nlohmann/json.hpp>

namespace weft::wire {
namespace {

Json comparison_json(const OutputComparison& comparison) {
  Json json = {{"output", comparison.output},
               {"trial", comparison.trial},
               {"passed", comparison.passed},
               {"rule", comparison.rule},
               {"tolerance_origin", comparison.tolerance_origin},
               {"precision", comparison.precision ? Json(*comparison.precision) : Json()},
               {"elements", comparison.elements},
               {"mismatched", comparison.mismatched},
               {"non_finite", comparison.non_finite},
               {"never_written", comparison.untouched},
               {"max_absolute_error", comparison.max_absolute_error},
               {"max_relative_error", comparison.max_relative_error},
               {"relative_norm", comparison.relative_norm}};
  if (!comparison.passed) json["reason"] = comparison.reason;
  if (!comparison.first_bad.empty()) {
    json["first_bad"] = {{"index", comparison.first_bad},
                         {"expected", comparison.first_expected},
                         {"actual", comparison.first_actual}};
    json["bad_rows"] = {comparison.bad_row_first, comparison.bad_row_last};
    json["bad_columns"] = {comparison.bad_column_first, comparison.bad_column_last};
  }
  if (comparison.factor != 0) json["constant_factor"] = comparison.factor;
  return json;
}

Json evaluation_json(const Evaluation& evaluation) {
  Json json = {
      {"status", name(evaluation.status)},
      {"environment",
       {{"hardware", evaluation.environment.hardware}, {"libs", evaluation.environment.libs}}},
      {"timestamp", evaluation.timestamp},
      {"log", evaluation.log}};
  if (evaluation.correctness) {
    Json outputs = Json::array();
    for (const OutputComparison& comparison : evaluation.correctness->outputs) {
      outputs.push_back(comparison_json(comparison));
    }
    json["correctness"] = {{"max_relative_error", evaluation.correctness->max_relative_error},
                           {"max_absolute_error", evaluation.correctness->max_absolute_error},
                           {"extra",
                            {{"elements_compared", evaluation.correctness->elements_compared},
                             {"deterministic", evaluation.correctness->deterministic
                                                   ? Json(*evaluation.correctness->deterministic)
                                                   : Json(nullptr)},
                             {"outputs", std::move(outputs)}}}};
  } else {
    json["correctness"] = nullptr;
    json["correctness_reason"] = evaluation.correctness_reason;
  }
  if (evaluation.performance) {
    const Performance& performance = *evaluation.performance;
    const auto or_null = [](const std::optional<double>& value) {
      return value ? Json(*value) : Json(nullptr);
    };
    json["performance"] = {{"latency_ms", performance.latency_ms},
                           {"reference_latency_ms", or_null(performance.reference_latency_ms)},
                           {"speedup_factor", or_null(performance.speedup_factor)},
                           {"extra", to_json(performance.timing)}};
  } else {
    json["performance"] = nullptr;
    json["performance_reason"] = evaluation.performance_reason;
  }
  json["audit"] = evaluation.audit ? to_json(*evaluation.audit) : Json(nullptr);
  return json;
}

}  // namespace

Json to_json(const Trace& trace) {
  Json inputs = Json::object();
  for (const InputRecord& input : trace.workload.inputs) {
    inputs[input.name] = input.scalar ? Json{{"type", "scalar"}, {"value", *input.scalar}}
                                      : Json{{"type", "random"}};
  }
  Json workload = {
      {"uuid", trace.workload.uuid}, {"axes", trace.workload.axes}, {"inputs", std::move(inputs)}};
  if (!trace.workload.overrides.empty()) workload["overrides"] = trace.workload.overrides;
  return {{"definition", trace.definition},
          {"workload", std::move(workload)},
          {"solution", trace.solution},
          {"evaluation", evaluation_json(trace.evaluation)}};
}

}  // namespace weft::wire
