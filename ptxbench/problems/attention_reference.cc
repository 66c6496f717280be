// SPDX-License-Identifier: Apache-2.0

// Attention forward and backward over tensors [batch, heads, tokens, head dimension]; one head is a
// piece of parallel work. The extents come from the tensors, not from the names of axes.
#include <cmath>
#include <cstring>

#include "base/floats.h"
#include "base/parallel.h"
#include "ptxbench/problems/attention_head.h"
#include "ptxbench/problems/family.h"
#include "ptxbench/problems/product.h"

namespace weft::problems {
namespace {

struct Attention {
  int64_t heads, queries, keys, dim;  // heads of all sequences together
  bool causal;

  template <typename Real>
  AttentionHead<Real> head(const Real* q, const Real* k, const Real* v) const {
    const Real scale = 1 / std::sqrt(static_cast<Real>(dim));
    return {queries, keys, dim, dim, scale, causal, q, k, v};
  }
};

Attention attention_of(const Task& task, const std::vector<Tensor>& inputs) {
  const std::vector<int64_t>&q = inputs[0].shape, &k = inputs[1].shape;
  return {q[0] * q[1], q[2], k[2], q[3], task.definition.tag("causal") == "true"};
}

template <typename Real>
std::vector<float> narrow(const std::vector<Real>& values) {
  return {values.begin(), values.end()};
}

template <typename Real>
struct Forward {
  std::vector<Real> o, lse;
};

template <typename Real>
Forward<Real> forward(const Attention& at, const std::vector<Tensor>& qkv, const Model* model) {
  Forward<Real> out{std::vector<Real>(static_cast<size_t>(at.heads * at.queries * at.dim)),
                    std::vector<Real>(static_cast<size_t>(at.heads * at.queries))};
  set_product_workers(1);  // heads are the parallel work
  each_in_parallel(at.heads, [&](int64_t h) {
    const int64_t query_size = at.queries * at.dim, key_size = at.keys * at.dim;
    const std::vector<Real> q = elements<Real>(qkv[0], h * query_size, query_size);
    const std::vector<Real> k = elements<Real>(qkv[1], h * key_size, key_size);
    const std::vector<Real> v = elements<Real>(qkv[2], h * key_size, key_size);
    attend_with(model, at.head(q.data(), k.data(), v.data()), &out.o[h * query_size],
                &out.lse[h * at.queries]);
  });
  return out;
}

template <typename Real>
std::vector<Real> row_sums(const std::vector<Real>& a, const std::vector<Real>& b, int64_t rows) {
  const size_t width = a.size() / static_cast<size_t>(rows);
  std::vector<Real> sums(static_cast<size_t>(rows));
  for (size_t r = 0; r < sums.size(); ++r) {
    double sum = 0;
    for (size_t i = r * width; i < (r + 1) * width; ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    sums[r] = static_cast<Real>(sum);
  }
  return sums;
}

template <typename Real>
HeadGradients<Real> gradients_of(const Model* model, const AttentionHead<Real>& head,
                                 const Real* grad, const Real* lse, const Real* delta) {
  if constexpr (std::is_same_v<Real, float>) {
    if (model != nullptr) return attend_backward_as(*model, head, grad, lse, delta);
  }
  return attend_backward(head, grad, lse, delta);
}

template <typename Real>
Expected backward(const Attention& at, const std::vector<Tensor>& inputs, const Model* model) {
  const int64_t size = at.queries * at.dim;
  Expected expected(3, std::vector<float>(static_cast<size_t>(at.heads * size)));
  set_product_workers(1);
  each_in_parallel(at.heads, [&](int64_t h) {
    const auto matrix = [&](size_t i) { return elements<Real>(inputs[i], h * size, size); };
    const std::vector<Real> q = matrix(0), k = matrix(1), v = matrix(2), grad = matrix(4);
    const std::vector<Real> delta = row_sums(grad, matrix(3), at.queries);
    const std::vector<Real> lse = elements<Real>(inputs[5], h * at.queries, at.queries);
    const HeadGradients<Real> gradients = gradients_of(model, at.head(q.data(), k.data(), v.data()),
                                                       grad.data(), lse.data(), delta.data());
    std::copy(gradients.dq.begin(), gradients.dq.end(), expected[0].begin() + h * size);
    std::copy(gradients.dk.begin(), gradients.dk.end(), expected[1].begin() + h * size);
    std::copy(gradients.dv.begin(), gradients.dv.end(), expected[2].begin() + h * size);
  });
  return expected;
}

template <typename Real>
Expected forward_expected(const Attention& at, const std::vector<Tensor>& inputs,
                          const Model* model) {
  const Forward<Real> out = forward<Real>(at, inputs, model);
  return {narrow(out.o), narrow(out.lse)};
}

}  // namespace

Expected attention_forward(const Task& task, const std::vector<Tensor>& inputs,
                           const Arithmetic& how) {
  const Attention at = attention_of(task, inputs);
  return how.sums == Sums::Float64 ? forward_expected<double>(at, inputs, nullptr)
                                   : forward_expected<float>(at, inputs, how.model);
}

// Inputs Q, K, V, O, dO, L.
Expected attention_backward(const Task& task, const std::vector<Tensor>& inputs,
                            const Arithmetic& how) {
  const Attention at = attention_of(task, inputs);
  return how.sums == Sums::Float64 ? backward<double>(at, inputs, nullptr)
                                   : backward<float>(at, inputs, how.model);
}

void derive_attention(const Task& task, std::vector<Tensor>& inputs) {
  const Forward<float> out = forward<float>(attention_of(task, inputs), inputs, nullptr);
  auto* rounded = reinterpret_cast<uint16_t*>(inputs[3].bytes.data());
  for (size_t i = 0; i < out.o.size(); ++i) rounded[i] = float_to_bf16(out.o[i]);
  std::memcpy(inputs[5].bytes.data(), out.lse.data(), out.lse.size() * sizeof(float));
}

}  // namespace weft::problems
