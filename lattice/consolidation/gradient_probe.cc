// SPDX-License-Identifier: Apache-2.0

// Sums in double precision: hundreds of thousands of terms of either sign.
#include "lattice/consolidation/gradient_probe.h"

#include <algorithm>
#include <cmath>

namespace weft::lattice {

GradientProbe::GradientProbe(size_t portfolios, size_t features) : halves_(portfolios) {
  for (auto& pair : halves_)
    for (Half& half : pair) {
      half.sums.resize(features);
      half.squares.resize(features);
    }
}

void GradientProbe::add(size_t portfolio, int half, std::span<const float> features,
                        float residual) {
  Half& to = halves_[portfolio][static_cast<size_t>(half)];
  ++to.rows;
  for (size_t i = 0; i < features.size(); ++i) {
    const double term = double{residual} * features[i];
    to.sums[i] += term;
    to.squares[i] += term * term;
  }
}

double GradientProbe::product(const Half& a, const Half& b) const {
  if (a.rows == 0 || b.rows == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < a.sums.size(); ++i) sum += a.sums[i] * b.sums[i];
  return sum / static_cast<double>(a.rows) / static_cast<double>(b.rows);
}

double GradientProbe::strength(size_t portfolio) const {
  const Half &a = halves_[portfolio][0], &b = halves_[portfolio][1];
  if (a.rows == 0 || b.rows == 0) return 0;
  // Under noise alone the product is a sum of independent terms of variance (s1^2 / n1)(s2^2 / n2).
  double variance = 0;
  const auto n1 = static_cast<double>(a.rows), n2 = static_cast<double>(b.rows);
  for (size_t i = 0; i < a.sums.size(); ++i)
    variance += a.squares[i] / (n1 * n1) * (b.squares[i] / (n2 * n2));
  return variance == 0 ? 0 : product(a, b) / std::sqrt(variance);
}

std::optional<double> GradientProbe::cosine(size_t p, size_t q, double least) const {
  if (strength(p) < least || strength(q) < least) return std::nullopt;
  const auto &a = halves_[p], &b = halves_[q];
  // Halves are the same rows for portfolios of one domain, so products stay across halves.
  const double across = (product(a[0], b[1]) + product(a[1], b[0])) / 2;
  return std::clamp(across / std::sqrt(product(a[0], a[1]) * product(b[0], b[1])), -1.0, 1.0);
}

}  // namespace weft::lattice
