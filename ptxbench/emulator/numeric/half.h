// SPDX-License-Identifier: Apache-2.0

// f16 and bf16: to and from f32, and arithmetic on them. Patterns travel in the low half of a
// uint32_t so that loops over packed registers vectorise.
//
// Rounding twice. f32 has 24 bits, enough (2p + 2) that a sum, difference or product computed in
// f32 and rounded to f16 (p = 11) or bf16 (p = 8) equals the directly rounded one; subnormal sums
// are exact in f32, and subnormal products round alike. A fused multiply-add needs more: it is
// summed in double and brought to f32 by rounding to odd, after which one rounding to the half
// format is exact.
#pragma once

#include <cstdint>

#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/rounding.h"

namespace weft::emulator::numeric {

// A float with the last bit set when the double lies between it and a neighbour.
inline float to_odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  const uint32_t bits = bits_of(nearest);
  const bool below = back<value, above = back> value;
  const bool grows = below == ((bits & FloatBits<float>::kSign) == 0);
  return from_bits<float>(below | above ? (bits - (grows ? 0 : 1)) | 1 : bits);
}

// a * b + c as a float that rounds correctly to either half format.
inline float fused_for_half(float a, float b, float c) {
  const double product = double{a} * double{b};
  const double addend = c;
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  return to_odd_float(rounded_to_odd(sum, error));
}

struct F16 {
  static constexpr uint32_t kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7fff, kOne = 0x3c00;
  static constexpr uint32_t kMaximum = 0x7bff;

  static constexpr float to_float(uint32_t half) {
    const uint32_t magnitude = (half & 0x7fffu) << 13;
    const uint32_t exponent = magnitude & 0x0f800000u;
    // Rebias by 112; infinities and NaN by another 112. A subnormal gets the exponent of 2^-14 and
    // gives the implicit bit back.
    const uint32_t rebiased = magnitude + (112u << 23);
    const uint32_t special = rebiased + (112u << 23);
    const uint32_t subnormal =
        bits_of(from_bits<float>(rebiased + (1u << 23)) - from_bits<float>(113u << 23));
    const uint32_t bits = exponent == 0x0f800000u ? special : exponent == 0 ? subnormal : rebiased;
    return from_bits<float>(bits | (half & kSign) << 16);
  }

  static constexpr uint32_t from_float(float value) {
    const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
    const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    // 0.5 has the spacing of f16 subnormals, so the sum rounds to one of them.
    const uint32_t small = magnitude > 0x33000000u ? magnitude : 0;
    const uint32_t subnormal =
        bits_of(from_bits<float>(small < 0x38800000u ? small : 0) + 0.5f) - bits_of(0.5f);
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x47800000u ? kInfinity : half;
    half |= bits >> 16 & kSign;
    return magnitude > 0x7f800000u ? kNan : half;
  }

  static constexpr uint32_t flushed(uint32_t half) {
    return (half & kInfinity) == 0 ? half & kSign : half;
  }
};

struct Bf16 {
  static constexpr uint32_t kSign = 0x8000, kInfinity = 0x7f80, kNan = 0x7fff, kOne = 0x3f80;
  static constexpr uint32_t kMaximum = 0x7f7f;

  static constexpr float to_float(uint32_t half) { return from_bits<float>(half << 16); }

  static constexpr uint32_t from_float(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? kNan : rounded;
  }

  static constexpr uint32_t flushed(uint32_t half) {
    return (half & kInfinity) == 0 ? half & kSign : half;
  }
};

// A NaN loses its sign and payload, other values pass.
template <typename Format>
constexpr uint32_t canonical_half(uint32_t half) {
  return (half & 0x7fffu) > Format::kInfinity ? Format::kNan : half;
}

// An integer that orders halves as numbers, with -0 below +0.
constexpr int32_t half_order_key(uint32_t half) {
  const auto value = static_cast<int32_t>(half << 16) >> 16;
  return value ^ ((value >> 15) & 0x7fff);
}

}  // namespace weft::emulator::numeric
