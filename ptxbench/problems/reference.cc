// SPDX-License-Identifier: Apache-2.0

// One row a family. References share OpenBLAS, whose number of workers is a process-wide setting,
// so they run one after the other.
#include "ptxbench/problems/reference.h"

#include <mutex>
#include <string_view>

#include <fmt/format.h>

namespace weft::problems {
namespace {

std::mutex reference_mutex;

struct Family {
  std::string_view name;
  size_t inputs, outputs;
  std::vector<std::string_view> axes;
};
const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {"gemm", 2, 1, {"M", "N", "K"}},
      {"mha_with_lse", 3, 2, {"batch", "seq_len", "num_heads", "head_dim"}},
      {"mha_bwd", 7, 3, {"batch", "seq_len", "num_heads", "head_dim"}},
  };
  return rows;
}

// A definition that calls itself a family must have its tensors and axes: the reference indexes
// them.
Result<Done> check_family(const Definition& definition) {
  const std::string_view name = definition.tag("family");
  for (const Family& family : families()) {
    if (family.name != name) continue;
    bool fits =
        definition.inputs.size() == family.inputs && definition.outputs.size() == family.outputs;
    for (const std::string_view axis : family.axes)
      fits = fits && definition.find_axis(axis) != nullptr;
    if (fits) return Done{};
    return Error(fmt::format("definition does not fit its family {}: {}", name, definition.name),
                 fmt::format("the family has {} inputs, {} outputs and the axes {}", family.inputs,
                             family.outputs, fmt::join(family.axes, ", ")));
  }
  return Error(fmt::format("no reference for this family: \"{}\" ({})", name, definition.name),
               "families: gemm, mha_with_lse, mha_bwd (the tag family: of the definition)");
}

double pairs(const Task& task) {
  const double tokens = static_cast<double>(task.axis("seq_len"));
  const double visible =
      task.definition.tag("causal") == "true" ? tokens * (tokens + 1) / 2 : tokens * tokens;
  return visible * static_cast<double>(task.axis("batch") * task.axis("num_heads"));
}

}  // namespace

Result<Expected> reference(const Task& task, const std::vector<Tensor>& inputs) {
  TRY(check_family(task.definition));
  const std::string_view family = task.definition.tag("family");
  const std::lock_guard lock(reference_mutex);
  if (family == "gemm") return gemm_reference(task, inputs);
  if (family == "mha_with_lse") return attention_forward(task, inputs);
  return attention_backward(task, inputs);
}

Result<Done> derive_inputs(const Task& task, std::vector<Tensor>& inputs) {
  TRY(check_family(task.definition));
  const std::string_view family = task.definition.tag("family");
  const std::lock_guard lock(reference_mutex);
  if (family == "mha_bwd") return derive_attention(task, inputs);
  return Error(fmt::format("derived inputs are not defined for this family: \"{}\"", family),
               "remove the tag derived:");
}

std::optional<double> floating_point_operations(const Task& task) {
  if (!check_family(task.definition).ok()) return std::nullopt;
  const std::string_view family = task.definition.tag("family");
  if (family == "gemm") {
    return 2.0 * static_cast<double>(task.axis("M")) * static_cast<double>(task.axis("N")) *
           static_cast<double>(task.axis("K"));
  }
  // Forward: two products. Backward: five (scores again, dP, dV, dQ, dK).
  if (family == "mha_with_lse")
    return 4.0 * pairs(task) * static_cast<double>(task.axis("head_dim"));
  return 10.0 * pairs(task) * static_cast<double>(task.axis("head_dim"));
}

}  // namespace weft::problems
