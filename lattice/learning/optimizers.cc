// SPDX-License-Identifier: Apache-2.0

#include "lattice/learning/optimizers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/invariant.h"

namespace weft::lattice {

double schedule(const AdamOptions& options, uint64_t step) {
  const auto now = static_cast<double>(step);
  double factor = 1;
  if (step < options.warm_up_steps) factor = now / static_cast<double>(options.warm_up_steps);
  if (options.total_steps != 0) {
    const double done = std::min(1.0, now / static_cast<double>(options.total_steps));
    factor *= 1 - done * (1 - options.end_share);
  }
  return factor;
}

double adam_step(const AdamOptions& options, uint64_t step, std::span<DenseParameter> parameters) {
  double square = 0;
  for (const DenseParameter& one : parameters)
    for (const float slope : one.gradient) square += static_cast<double>(slope) * slope;
  const double norm = std::sqrt(square);
  if (!std::isfinite(norm)) return norm;
  const double clip =
      options.clip_norm > 0 && norm > options.clip_norm ? options.clip_norm / norm : 1;
  const auto count = static_cast<double>(step);
  const double rate = options.learning_rate * schedule(options, step);
  const auto scale = static_cast<float>(clip);
  const auto beta1 = static_cast<float>(options.beta1), beta2 = static_cast<float>(options.beta2);
  const auto move = static_cast<float>(rate / (1 - std::pow(options.beta1, count)));
  const auto correction = static_cast<float>(1 / std::sqrt(1 - std::pow(options.beta2, count)));
  const auto epsilon = static_cast<float>(options.epsilon);
  const auto keep = static_cast<float>(1 - rate * options.weight_decay);
  for (const DenseParameter& one : parameters) {
    if (one.gradient.empty()) continue;
    INVARIANT(one.gradient.size() == one.value.size() && one.first.size() == one.value.size());
    float* value = one.value.data();
    float* first = one.first.data();
    float* second = one.second.data();
    const float* gradient = one.gradient.data();
    for (size_t i = 0; i < one.value.size(); ++i) {
      const float slope = gradient[i] * scale;
      first[i] = beta1 * first[i] + (1 - beta1) * slope;
      second[i] = beta2 * second[i] + (1 - beta2) * slope * slope;
      value[i] = keep * value[i] - move * first[i] / (std::sqrt(second[i]) * correction + epsilon);
    }
  }
  return norm;
}

void adagrad_rows_step(double learning_rate, double epsilon, size_t width, std::span<float> table,
                       std::span<float> accumulator, const TableGradient& gradient) {
  const size_t count = gradient.rows.size();
  INVARIANT(gradient.values.size() == count * width);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return gradient.rows[a] != gradient.rows[b] ? gradient.rows[a] < gradient.rows[b] : a < b;
  });
  std::vector<float> sum(width);
  for (size_t i = 0; i < count;) {
    const int64_t row = gradient.rows[order[i]];
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (; i < count && gradient.rows[order[i]] == row; ++i)
      for (size_t k = 0; k < width; ++k) sum[k] += gradient.values[order[i] * width + k];
    double square = 0;
    for (const float one : sum) square += static_cast<double>(one) * one;
    float& seen = accumulator[static_cast<size_t>(row)];
    seen += static_cast<float>(square / static_cast<double>(width));
    const auto move = static_cast<float>(learning_rate / (std::sqrt(seen) + epsilon));
    float* const values = table.data() + static_cast<size_t>(row) * width;
    for (size_t k = 0; k < width; ++k) values[k] -= move * sum[k];
  }
}

}  // namespace weft::lattice
