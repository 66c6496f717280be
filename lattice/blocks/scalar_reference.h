// SPDX-License-Identifier: Apache-2.0

// What the tests of blocks compare with: the same formulas, written apart from the blocks as loops
// over numbers in float64, and derivatives by finite differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "lattice/blocks/parameters.h"
#include "lattice/blocks/segments.h"

namespace weft::lattice::reference {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

// The last dimension of a tensor as columns, the others as rows.
inline Matrix matrix(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous();
  const int64_t width = flat.size(-1), rows = width == 0 ? 0 : flat.numel() / width;
  Matrix made(static_cast<size_t>(rows), Row(static_cast<size_t>(width)));
  const double* from = flat.data_ptr<double>();
  for (auto& row : made)
    for (double& value : row) value = *from++;
  return made;
}

inline Row times(const Row& x, const Matrix& weight) {
  Row y(weight.empty() ? 0 : weight[0].size());
  for (size_t j = 0; j < y.size(); ++j)
    for (size_t i = 0; i < x.size(); ++i) y[j] += x[i] * weight[i][j];
  return y;
}

inline Row norm(const Row& x, const Row& gain) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  Row y = x;
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = gain[i] * x[i] / std::sqrt(sum / static_cast<double>(x.size()) + 1e-6);
  return y;
}

inline Row swish(Row x) {
  for (double& value : x) value = value / (1 + std::exp(-value));
  return x;
}

inline Row softmax(Row x) {
  double sum = 0;
  for (double& value : x) sum += value = std::exp(value);
  for (double& value : x) value /= sum;
  return x;
}

inline Row plus(Row x, const Row& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

// x (n tokens) -> m tokens by weight [n][m].
inline Matrix mix(const Matrix& x, const Matrix& weight) {
  Matrix y(weight[0].size(), Row(x[0].size()));
  for (size_t m = 0; m < y.size(); ++m)
    for (size_t n = 0; n < x.size(); ++n)
      for (size_t c = 0; c < x[0].size(); ++c) y[m][c] += weight[n][m] * x[n][c];
  return y;
}

// One history: per head norms, rotations by position, softmax over all events.
inline Matrix attend(const Matrix& qkv, const Row& gain_q, const Row& gain_k, size_t heads) {
  const size_t n = qkv.size(), width = qkv.empty() ? 0 : qkv[0].size() / 3, w = width / heads;
  Matrix out(n, Row(width));
  const auto part = [&](size_t t, size_t which, size_t h) {
    const auto begin = qkv[t].begin() + static_cast<std::ptrdiff_t>(which * width + h * w);
    return Row(begin, begin + static_cast<std::ptrdiff_t>(w));
  };
  const auto rotated = [&](size_t t, size_t which, size_t h, const Row& gains) {
    const auto begin = gains.begin() + static_cast<std::ptrdiff_t>(h * w);
    const Row x = norm(part(t, which, h), Row(begin, begin + static_cast<std::ptrdiff_t>(w)));
    Row y = x;
    for (size_t i = 0; i < w / 2; ++i) {
      const double angle =
          static_cast<double>(t) *
          std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(w));
      y[i] = x[i] * std::cos(angle) - x[i + w / 2] * std::sin(angle);
      y[i + w / 2] = x[i] * std::sin(angle) + x[i + w / 2] * std::cos(angle);
    }
    return y;
  };
  for (size_t h = 0; h < heads; ++h)
    for (size_t t = 0; t < n; ++t) {
      const Row q = rotated(t, 0, h, gain_q);
      Row score(n);
      for (size_t j = 0; j < n; ++j) {
        const Row k = rotated(j, 1, h, gain_k);
        for (size_t i = 0; i < w; ++i) score[j] += q[i] * k[i] / std::sqrt(static_cast<double>(w));
      }
      const Row weight = softmax(score);
      for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < w; ++i) out[t][h * w + i] += weight[j] * part(j, 2, h)[i];
    }
  return out;
}

inline void expect_near(const at::Tensor& tensor, const Matrix& expected, double tolerance,
                        const std::string& what = "") {
  const Matrix found = matrix(tensor);
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << what;
    for (size_t j = 0; j < found[i].size(); ++j)
      ASSERT_NEAR(found[i][j], expected[i][j], tolerance * (1 + std::abs(expected[i][j])))
          << what << " [" << i << "][" << j << "]";
  }
}

// The weights of the block under test by name.
inline at::Tensor weight(const Parameters& parameters, const std::string& name) {
  for (const auto& named : parameters.all())
    if (named.name == name) return named.value;
  ADD_FAILURE() << "no weight " << name;
  return {};
}

// Gains other than one, so that a forgotten gain is seen.
inline void stir(const Parameters& parameters) {
  const at::NoGradGuard still;
  for (const auto& named : parameters.all()) {
    at::Tensor value = named.value.detach();
    value.add_(at::arange(value.numel(), value.options()).mul(1.3).sin().mul(0.2).view_as(value));
  }
}

inline at::Tensor numbers(at::IntArrayRef shape, double phase = 0.3,
                          at::ScalarType type = at::kDouble) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return at::arange(count, at::kDouble).mul(0.77).add(phase).sin().view(shape).to(type);
}

inline at::Tensor weighted_sum(const at::Tensor& y) {
  return (y * numbers(y.sizes(), 1.1, y.scalar_type())).sum();
}

// The derivative of weighted_sum(f()) by each leaf, at up to seven places of each.
inline void expect_derivatives(const std::function<at::Tensor()>& f,
                               std::vector<at::Tensor> leaves) {
  for (at::Tensor& leaf : leaves) leaf.mutable_grad() = at::Tensor();
  weighted_sum(f()).backward();
  for (size_t l = 0; l < leaves.size(); ++l) {
    const at::Tensor gradient = leaves[l].grad();
    ASSERT_TRUE(gradient.defined()) << "leaf " << l;
    const at::NoGradGuard still;
    at::Tensor flat = leaves[l].detach().view({-1});
    const int64_t count = flat.size(0), step = std::max<int64_t>(1, count / 7);
    for (int64_t i = 0; i < count; i += step) {
      const double value = flat[i].item<double>(), h = 1e-6;
      flat[i].fill_(value + h);
      const double above = weighted_sum(f()).item<double>();
      flat[i].fill_(value - h);
      const double below = weighted_sum(f()).item<double>();
      flat[i].fill_(value);
      const double expected = gradient.flatten()[i].item<double>();
      EXPECT_NEAR((above - below) / (2 * h), expected, 1e-6 * (1 + std::abs(expected)))
          << "leaf " << l << " place " << i;
    }
  }
}

inline std::vector<at::Tensor> leaves(const Parameters& parameters,
                                      std::vector<at::Tensor> more = {}) {
  for (const auto& named : parameters.all()) more.push_back(named.value);
  return more;
}

inline Segments segments_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return {at::tensor(offsets, at::kLong)};
}

// Calls with each history's rows [begin, end).
template <typename Each>
void for_each_history(const Segments& segments, const Each& each) {
  const int64_t* offset = segments.offsets.data_ptr<int64_t>();
  for (int64_t row = 0; row < segments.rows(); ++row)
    each(static_cast<size_t>(row), static_cast<size_t>(offset[row]),
         static_cast<size_t>(offset[row + 1]));
}

inline Matrix part(const Matrix& x, size_t begin, size_t end) {
  return {x.begin() + static_cast<std::ptrdiff_t>(begin),
          x.begin() + static_cast<std::ptrdiff_t>(end)};
}

inline Row flat(const Matrix& x) {
  Row y;
  for (const Row& row : x) y.insert(y.end(), row.begin(), row.end());
  return y;
}

}  // namespace weft::lattice::reference
