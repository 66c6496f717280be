// SPDX-License-Identifier: Apache-2.0

// Every rule asks the comparison itself, at the tolerance that a verdict uses. Each output must see
// through a null kernel on its own: a kernel that computes one output of two is no kernel.
#include "ptxbench/problems/lint.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ptxbench/problems/comparison.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/mask.h"
#include "ptxbench/problems/reference.h"
#include "ptxbench/problems/rounded_tensor.h"

namespace weft::problems {
namespace {

// An output whose standard deviation is less than this part of its root mean square is constant for
// practical purposes: the tolerances are of that order.
constexpr double kLeastSpread = 2e-3;
constexpr double kMostMasked = 0.5;
constexpr uint8_t kPoison = 0xff;

// Everything about a run that the rules share.
struct Subject {
  const Task& task;
  uint64_t seed;
  std::vector<Tensor> inputs;
  Expected expected;
  std::vector<Mask> masks;
  std::vector<Tolerance> tolerances;

  const std::vector<TensorSpec>& outputs() const { return task.definition.outputs; }
};

Comparison judge(const Subject& subject, size_t output, const std::vector<float>& values) {
  const TensorSpec& spec = subject.outputs()[output];
  return compare(from_float(spec.name, spec.dtype, subject.task.shape(spec), values),
                 subject.expected[output], subject.tolerances[output], kPoison,
                 subject.masks[output]);
}

LintCheck must_reject(const Subject& subject, size_t output, const std::string& kernel,
                      const std::vector<float>& values) {
  const Comparison result = judge(subject, output, values);
  return {"null_kernel", fmt::format("{}: {}", subject.outputs()[output].name, kernel),
          !result.passed,
          result.passed ? fmt::format("accepted, with a relative norm of the error of {:.3g}",
                                      result.relative_norm)
                        : result.reason};
}

double mean_of(const std::vector<float>& values, const Mask& mask) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if ((!mask.empty() && mask[i] != 0) || std::isinf(values[i])) continue;
    sum += static_cast<double>(values[i]);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

// Each row is the mean of all rows: the best that a kernel can do without looking at the row.
std::vector<float> mean_row(const std::vector<float>& values, size_t width) {
  std::vector<double> sums(width);
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isinf(values[i])) sums[i % width] += static_cast<double>(values[i]);
  std::vector<float> rows(values.size());
  const double count = static_cast<double>(values.size()) / static_cast<double>(width);
  for (size_t i = 0; i < values.size(); ++i) rows[i] = static_cast<float>(sums[i % width] / count);
  return rows;
}

void null_kernels_without_inputs(const Subject& subject, const Expected& previous,
                                 std::vector<LintCheck>& checks) {
  for (size_t i = 0; i < subject.outputs().size(); ++i) {
    const std::vector<float>& want = subject.expected[i];
    const std::vector<int64_t> shape = subject.task.shape(subject.outputs()[i]);
    const auto add = [&](const char* kernel, const std::vector<float>& values) {
      checks.push_back(must_reject(subject, i, kernel, values));
    };
    add("zeros", std::vector<float>(want.size()));
    add("the mean of the output everywhere",
        std::vector<float>(want.size(), static_cast<float>(mean_of(want, subject.masks[i]))));
    if (shape.size() > 1 && shape.back() > 1 && want.size() > static_cast<size_t>(shape.back()))
      add("the mean row in every row", mean_row(want, static_cast<size_t>(shape.back())));
    add("the output of another call", previous[i]);
  }
}

void copies_of_inputs(const Subject& subject, std::vector<LintCheck>& checks) {
  for (size_t i = 0; i < subject.outputs().size(); ++i) {
    for (const Tensor& input : subject.inputs) {
      const std::vector<float> source = to_float(input);
      // A definition may say that an output is a copy; the other outputs must tell kernels apart.
      const std::string_view copied =
          subject.task.definition.tag("copy." + subject.outputs()[i].name);
      if (source.empty() || copied == input.name) continue;
      std::vector<float> copy(subject.expected[i].size());
      for (size_t e = 0; e < copy.size(); ++e) copy[e] = source[e % source.size()];
      checks.push_back(must_reject(subject, i, "a copy of " + input.name, copy));
    }
  }
}

// The reference with elements `first` and up of one input zeroed.
Result<LintCheck> without_part(Subject& subject, Tensor& input, int64_t first,
                               const std::string& kernel) {
  const std::vector<std::byte> kept = input.bytes;
  std::fill(input.bytes.begin() + first * static_cast<int64_t>(byte_size(input.dtype)),
            input.bytes.end(), std::byte{0});
  Result<Expected> without = reference(subject.task, subject.inputs);
  input.bytes = kept;
  const Expected outputs = TRY(std::move(without));
  // It need not show in every output: log-sum-exp does not depend on the values.
  LintCheck seen{"null_kernel", "all outputs: " + kernel, false, "accepted"};
  for (size_t i = 0; i < outputs.size() && !seen.passed; ++i) {
    const Comparison result = judge(subject, i, outputs[i]);
    seen.passed = !result.passed;
    seen.detail = result.passed ? seen.detail : result.reason;
  }
  return seen;
}

// Attention over zero queries is the mean of V; a loop that ends early leaves out the last part.
Result<Done> ignored_inputs(Subject& subject, std::vector<LintCheck>& checks) {
  constexpr int64_t kParts = 8;
  for (Tensor& input : subject.inputs) {
    if (!is_floating(input.dtype)) continue;
    checks.push_back(
        TRY(without_part(subject, input, 0, "the right answer to " + input.name + " = 0")));
    const int64_t count = input.count();
    if (count < kParts) continue;
    checks.push_back(TRY(without_part(subject, input, count - count / kParts,
                                      "the last eighth of " + input.name + " left out")));
  }
  return Done{};
}

Result<Done> influences(Subject& subject, std::vector<LintCheck>& checks) {
  std::vector<Tensor> others = TRY(make_inputs(subject.task, subject.seed + 1, 0));
  for (size_t i = 0; i < others.size(); ++i) {
    // A scalar has one value, so it is tried with another.
    const TensorSpec& spec = subject.task.definition.inputs[i];
    if (spec.scalar() && is_floating(spec.dtype))
      others[i] = from_float(spec.name, spec.dtype, {}, {1.5f * to_float(others[i])[0]});
  }
  for (size_t i = 0; i < subject.inputs.size(); ++i) {
    LintCheck check{"influence", "input " + subject.inputs[i].name, false,
                    "no output changes beyond its tolerance when this input changes"};
    if (subject.inputs[i].bytes == others[i].bytes) {
      // The only contents that the definition allows: no kernel can be wrong about them.
      check.passed = true;
      check.detail = "has the same contents for every seed";
      checks.push_back(std::move(check));
      continue;
    }
    Tensor kept = std::move(subject.inputs[i]);
    subject.inputs[i] = others[i];
    Result<Expected> changed = reference(subject.task, subject.inputs);
    subject.inputs[i] = std::move(kept);
    const Expected outputs = TRY(std::move(changed));
    for (size_t o = 0; o < outputs.size() && !check.passed; ++o) {
      const Comparison result = judge(subject, o, outputs[o]);
      check.passed = !result.passed;
      if (check.passed)
        check.detail = fmt::format("{} changes by {:.3g} of its norm", subject.outputs()[o].name,
                                   result.relative_norm);
    }
    checks.push_back(std::move(check));
  }
  return Done{};
}

void outputs_themselves(const Subject& subject, std::vector<LintCheck>& checks) {
  for (size_t i = 0; i < subject.outputs().size(); ++i) {
    const std::string& name = subject.outputs()[i].name;
    const std::vector<float>& want = subject.expected[i];
    const Comparison exact = judge(subject, i, want);
    checks.push_back({"control", name + ": the reference itself, rounded", exact.passed,
                      exact.passed ? "accepted" : exact.reason});
    const double masked =
        want.empty() ? 1
                     : 1 - static_cast<double>(exact.elements) / static_cast<double>(want.size());
    checks.push_back({"elements", name, exact.elements > 0 && masked <= kMostMasked,
                      fmt::format("{} elements are compared, {:.3g} of all are masked",
                                  exact.elements, masked)});
    std::vector<float> sizes;
    const double mean = mean_of(want, subject.masks[i]);
    double square = 0, deviation = 0;
    for (size_t e = 0; e < want.size(); ++e) {
      if (!subject.masks[i].empty() && subject.masks[i][e] != 0) continue;
      if (std::isinf(want[e])) continue;  // an empty row, which is compared by itself
      sizes.push_back(std::abs(want[e]));
      square += double{want[e]} * want[e];
      deviation += (want[e] - mean) * (want[e] - mean);
    }
    if (sizes.empty()) continue;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double median = *middle;
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    const double spread = square > 0 ? std::sqrt(deviation / square) : 0;
    checks.push_back(
        {"spread", name, spread >= kLeastSpread,
         fmt::format("|{}| is {:.3g} at least, {:.3g} in the median, {:.3g} at most; its standard "
                     "deviation is {:.3g} of its root mean square",
                     name, *least, median, *most, spread)});
  }
}

Result<bool> finite(const Subject& subject, std::vector<LintCheck>& checks) {
  bool all = true;
  for (size_t i = 0; i < subject.outputs().size(); ++i) {
    const Result<Done> checked =
        check_finite(subject.task, subject.outputs()[i], subject.expected[i], subject.masks[i]);
    all = all && checked.ok();
    checks.push_back({"finite", subject.outputs()[i].name, checked.ok(),
                      checked.ok() ? "outside the mask" : checked.error().message()});
  }
  return all;
}

// Axes with the values of the tag "reduced:", where those are smaller.
Result<Overrides> reduced_axes(const Definition& definition, const Workload& workload) {
  Overrides overrides;
  for (const auto& [axis, value] : TRY(parse_overrides(definition.tag("reduced")))) {
    const Axis* declared = definition.find_axis(axis);
    if (declared == nullptr) {
      return Error(fmt::format("the tag reduced: names an axis that {} lacks: \"{}\"",
                               definition.name, axis),
                   "write reduced:M=64,N=64");
    }
    const auto given = workload.axes.find(axis);
    const int64_t full = given != workload.axes.end() ? given->second : declared->value.value_or(0);
    if (full > value) overrides.emplace_back(axis, value);
  }
  return overrides;
}

}  // namespace

Result<Task> shrunk(const Definition& definition, const Workload& workload, double operations) {
  Overrides overrides = TRY(reduced_axes(definition, workload));
  Task task = TRY(resolve(definition, workload, overrides));
  bool smaller = true;
  while (smaller && reference_cost(task).value_or(0) > operations) {
    // The longest axis by workload that the constraints allow to be halved.
    std::vector<std::pair<int64_t, std::string>> axes;
    for (const auto& [axis, value] : workload.axes) axes.emplace_back(task.axis(axis), axis);
    std::sort(axes.rbegin(), axes.rend());
    smaller = false;
    for (const auto& [value, axis] : axes) {
      Overrides halved = overrides;
      std::erase_if(halved, [&](const auto& one) { return one.first == axis; });
      halved.emplace_back(axis, value / 2);
      Result<Task> next = resolve(definition, workload, halved);
      if (!next.ok()) continue;
      task = TRY(std::move(next));
      overrides = std::move(halved);
      smaller = true;
      break;
    }
  }
  return task;
}

bool Admission::admitted() const {
  return !checks.empty() && std::all_of(checks.begin(), checks.end(),
                                        [](const LintCheck& check) { return check.passed; });
}

Result<Admission> lint_task(const Task& task, uint64_t seed) {
  Admission admission;
  admission.definition = task.definition.name;
  admission.axes = task.axes;
  admission.workloads = {task.workload.uuid};
  Subject subject{task, seed, {}, {}, {}, {}};
  subject.inputs = TRY(make_inputs(task, seed, 0));
  subject.expected = TRY(reference(task, subject.inputs));
  for (const TensorSpec& output : task.definition.outputs) {
    subject.masks.push_back(TRY(mask_of(task, output)));
    subject.tolerances.push_back(TRY(tolerance_of(task.definition, output)));
  }
  if (!TRY(finite(subject, admission.checks))) return admission;
  const std::vector<Tensor> other_inputs = TRY(make_inputs(task, seed, 1));
  const Expected previous = TRY(reference(task, other_inputs));
  outputs_themselves(subject, admission.checks);
  null_kernels_without_inputs(subject, previous, admission.checks);
  copies_of_inputs(subject, admission.checks);
  TRY(ignored_inputs(subject, admission.checks));
  TRY(influences(subject, admission.checks));
  return admission;
}

Result<std::vector<Admission>> lint_definition(const Definition& definition,
                                               const std::vector<Workload>& workloads,
                                               uint64_t seed, double operations) {
  std::vector<Admission> admissions;
  for (const Workload& workload : workloads) {
    const Task task = TRY(shrunk(definition, workload, operations));
    const auto same =
        std::find_if(admissions.begin(), admissions.end(),
                     [&](const Admission& admission) { return admission.axes == task.axes; });
    if (same != admissions.end()) {
      same->workloads.push_back(workload.uuid);
      continue;
    }
    Admission admission = TRY(lint_task(task, seed));
    const Task full = TRY(resolve(definition, workload, {}));
    for (const auto& [axis, value] : task.axes) {
      if (full.axis(axis) != value)
        admission.reduced.push_back(fmt::format("{}: {} -> {}", axis, full.axis(axis), value));
    }
    admissions.push_back(std::move(admission));
  }
  return admissions;
}

}  // namespace weft::problems
