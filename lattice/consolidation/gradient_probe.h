// SPDX-License-Identifier: Apache-2.0

// The gradient that each portfolio sends into the weights of a shared linear model where training
// starts: weights of zero, each portfolio's intercept at its own rate. Two portfolios whose
// gradients point apart pull shared weights apart.
//
// A mean over few conversions is mostly noise, which would drive every cosine to zero. So each
// portfolio has two gradients from two halves of its rows, and products are taken across halves:
// noise that is independent averages out of them.
//
//   cos(p, q) = (p1.q2 + p2.q1) / 2 / sqrt(p1.p2  q1.q2)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::lattice {

class GradientProbe {
 public:
  GradientProbe(size_t portfolios, size_t features);

  // Features are standardized; a missing one is 0. `half` is 0 or 1.
  void add(size_t portfolio, int half, std::span<const float> features, float residual);
  // None when either gradient is not `least` standard errors away from nothing.
  std::optional<double> cosine(size_t p, size_t q, double least) const;

 private:
  struct Half {
    uint64_t rows = 0;
    std::vector<double> sums, squares;  // of residual * feature
  };
  double product(const Half& a, const Half& b) const;
  // Of a portfolio's p1.p2, in standard errors of that product under pure noise.
  double strength(size_t portfolio) const;

  std::vector<std::array<Half, 2>> halves_;
};

}  // namespace weft::lattice
