// SPDX-License-Identifier: Apache-2.0

// The scalar pieces of binary losses, safe for any logit.
#pragma once

#include <algorithm>
#include <cmath>

namespace weft::lattice {

inline double sigmoid(double logit) {
  return logit >= 0 ? 1 / (1 + std::exp(-logit)) : std::exp(logit) / (1 + std::exp(logit));
}

// ln(1 + e^z); -ln(1 - sigmoid(z)).
inline double softplus(double logit) {
  return std::max(logit, 0.0) + std::log1p(std::exp(-std::abs(logit)));
}

// -y ln p - (1-y) ln(1-p) at p = sigmoid(z). Its derivative by z is p - y.
inline double cross_entropy(double logit, double label) {
  return softplus(logit) - label * logit;
}

}  // namespace weft::lattice
