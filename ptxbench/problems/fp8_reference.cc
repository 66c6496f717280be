// SPDX-License-Identifier: Apache-2.0

// FP8 with scales. Operands times their scales are taken as they are: no rounding of intermediate
// results to FP8 is imitated, since implementations differ in where they round. Models of kernels
// add up 128 products before the scales come in, as the blocks ask for.
#include <cmath>

#include "base/parallel.h"
#include "ptxbench/problems/attention_head.h"
#include "ptxbench/problems/family.h"
#include "ptxbench/problems/product.h"

namespace weft::problems {
namespace {

// Element (i, j) times the scale of its block; blocks of (rows, columns) lie as in `scales`.
template <typename Real>
std::vector<Real> dequantized(const Tensor& tensor, const Tensor& scales) {
  const int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  const int64_t block_rows = (rows + scales.shape[0] - 1) / scales.shape[0];
  const int64_t block_columns = (columns + scales.shape[1] - 1) / scales.shape[1];
  std::vector<Real> values = elements<Real>(tensor, 0, tensor.count());
  const std::vector<Real> factors = elements<Real>(scales, 0, scales.count());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      values[i * columns + j] *= factors[i / block_rows * scales.shape[1] + j / block_columns];
  }
  return values;
}

template <typename Real>
std::vector<float> gemm(const std::vector<Tensor>& in) {
  const int64_t m = in[0].shape[0], n = in[2].shape[0], k = in[0].shape[1];
  const std::vector<Real> a = dequantized<Real>(in[0], in[1]);
  const std::vector<Real> b = dequantized<Real>(in[2], in[3]);
  std::vector<Real> c(static_cast<size_t>(m * n));
  set_product_workers(static_cast<int>(host_workers()));
  multiply<Real>({.transpose_b = true, .m = m, .n = n, .k = k}, 1, {a.data(), k}, {b.data(), k}, 0,
                 {c.data(), n});
  return {c.begin(), c.end()};
}

std::vector<float> modelled_gemm(const Model& model, const std::vector<Tensor>& in) {
  constexpr int64_t kBlock = 128;
  const int64_t b_rows = in[2].shape[0] / in[3].shape[0];  // under one scale: 128, or 1
  const int64_t m = in[0].shape[0], n = in[2].shape[0], k = in[0].shape[1], blocks = k / kBlock;
  const std::vector<float> a = to_float(in[0]), b = to_float(in[2]);
  const std::vector<float> a_scales = to_float(in[1]), b_scales = to_float(in[3]);
  std::vector<float> c(static_cast<size_t>(m * n));
  each_in_parallel(m, [&](int64_t i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t block = 0; block < blocks; ++block) {
        float part = 0;
        model_product(model.order, 1, 1, kBlock, {&a[i * k + block * kBlock], k, 1},
                      {&b[j * k + block * kBlock], 1, k}, &part);
        c[i * n + j] +=
            part * (a_scales[i * blocks + block] * b_scales[j / b_rows * blocks + block]);
      }
    }
  });
  return c;
}

template <typename Real>
Expected attention(const Task& task, const std::vector<Tensor>& in, const Model* model) {
  const std::vector<int64_t>& shape = in[0].shape;
  const int64_t tokens = shape[2], d = shape[3], heads = shape[0] * shape[1], size = tokens * d;
  const auto factor = [&](size_t i) { return elements<Real>(in[i], 0, 1)[0]; };
  const Real scale = factor(3) * factor(4) / std::sqrt(static_cast<Real>(d));
  const Real descale_v = factor(5);
  const bool causal = task.definition.tag("causal") == "true";
  Expected out{std::vector<float>(static_cast<size_t>(heads * size)),
               std::vector<float>(static_cast<size_t>(heads * tokens))};
  set_product_workers(1);
  each_in_parallel(heads, [&](int64_t h) {
    const std::vector<Real> q = elements<Real>(in[0], h * size, size),
                            k = elements<Real>(in[1], h * size, size),
                            v = elements<Real>(in[2], h * size, size);
    std::vector<Real> o(q.size()), lse(static_cast<size_t>(tokens));
    attend_with<Real>(model, {tokens, tokens, d, d, scale, causal, q.data(), k.data(), v.data()},
                      o.data(), lse.data());
    for (int64_t i = 0; i < size; ++i) out[0][h * size + i] = static_cast<float>(o[i] * descale_v);
    std::copy(lse.begin(), lse.end(), out[1].begin() + h * tokens);
  });
  return out;
}

}  // namespace

// A, SF_A, B, SF_B
Expected fp8_gemm(const Task&, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  if (how.model != nullptr) return {modelled_gemm(*how.model, inputs)};
  return {how.sums == Sums::Float64 ? gemm<double>(inputs) : gemm<float>(inputs)};
}

// Q, K, V, descale_q, descale_k, descale_v
Expected fp8_attention(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  return how.sums == Sums::Float64 ? attention<double>(task, inputs, nullptr)
                                   : attention<float>(task, inputs, how.model);
}

}  // namespace weft::problems
