// SPDX-License-Identifier: Apache-2.0

// A kernel is good when what it feeds into a second product (P, dS, a state) is rounded to bfloat16
// or better, to FP8 where the inputs are FP8. Coarser ones are measured too: an error can then be
// told from another, and the report says whether the tolerance refuses them.
#include "ptxbench/problems/measure.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ptxbench/problems/comparison.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"
#include "ptxbench/problems/rounded_tensor.h"
#include "ptxbench/problems/words.h"

namespace weft::problems {
namespace {

struct Implementation {
  const char* precision;
  const char* order;
  std::optional<Model> model;  // none: the reference that verdicts use
  bool coarse = false;         // for inputs of bfloat16
  bool needless = false;       // where the inputs are no FP8
  bool never_good = false;     // whatever the inputs
};

const std::vector<Implementation>& implementations() {
  constexpr const char *kInOrder = "products summed in order", *kSplit = "the sum split in four",
                       *kCore = "sums of 16 as a tensor core cuts them off",
                       *kRoundedSums = "in order, a softmax that adds rounded probabilities",
                       *kFp8Core = "sums of 32 as Hopper cuts them off for FP8";
  static const std::vector<Implementation> rows = {
      {"fp32", "as the verdict's reference adds", {}},
      {"fp32", kInOrder, Model{Operands::Fp32, Order::InOrder}},
      {"fp32", kSplit, Model{Operands::Fp32, Order::SplitK}},
      {"fp32", kCore, Model{Operands::Fp32, Order::TensorCore}},
      {"tf32", kInOrder, Model{Operands::Tf32, Order::InOrder}},
      {"tf32", kCore, Model{Operands::Tf32, Order::TensorCore}},
      {"bf16", kInOrder, Model{Operands::Bf16, Order::InOrder}},
      {"bf16", kSplit, Model{Operands::Bf16, Order::SplitK}},
      {"bf16", kCore, Model{Operands::Bf16, Order::TensorCore}},
      {"bf16", kRoundedSums, Model{Operands::Bf16, Order::InOrder, true}},
      {"fp8", kCore, Model{Operands::Fp8, Order::TensorCore}, true},
      {"fp8", kFp8Core, Model{Operands::Fp8, Order::Fp8Core}, true, true},
      {"fp8", kRoundedSums, Model{Operands::Fp8, Order::Fp8Core, true}, true, true},
      {"f16 sums", kCore, Model{Operands::Bf16, Order::HalfSums}, true, false, true},
  };
  return rows;
}

bool takes_fp8(const Definition& definition) {
  return std::any_of(definition.inputs.begin(), definition.inputs.end(),
                     [](const TensorSpec& spec) { return spec.dtype == DType::Float8E4M3; });
}

// Sets `absolute` and `relative`.
void fit(const Tensor& stored, const std::vector<float>& exact, const Mask& mask,
         MeasuredError& error) {
  const std::vector<float> got = to_float(stored);
  double square = 0, count = 0;
  const auto each = [&](const auto& visit) {
    for (size_t i = 0; i < got.size(); ++i) {
      if ((mask.empty() || mask[i] == 0) && std::isfinite(exact[i]))
        visit(std::abs(double{got[i]} - exact[i]), std::abs(double{exact[i]}));
    }
  };
  each([&](double, double size) {
    square += size * size;
    count += 1;
  });
  const double least = (count > 0 ? std::sqrt(square / count) : 0) / 8;
  each([&](double wrong, double size) {
    // An output of float32 (a log-sum-exp, a state) is not rounded by its type: its error comes
    // from what is added up and does not grow with its size.
    if (stored.dtype != DType::Float32 && size >= least && size > 0)
      error.relative = std::max(error.relative, wrong / size);
  });
  each([&](double wrong, double size) {
    error.absolute = std::max(error.absolute, wrong - error.relative * size);
  });
}

}  // namespace

Result<std::vector<MeasuredError>> measure(const Task& task, uint64_t seed) {
  const bool fp8 = takes_fp8(task.definition);
  const size_t distributions =
      std::max<size_t>(1, split(task.definition.tag("inputs"), ',').size());
  std::vector<MeasuredError> errors;
  for (unsigned trial = 0; trial < distributions; ++trial) {
    const std::vector<Tensor> inputs = TRY(make_inputs(task, seed, trial));
    const Expected exact = TRY(reference(task, inputs, Sums::Float64));
    for (const Implementation& implementation : implementations()) {
      if (implementation.needless && !fp8) continue;
      const Expected got = TRY(implementation.model ? modelled(task, inputs, *implementation.model)
                                                    : reference(task, inputs));
      for (size_t i = 0; i < got.size(); ++i) {
        const TensorSpec& output = task.definition.outputs[i];
        const Mask mask = TRY(mask_of(task, output));
        const Tensor stored = from_float(output.name, output.dtype, task.shape(output), got[i]);
        const Comparison compared =
            compare(stored, exact[i], TRY(tolerance_of(task.definition, output)), 0xff, mask);
        MeasuredError error{output.name, implementation.precision, implementation.order};
        error.good = !implementation.never_good && (fp8 || !implementation.coarse);
        error.relative_norm = compared.non_finite + compared.missed_infinities > 0
                                  ? INFINITY
                                  : compared.relative_norm;
        error.row_norm = compared.worst_row_norm;
        error.refused = !compared.passed;
        fit(stored, exact[i], mask, error);
        errors.push_back(std::move(error));
      }
    }
  }
  return errors;
}

}  // namespace weft::problems
