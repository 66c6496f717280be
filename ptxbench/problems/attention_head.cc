// SPDX-License-Identifier: Apache-2.0

// kRows queries at a time, so that the block of scores stays in cache.
#include "ptxbench/problems/attention_head.h"

#include <cmath>
#include <limits>

#include "ptxbench/problems/product.h"

namespace weft::problems {
namespace {

constexpr int64_t kRows = 128;

// Scores become probabilities; hidden ones zero. Returns the log-sum-exp.
template <typename Real>
Real softmax_row(Real* row, int64_t visible, int64_t width) {
  std::fill(row + visible, row + width, Real{0});
  if (visible == 0) return -std::numeric_limits<Real>::infinity();
  const Real largest = *std::max_element(row, row + visible);
  double sum = 0;
  for (int64_t j = 0; j < visible; ++j) {
    row[j] = std::exp(row[j] - largest);
    sum += static_cast<double>(row[j]);
  }
  const Real inverse = static_cast<Real>(1.0 / sum);
  for (int64_t j = 0; j < visible; ++j) row[j] *= inverse;
  return static_cast<Real>(static_cast<double>(largest) + std::log(sum));
}

}  // namespace

template <typename Real>
void attend(const AttentionHead<Real>& head, Real* o, Real* lse) {
  std::vector<Real> scores(static_cast<size_t>(std::min(kRows, head.queries) * head.keys));
  for (int64_t first = 0; first < head.queries; first += kRows) {
    const int64_t rows = std::min(kRows, head.queries - first);
    const int64_t width = head.visible(first + rows - 1);
    Real* target = o + first * head.value_dim;
    if (width == 0) {
      std::fill(target, target + rows * head.value_dim, Real{0});
      std::fill(lse + first, lse + first + rows, -std::numeric_limits<Real>::infinity());
      continue;
    }
    multiply<Real>({.transpose_b = true, .m = rows, .n = width, .k = head.dim}, head.scale,
                   {head.q + first * head.dim, head.dim}, {head.k, head.dim}, 0,
                   {scores.data(), width});
    for (int64_t r = 0; r < rows; ++r)
      lse[first + r] = softmax_row(&scores[r * width], head.visible(first + r), width);
    multiply<Real>({.m = rows, .n = head.value_dim, .k = width}, 1, {scores.data(), width},
                   {head.v, head.value_dim}, 0, {target, head.value_dim});
  }
}

template <typename Real>
HeadGradients<Real> attend_backward(const AttentionHead<Real>& head, const Real* grad,
                                    const Real* lse, const Real* delta) {
  const int64_t d = head.dim, dv = head.value_dim;
  HeadGradients<Real> out{std::vector<Real>(static_cast<size_t>(head.queries * d)),
                          std::vector<Real>(static_cast<size_t>(head.keys * d)),
                          std::vector<Real>(static_cast<size_t>(head.keys * dv))};
  std::vector<Real> p(static_cast<size_t>(std::min(kRows, head.queries) * head.keys));
  std::vector<Real> ds(p.size());
  for (int64_t first = 0; first < head.queries; first += kRows) {
    const int64_t rows = std::min(kRows, head.queries - first);
    const int64_t width = head.visible(first + rows - 1);
    if (width == 0) continue;
    const Real* q_rows = head.q + first * d;
    const Real* grad_rows = grad + first * dv;
    multiply<Real>({.transpose_b = true, .m = rows, .n = width, .k = d}, head.scale, {q_rows, d},
                   {head.k, d}, 0, {p.data(), width});
    multiply<Real>({.transpose_b = true, .m = rows, .n = width, .k = dv}, 1, {grad_rows, dv},
                   {head.v, dv}, 0, {ds.data(), width});
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t visible = head.visible(first + r);
      Real* p_row = &p[r * width];
      Real* ds_row = &ds[r * width];
      for (int64_t j = 0; j < visible; ++j) {
        p_row[j] = std::exp(p_row[j] - lse[first + r]);
        ds_row[j] = p_row[j] * (ds_row[j] - delta[first + r]);
      }
      std::fill(p_row + visible, p_row + width, Real{0});
      std::fill(ds_row + visible, ds_row + width, Real{0});
    }
    multiply<Real>({.m = rows, .n = d, .k = width}, head.scale, {ds.data(), width}, {head.k, d}, 0,
                   {&out.dq[first * d], d});
    multiply<Real>({.transpose_a = true, .m = width, .n = d, .k = rows}, head.scale,
                   {ds.data(), width}, {q_rows, d}, 1, {out.dk.data(), d});
    multiply<Real>({.transpose_a = true, .m = width, .n = dv, .k = rows}, 1, {p.data(), width},
                   {grad_rows, dv}, 1, {out.dv.data(), dv});
  }
  return out;
}

template void attend(const AttentionHead<float>&, float*, float*);
template void attend(const AttentionHead<double>&, double*, double*);
template HeadGradients<float> attend_backward(const AttentionHead<float>&, const float*,
                                              const float*, const float*);
template HeadGradients<double> attend_backward(const AttentionHead<double>&, const double*,
                                               const double*, const double*);

}  // namespace weft::problems
