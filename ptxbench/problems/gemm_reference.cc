// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B). Products of bfloat16 numbers are exact in float32, so only the sums round:
// about 1e-6 relative to the sum of magnitudes, four digits below the tolerance.
#include "base/parallel.h"
#include "ptxbench/problems/family.h"
#include "ptxbench/problems/product.h"

namespace weft::problems {
namespace {

template <typename Real>
std::vector<float> gemm(const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  const std::vector<Real> left = elements<Real>(a, 0, a.count());
  const std::vector<Real> right = elements<Real>(b, 0, b.count());
  std::vector<Real> c(static_cast<size_t>(m * n));
  set_product_workers(static_cast<int>(host_workers()));
  multiply<Real>({.transpose_b = true, .m = m, .n = n, .k = k}, 1, {left.data(), k},
                 {right.data(), k}, 0, {c.data(), n});
  return {c.begin(), c.end()};
}

std::vector<float> modelled_gemm(const Model& model, const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  const std::vector<float> left = rounded(to_float(a), model.operands);
  const std::vector<float> right = rounded(to_float(b), model.operands);
  std::vector<float> c(static_cast<size_t>(m * n));
  each_in_parallel(m, [&](int64_t row) {
    model_product(model.order, 1, n, k, {&left[row * k], k, 1}, {right.data(), 1, k}, &c[row * n]);
  });
  return c;
}

}  // namespace

Expected gemm_reference(const Task&, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  if (how.model != nullptr) return {modelled_gemm(*how.model, inputs[0], inputs[1])};
  return {how.sums == Sums::Float64 ? gemm<double>(inputs[0], inputs[1])
                                    : gemm<float>(inputs[0], inputs[1])};
}

}  // namespace weft::problems
