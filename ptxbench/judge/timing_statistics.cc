// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/timing_statistics.h"

#include <algorithm>
#include <cmath>

namespace weft::judge {

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

Interval median_interval(std::vector<double> values, double confidence) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double tail = (1 - confidence) / 2;
  // Terms of the binomial by logarithms: 2^-n underflows beyond a thousand samples.
  double below = 0;  // P(Binomial(n, 1/2) < j)
  double term = -static_cast<double>(n) * std::log(2.0);
  size_t j = 0;
  while (j < n / 2) {
    const double next = below + std::exp(term);
    if (next > tail) break;
    below = next;
    term += std::log(static_cast<double>(n - j)) - std::log(static_cast<double>(j + 1));
    ++j;
  }
  if (j == 0) return {values.front(), values.back()};
  return {values[j - 1], values[n - j]};
}

double spread(const std::vector<double>& values) {
  return (quantile(values, 0.9) - quantile(values, 0.1)) / quantile(values, 0.5);
}

}  // namespace weft::judge
