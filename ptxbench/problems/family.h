// SPDX-License-Identifier: Apache-2.0

// The families of tasks, one row each: what their definitions must look like and how their outputs,
// derived inputs and costs are computed. A family is chosen by a definition's tag "family:".
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {

// Exactly, with sums of this width, or as the model says.
struct Arithmetic {
  Sums sums = Sums::Float32;
  const Model* model = nullptr;  // none with Float64
};

struct Family {
  std::string_view name;
  std::vector<size_t> input_ranks, output_ranks;  // number of dimensions of each tensor
  Expected (*reference)(const Task&, const std::vector<Tensor>&, const Arithmetic&);
  // Floating-point operations; null where they depend on the contents of the inputs.
  double (*operations)(const Task&);
  // What a reference costs, in operations of a matrix product, roughly where lengths decide.
  double (*cost)(const Task&);
  // Elements that the reference holds at once, beside the task's tensors.
  double (*elements)(const Task&);
  void (*derive)(const Task&, std::vector<Tensor>&);  // null where no input is derived
};

// The family of a definition, whose tensors have been checked to fit it.
Result<const Family*> family_of(const Definition& definition);

// The references, one file a family.
Expected gemm_reference(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected attention_forward(const Task& task, const std::vector<Tensor>& inputs,
                           const Arithmetic& how);
Expected attention_backward(const Task& task, const std::vector<Tensor>& inputs,
                            const Arithmetic& how);
Expected fp8_gemm(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected fp8_attention(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected gqa_paged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected gqa_ragged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected mla_paged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected gdn_decode(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected gdn_mtp(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
Expected gdn_prefill(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how);
void derive_attention(const Task& task, std::vector<Tensor>& inputs);

}  // namespace weft::problems
