// SPDX-License-Identifier: Apache-2.0

// With s = sigmoid(r), the derivative of r * s is s * (1 + r * (1 - s)). With u = gain * dr:
//   dx = u * inverse - x * (x . u) * inverse^3 / width
#include "lattice/blocks/norm_loops.h"

#include <cmath>

#include "lattice/blocks/swish.h"

namespace weft::lattice {
namespace {

// Eight sums side by side, so that the compiler may vectorise without reordering one.
template <typename Term>
float sum(int64_t count, const Term& term) {
  float lane[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) lane[k] += term(i + k);
  float rest = 0;
  for (; i < count; ++i) rest += term(i);
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])) +
         rest;
}

}  // namespace

void norm_forward(const NormShape& shape, const float* __restrict x, const float* __restrict gain,
                  float* __restrict y, float* inverse) {
  const int64_t width = shape.width;
  for (int64_t row = 0; row < shape.rows; ++row, x += width, y += width) {
    const float mean =
        sum(width, [&](int64_t i) { return x[i] * x[i]; }) / static_cast<float>(width);
    const float scale = 1.0f / std::sqrt(mean + shape.epsilon);
    inverse[row] = scale;
    if (shape.activation == Activation::None) {
      for (int64_t i = 0; i < width; ++i) y[i] = gain[i] * (x[i] * scale);
    } else {
      for (int64_t i = 0; i < width; ++i) {
        const float r = gain[i] * (x[i] * scale);
        y[i] = r * logistic(r);
      }
    }
  }
}

void norm_backward(const NormShape& shape, const float* __restrict x, const float* __restrict gain,
                   const float* inverse, const float* __restrict dy, float* __restrict dx,
                   float* __restrict dgain) {
  const int64_t width = shape.width;
  for (int64_t row = 0; row < shape.rows; ++row, x += width, dy += width, dx += width) {
    const float scale = inverse[row];
    // dx holds u for a moment.
    if (shape.activation == Activation::None) {
      for (int64_t i = 0; i < width; ++i) {
        dgain[i] += dy[i] * (x[i] * scale);
        dx[i] = gain[i] * dy[i];
      }
    } else {
      for (int64_t i = 0; i < width; ++i) {
        const float r = gain[i] * (x[i] * scale), s = logistic(r);
        const float dr = dy[i] * s * (1.0f + r * (1.0f - s));
        dgain[i] += dr * (x[i] * scale);
        dx[i] = gain[i] * dr;
      }
    }
    const float along = sum(width, [&](int64_t i) { return x[i] * dx[i]; });
    const float pull = along * scale * scale * scale / static_cast<float>(width);
    for (int64_t i = 0; i < width; ++i) dx[i] = dx[i] * scale - x[i] * pull;
  }
}

}  // namespace weft::lattice
