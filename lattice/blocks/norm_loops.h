// SPDX-License-Identifier: Apache-2.0

// The norms in fp32 as single loops over rows, forward and backward. Written as tensor operations
// they read and write the activations about eight times; at the widths of these networks that costs
// more than the matrix products around them.
#pragma once

#include <cstdint>

namespace weft::lattice {

enum class Activation : uint8_t { None, Swish };

struct NormShape {
  int64_t rows, width;
  float epsilon;
  Activation activation;
};

// y [rows, width]; inverse [rows] keeps 1 / sqrt(mean(x^2) + epsilon) for the way back.
void norm_forward(const NormShape& shape, const float* x, const float* gain, float* y,
                  float* inverse);
// dx is written, dgain [width] is added to.
void norm_backward(const NormShape& shape, const float* x, const float* gain, const float* inverse,
                   const float* dy, float* dx, float* dgain);

}  // namespace weft::lattice
