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

double fp8_gemm_operations(const Task& task) {
  return 2.0 * count(task, task.definition.inputs[0]) *
         static_cast<double>(extent(task, task.definition.inputs, 2, 0));
}

// An upper bound for packed sequences: as if every query saw every key.
double packed_elements(const Task& task) {
  return 2 * count_all(task) + host_workers() * 2 * count_all(task);
}

// Decay and two products of the state with a vector, and one outer product: 8 a state element.
double gated_delta_operations(const Task& task) {
  const TensorSpec& values = task.definition.inputs[2];
  return 8.0 * count(task, values) * static_cast<double>(task.axis(values.shape.back()));
}

// As if all sequences had the same length and no key were masked.
double packed_cost(const Task& task, double queries, double keys, double sequences) {
  const std::vector<TensorSpec>& inputs = task.definition.inputs;
  const double dim = static_cast<double>(task.axis(inputs[0].shape.back()));
  return 4 * queries * keys / sequences * dim * static_cast<double>(task.axis(inputs[0].shape[1]));
}
double paged_cost(const Task& task) {
  return packed_cost(task, static_cast<double>(extent(task, task.definition.inputs, 0, 0)),
                     static_cast<double>(task.axis("num_kv_indices") * task.axis("page_size")),
                     static_cast<double>(task.axis("len_indptr") - 1));
}
// One query a sequence sees each of its keys: the keys of all sequences decide. Multiply-adds of a
// pair of query and key: the width of the key and that of the value.
double decode_operations(const Task& task, double width) {
  return 2 * width * static_cast<double>(extent(task, task.definition.inputs, 0, 1)) *
         static_cast<double>(task.axis("num_kv_indices") * task.axis("page_size"));
}
double gqa_decode_operations(const Task& task) {
  return decode_operations(task, 2 * static_cast<double>(task.axis("head_dim")));
}
double mla_decode_operations(const Task& task) {
  return decode_operations(task, 2 * static_cast<double>(task.axis("head_dim_ckv")) +
                                     static_cast<double>(task.axis("head_dim_kpe")));
}
double ragged_cost(const Task& task) {
  return packed_cost(task, static_cast<double>(task.axis("total_q")),
                     static_cast<double>(task.axis("total_kv")),
                     static_cast<double>(task.axis("len_indptr") - 1));
}

// No matrix products: an operation costs a few times what one of a product does.
double gated_delta_cost(const Task& task) {
  return 4 * gated_delta_operations(task);
}

const std::vector<Family>& families() {
  static const std::vector<Family> rows = {
      {"gemm",
       {2, 2},
       {2},
       gemm_reference,
       gemm_operations,
       gemm_operations,
       gemm_elements,
       nullptr},
      {"mha_with_lse",
       {4, 4, 4},
       {4, 3},
       attention_forward,
       forward_operations,
       forward_operations,
       attention_elements,
       nullptr},
      {"mha_bwd",
       {4, 4, 4, 4, 4, 3},
       {4, 4, 4},
       attention_backward,
       backward_operations,
       backward_operations,
       attention_elements,
       derive_attention},
      {"fp8_gemm",
       {2, 2, 2, 2},
       {2},
       fp8_gemm,
       fp8_gemm_operations,
       fp8_gemm_operations,
       gemm_elements,
       nullptr},
      {"fp8_mha_with_lse",
       {4, 4, 4, 4, 4, 4},
       {4, 3},
       fp8_attention,
       forward_operations,
       forward_operations,
       attention_elements,
       nullptr},
      {"gqa_paged_decode",
       {3, 4, 4, 1, 1, 0},
       {3, 2},
       gqa_paged,
       gqa_decode_operations,
       paged_cost,
       packed_elements,
       nullptr},
      {"gqa_paged_prefill",
       {3, 4, 4, 1, 1, 1, 0},
       {3, 2},
       gqa_paged,
       nullptr,
       paged_cost,
       packed_elements,
       nullptr},
      {"gqa_ragged_prefill",
       {3, 3, 3, 1, 1, 0},
       {3, 2},
       gqa_ragged,
       nullptr,
       ragged_cost,
       packed_elements,
       nullptr},
      {"mla_paged_decode",
       {3, 3, 3, 3, 1, 1, 0},
       {3, 2},
       mla_paged,
       mla_decode_operations,
       paged_cost,
       packed_elements,
       nullptr},
      {"mla_paged_prefill",
       {3, 3, 3, 3, 1, 1, 1, 0},
       {3, 2},
       mla_paged,
       nullptr,
       paged_cost,
       packed_elements,
       nullptr},
      {"gdn_decode",
       {4, 4, 4, 4, 1, 3, 1, 3, 0},
       {4, 4},
       gdn_decode,
       gated_delta_operations,
       gated_delta_cost,
       packed_elements,
       nullptr},
      {"gdn_mtp",
       {4, 4, 4, 4, 1, 1, 3, 1, 3, 0},
       {4, 4},
       gdn_mtp,
       gated_delta_operations,
       gated_delta_cost,
       packed_elements,
       nullptr},
      {"gdn_prefill",
       {3, 3, 3, 4, 1, 2, 1, 2, 1, 0},
       {3, 4},
       gdn_prefill,
       gated_delta_operations,
       gated_delta_cost,
       packed_elements,
       nullptr},
  };
  return rows;
}

// Where pages have several tokens, one more input says how many of each last page are in use.
bool fits(std::vector<TensorSpec> specs, const std::vector<size_t>& ranks) {
  if (ranks.size() < specs.size())
    std::erase_if(specs, [](const TensorSpec& spec) { return spec.name == "kv_last_page_len"; });
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
