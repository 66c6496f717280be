// SPDX-License-Identifier: Apache-2.0

// exp and the logistic function as arithmetic that the compiler vectorises: the C library's expf
// is a call a number. Within 2 units in the last place of fp32 between -87 and 88.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::lattice {

inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  // x = n ln 2 + r. Adding 1.5 * 2^23 rounds to the nearest integer.
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  // ln 2 in two parts, so that n * high is exact.
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  // The polynomial of Cephes's expf for |r| <= ln(2) / 2.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t scale = (static_cast<int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(scale);
}

inline float logistic(float x) {
  return 1.0f / (1.0f + fast_exp(-x));
}

}  // namespace weft::lattice
