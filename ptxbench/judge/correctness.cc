// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/correctness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/text_file.h"
#include "ptxbench/problems/reference.h"

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

Result<Done> check_inputs(const RunRequest& request, unsigned trial, CorrectnessOutcome& outcome) {
  const std::vector<problems::Tensor>& inputs = request.trials[trial];
  for (size_t i = 0; i < inputs.size() && !outcome.failure; ++i) {
    const std::string after = TRY(read_file(request.orders.output_file(trial, i)));
    const std::optional<size_t> change = first_change(inputs[i], after);
    if (!change) continue;
    outcome.failure = wire::Status::RuntimeError;
    outcome.evidence =
        fmt::format("input {} was changed by the candidate (trial {}, first at element {})",
                    inputs[i].name, trial, *change / problems::byte_size(inputs[i].dtype));
  }
  return Done{};
}

Result<Done> check_outputs(const RunRequest& request, const problems::Task& task, unsigned trial,
                           CorrectnessOutcome& outcome) {
  const std::vector<problems::Tensor>& inputs = request.trials[trial];
  const problems::Expected expected = TRY(problems::reference(task, inputs));
  for (size_t i = 0; i < task.definition.outputs.size(); ++i) {
    const problems::TensorSpec& spec = task.definition.outputs[i];
    const std::vector<float>& want = expected[i];
    const problems::Mask mask = TRY(problems::mask_of(task, spec));
    TRY(problems::check_finite(task, spec, want, mask));
    problems::Tensor actual(spec.name, spec.dtype, task.shape(spec));
    const std::string bytes = TRY(read_file(request.orders.output_file(trial, inputs.size() + i)));
    if (bytes.size() != actual.bytes.size()) {
      outcome.failure = wire::Status::RuntimeError;
      outcome.evidence = fmt::format("output {} came back with {} bytes, not {}", spec.name,
                                     bytes.size(), actual.bytes.size());
      return Done{};
    }
    std::memcpy(actual.bytes.data(), bytes.data(), bytes.size());
    const problems::Tolerance tolerance = TRY(problems::tolerance_of(task.definition, spec));
    const problems::Comparison compared =
        problems::compare(actual, want, tolerance, request.orders.poisons[trial], mask);
    wire::OutputComparison comparison = record(compared, spec.name, trial, tolerance);
    outcome.correctness.max_absolute_error =
        std::max(outcome.correctness.max_absolute_error, comparison.max_absolute_error);
    outcome.correctness.max_relative_error =
        std::max(outcome.correctness.max_relative_error, comparison.max_relative_error);
    if (!comparison.passed && !outcome.failure) {
      outcome.failure = wire::Status::IncorrectNumerical;
      outcome.evidence = explain(comparison);
    }
    outcome.correctness.outputs.push_back(std::move(comparison));
  }
  return Done{};
}

}  // namespace

std::string explain(const wire::OutputComparison& comparison) {
  std::string text =
      fmt::format("{}[{}] is {:.6g}, expected {:.6g} (trial {}); {}", comparison.output,
                  fmt::join(comparison.first_bad, ", "), comparison.first_actual,
                  comparison.first_expected, comparison.trial, comparison.reason);
  if (comparison.first_bad.empty())
    text = fmt::format("{} (trial {}): {}", comparison.output, comparison.trial, comparison.reason);
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

Result<CorrectnessOutcome> check_correctness(const RunRequest& request, const RunOutcome& run,
                                             const problems::Task& task) {
  CorrectnessOutcome outcome;
  if (!run.worker.damage.empty()) {
    const GuardDamage& damage = run.worker.damage.front();
    outcome.failure = wire::Status::RuntimeError;
    outcome.evidence = fmt::format(
        "memory {} tensor {} was written, {} bytes from its edge (trial {})",
        damage.behind ? "behind" : "before", damage.tensor, damage.distance, damage.trial);
  }
  for (unsigned trial = 0; trial < request.trials.size(); ++trial) {
    TRY(check_inputs(request, trial, outcome));
    TRY(check_outputs(request, task, trial, outcome));
  }
  return outcome;
}

}  // namespace weft::judge
