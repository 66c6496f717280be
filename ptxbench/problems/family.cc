// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/family.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"

namespace weft::problems {
namespace {

int64_t extent(const Task& task, const std::vector<TensorSpec>& specs, size_t tensor,
               size_t dimension) {
  return task.axis(specs[tensor].shape[dimension]);
}

double count(const Task& task, const TensorSpec& spec) {
  double product = 1;
  for (const std::string& axis : spec.shape) product *= static_cast<double>(task.axis(axis));
  return product;
}

double count_all(const Task& task) {
  double sum = 0;
  for (const auto* specs : {&task.definition.inputs, &task.definition.outputs}) {
    for (const TensorSpec& spec : *specs) sum += count(task, spec);
  }
  return sum;
}

double gemm_operations(const Task& task) {
  return 2.0 * count(task, task.definition.inputs[0]) *
         static_cast<double>(extent(task, task.definition.inputs, 1, 0));
}

// Query and key pairs that a head sees: all, or those up to the end-aligned diagonal.
double visible_pairs(const Task& task) {
  const auto queries = static_cast<double>(extent(task, task.definition.inputs, 0, 2));
  const auto keys = static_cast<double>(extent(task, task.definition.inputs, 1, 2));
  if (task.definition.tag("causal") != "true") return queries * keys;
  const double least = keys - queries + 1;  // keys of the first query
  const double rows = least > 0 ? queries : keys;
  return rows * (std::max(least, 1.0) + keys) / 2;
}

// Multiply-adds of one product of all heads, twice.
double attention_product(const Task& task) {
  const std::vector<TensorSpec>& inputs = task.definition.inputs;
  return 2.0 * visible_pairs(task) *
         static_cast<double>(extent(task, inputs, 0, 0) * extent(task, inputs, 0, 1) *
                             extent(task, inputs, 0, 3));
}

// Forward: two products. Backward: five (scores again, dP, dV, dQ, dK).
double forward_operations(const Task& task) {
  return 2 * attention_product(task);
}
double backward_operations(const Task& task) {
  return 5 * attention_product(task);
}

double gemm_elements(const Task& task) {
  return count_all(task);
}

// The outputs of all heads; the matrices of the heads in progress and a block of 128 rows of
// scores, two in the backward pass.
double attention_elements(const Task& task) {
  const std::vector<TensorSpec>& inputs = task.definition.inputs;
  const auto heads = static_cast<double>(extent(task, inputs, 0, 0) * extent(task, inputs, 0, 1));
  const auto keys = static_cast<double>(extent(task, inputs, 1, 2));
  double outputs = 0;
  for (const TensorSpec& spec : task.definition.outputs) outputs += count(task, spec);
  return 2 * outputs + host_workers() * (count_all(task) / heads + 2 * 128 * keys);
}

const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {"gemm", {2, 2}, {2}, gemm_reference, gemm_operations, gemm_elements, nullptr},
      {"mha_with_lse",
       {4, 4, 4},
       {4, 3},
       attention_forward,
       forward_operations,
       attention_elements,
       nullptr},
      {"mha_bwd",
       {4, 4, 4, 4, 4, 3},
       {4, 4, 4},
       attention_backward,
       backward_operations,
       attention_elements,
       derive_attention},
  };
  return rows;
}

bool fits(const std::vector<TensorSpec>& specs, const std::vector<size_t>& ranks) {
  return std::equal(specs.begin(), specs.end(), ranks.begin(), ranks.end(),
                    [](const TensorSpec& spec, size_t rank) { return spec.shape.size() == rank; });
}

}  // namespace

Result<const Family*> family_of(const Definition& definition) {
  const std::string_view name = definition.tag("family");
  std::vector<std::string_view> known;
  for (const Family& family : families()) {
    known.push_back(family.name);
    if (family.name != name) continue;
    // The reference indexes the tensors, so they must be there.
    if (fits(definition.inputs, family.input_ranks) &&
        fits(definition.outputs, family.output_ranks))
      return &family;
    return Error(
        fmt::format("definition does not fit its family {}: {}", name, definition.name),
        fmt::format("the family has inputs with {} dimensions and outputs with {}",
                    fmt::join(family.input_ranks, ", "), fmt::join(family.output_ranks, ", ")));
  }
  return Error(
      fmt::format("no reference for this family: \"{}\" ({})", name, definition.name),
      fmt::format("families: {} (the tag family: of the definition)", fmt::join(known, ", ")));
}

}  // namespace weft::problems
