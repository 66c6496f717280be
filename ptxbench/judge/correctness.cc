// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/correctness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ptxbench/problems/inputs.h"

namespace weft::judge {
namespace {

std::string rule_of(const problems::Tolerance& tolerance) {
  if (tolerance.kind == problems::Tolerance::Kind::RelativeNorm) {
    return fmt::format("relative norm of the error <= {}, of every row <= {}", tolerance.norm_limit,
                       tolerance.row_norm_limit);
  }
  return fmt::format(
      "|error| <= {} + {} |expected| for {} of the elements, none beyond {} times that",
      tolerance.absolute, tolerance.relative, tolerance.matched_ratio, tolerance.outlier_factor);
}

wire::OutputComparison record(const problems::Comparison& from, const std::string& output,
                              unsigned trial, const problems::Tolerance& tolerance) {
  wire::OutputComparison to;
  to.output = output;
  to.trial = trial;
  to.passed = from.passed;
  to.reason = from.reason;
  to.rule = rule_of(tolerance);
  to.tolerance_origin = tolerance.origin();
  to.elements = from.elements;
  to.mismatched = from.mismatched;
  to.non_finite = from.non_finite;
  to.untouched = from.untouched;
  to.max_absolute_error = from.max_absolute_error;
  to.max_relative_error = from.max_relative_error;
  to.relative_norm = from.relative_norm;
  to.first_bad = from.first_bad;
  to.first_expected = from.first_expected;
  to.first_actual = from.first_actual;
  to.bad_row_first = from.bad_rows[0];
  to.bad_row_last = from.bad_rows[1];
  to.bad_column_first = from.bad_columns[0];
  to.bad_column_last = from.bad_columns[1];
  to.factor = from.factor;
  return to;
}

// The offset of the first byte of an input that the candidate changed.
std::optional<size_t> first_change(const problems::Tensor& before, const std::string& after) {
  if (after.size() != before.bytes.size()) return std::min(after.size(), before.bytes.size());
  const auto* bytes = reinterpret_cast<const char*>(before.bytes.data());
  const auto difference = std::mismatch(after.begin(), after.end(), bytes);
  if (difference.first == after.end()) return std::nullopt;
  return static_cast<size_t>(difference.first - after.begin());
}

std::optional<Failure> check_inputs(const Expectation& expected,
                                    const std::vector<std::string>& bytes, unsigned number) {
  for (size_t i = 0; i < expected.inputs.size(); ++i) {
    const problems::Tensor& input = expected.inputs[i];
    const std::optional<size_t> change = first_change(input, bytes[i]);
    if (!change) continue;
    return Failure{
        wire::Status::RuntimeError,
        fmt::format("input {} was changed by the candidate (call {}, first at element {})",
                    input.name, number, *change / problems::byte_size(input.dtype))};
  }
  return std::nullopt;
}

}  // namespace

std::string explain(const wire::OutputComparison& comparison) {
  std::string text =
      fmt::format("{}[{}] is {:.6g}, expected {:.6g} (call {}); {}", comparison.output,
                  fmt::join(comparison.first_bad, ", "), comparison.first_actual,
                  comparison.first_expected, comparison.trial, comparison.reason);
  if (comparison.first_bad.empty())
    text = fmt::format("{} (call {}): {}", comparison.output, comparison.trial, comparison.reason);
  if (comparison.untouched > 0)
    text += fmt::format("; {} elements were never written", comparison.untouched);
  if (comparison.factor != 0)
    text += fmt::format("; the output is {:.4g} times what is expected", comparison.factor);
  const bool everywhere = comparison.mismatched == comparison.elements;
  if (!comparison.first_bad.empty() && !everywhere) {
    text += fmt::format("; wrong elements lie in rows {} to {}, columns {} to {}",
                        comparison.bad_row_first, comparison.bad_row_last,
                        comparison.bad_column_first, comparison.bad_column_last);
  }
  return text;
}

Result<Expectation> expect(const problems::Task& task, uint64_t seed, unsigned trial) {
  Expectation expected;
  expected.inputs = TRY(problems::make_inputs(task, seed, trial));
  expected.outputs = TRY(problems::reference(task, expected.inputs));
  for (size_t i = 0; i < task.definition.outputs.size(); ++i) {
    const problems::TensorSpec& spec = task.definition.outputs[i];
    expected.masks.push_back(TRY(problems::mask_of(task, spec)));
    TRY(problems::check_finite(task, spec, expected.outputs[i], expected.masks.back()));
  }
  return expected;
}

std::optional<Failure> check_manners(const CallOutcome& call, unsigned number) {
  const WorkerReport& report = call.report;
  if (!report.damage.empty()) {
    const GuardDamage& damage = report.damage.front();
    return Failure{
        wire::Status::RuntimeError,
        fmt::format("memory {} tensor {} was written, {} bytes from its edge (call {})",
                    damage.behind ? "behind" : "before", damage.tensor, damage.distance, number)};
  }
  if (!report.retyped.empty()) {
    return Failure{wire::Status::IncorrectDtype,
                   fmt::format("the candidate gave tensor {} another element type (call {})",
                               report.retyped.front(), number)};
  }
  if (!report.reshaped.empty()) {
    return Failure{
        wire::Status::IncorrectShape,
        fmt::format("the candidate gave tensor {} another shape, strides or memory (call {})",
                    report.reshaped.front(), number)};
  }
  if (report.threads_left > 0) {
    return Failure{wire::Status::RuntimeError,
                   fmt::format("the call left {} host threads running (call {})",
                               report.threads_left, number)};
  }
  return std::nullopt;
}

Result<std::optional<Failure>> check_tensors(const problems::Task& task,
                                             const Expectation& expected,
                                             const std::vector<std::string>& bytes, uint8_t poison,
                                             unsigned number, wire::Correctness& correctness) {
  std::optional<Failure> failure = check_inputs(expected, bytes, number);
  for (size_t i = 0; i < task.definition.outputs.size(); ++i) {
    const problems::TensorSpec& spec = task.definition.outputs[i];
    problems::Tensor actual(spec.name, spec.dtype, task.shape(spec));
    const std::string& raw = bytes[expected.inputs.size() + i];
    INVARIANT(raw.size() == actual.bytes.size());
    std::memcpy(actual.bytes.data(), raw.data(), raw.size());
    const problems::Tolerance tolerance = TRY(problems::tolerance_of(task.definition, spec));
    const problems::Comparison compared =
        problems::compare(actual, expected.outputs[i], tolerance, poison, expected.masks[i]);
    wire::OutputComparison comparison = record(compared, spec.name, number, tolerance);
    comparison.precision =
        problems::precision_class(task.definition, spec, comparison.relative_norm);
    correctness.max_absolute_error =
        std::max(correctness.max_absolute_error, comparison.max_absolute_error);
    correctness.max_relative_error =
        std::max(correctness.max_relative_error, comparison.max_relative_error);
    correctness.elements_compared += comparison.elements;
    if (!comparison.passed && !failure)
      failure = Failure{wire::Status::IncorrectNumerical, explain(comparison)};
    correctness.outputs.push_back(std::move(comparison));
  }
  return failure;
}

}  // namespace weft::judge
