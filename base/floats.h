// SPDX-License-Identifier: Apache-2.0

// Narrow floating-point formats for host code: bf16, f16 and the two 8-bit formats, to and from
// float. Rounding is to nearest, ties to even. The emulated conversions, with all their modes, are
// in the emulator; these serve references, test data and comparisons.
//
//   format   sign exponent mantissa   bias   largest
//   bf16        1        8        7    127   3.39e38
//   f16         1        5       10     15     65504
//   e5m2        1        5        2     15     57344
//   e4m3        1        4        3      7       448   (no infinity; all ones is NaN)
#pragma once

#include <bit>
#include <cstdint>

namespace weft {

constexpr float bf16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

constexpr uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  // A NaN stays one: rounding could carry it to infinity.
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  const uint32_t odd = bits >> 16 & 1;
  return static_cast<uint16_t>((bits + 0x7fff + odd) >> 16);
}

namespace floats {

// A format with `exponent_bits` and `mantissa_bits`, gradual underflow, and IEEE infinities and
// NaN.
template <int exponent_bits, int mantissa_bits>
constexpr float widen(uint32_t bits) {
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr uint32_t kSpecial = (1u << exponent_bits) - 1;
  const uint32_t sign = bits >> (exponent_bits + mantissa_bits) << 31;
  const uint32_t exponent = bits >> mantissa_bits & kSpecial;
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t aligned = mantissa << (23 - mantissa_bits);
  if (exponent == kSpecial) return std::bit_cast<float>(sign | 0x7f800000 | aligned);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 127 - kBias) << 23 | aligned);
  // Subnormal: mantissa * 2^(1 - bias - mantissa_bits), exact in float.
  const float unit = std::bit_cast<float>(static_cast<uint32_t>(128 - kBias - mantissa_bits) << 23);
  const float magnitude = static_cast<float>(mantissa) * unit;
  return sign != 0 ? -magnitude : magnitude;
}

// The magnitude of a finite float, rounded, with an exponent field that may run over the format's
// largest: the caller decides what that means.
template <int exponent_bits, int mantissa_bits>
constexpr uint32_t round_magnitude(uint32_t magnitude) {
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr int kDropped = 23 - mantissa_bits;
  const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
  // The significand with its leading one; a float subnormal is far below every format here.
  const uint32_t significand = magnitude >> 23 == 0 ? 0 : (magnitude & 0x7fffff) | 0x800000;
  const int shift = exponent > 0 ? kDropped : kDropped + 1 - exponent;
  if (shift > 24) return 0;
  const uint32_t kept = significand >> shift;
  const uint32_t rest = significand & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  const uint32_t up = rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  // A normal's leading one adds one to the exponent field, so the field starts one lower; a carry
  // out of the mantissa moves it up by itself, also from the largest subnormal to the first normal.
  const uint32_t field = exponent > 0 ? static_cast<uint32_t>(exponent - 1) << mantissa_bits : 0;
  return field + kept + up;
}

}  // namespace floats

constexpr float f16_to_float(uint16_t bits) {
  return floats::widen<5, 10>(bits);
}

constexpr uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 65536 and above
  return static_cast<uint16_t>(sign | floats::round_magnitude<5, 10>(magnitude));
}

constexpr float e5m2_to_float(uint8_t bits) {
  return floats::widen<5, 2>(bits);
}

constexpr float e4m3_to_float(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f)
    return std::bit_cast<float>(static_cast<uint32_t>(bits & 0x80) << 24 | 0x7fc00000);
  // The field of all ones is an ordinary exponent here: 2^8 * (1 + mantissa / 8).
  if ((bits & 0x78) == 0x78)
    return std::bit_cast<float>(static_cast<uint32_t>(bits & 0x80) << 24 | (127u + 8) << 23 |
                                static_cast<uint32_t>(bits & 7) << 20);
  return floats::widen<4, 3>(bits);
}

// Values beyond the largest finite one become it, as `cvt.rn.satfinite` does; NaN stays NaN.
constexpr uint8_t float_to_e4m3(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 24 & 0x80;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7f;
  if (magnitude >= 0x43e00000) return static_cast<uint8_t>(sign | 0x7e);  // 448 and above
  const uint32_t rounded = floats::round_magnitude<4, 3>(magnitude);
  return static_cast<uint8_t>(sign | (rounded > 0x7e ? 0x7e : rounded));
}

constexpr uint8_t float_to_e5m2(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 24 & 0x80;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7f;
  if (magnitude >= 0x47600000) return static_cast<uint8_t>(sign | 0x7b);  // 57344 and above
  const uint32_t rounded = floats::round_magnitude<5, 2>(magnitude);
  return static_cast<uint8_t>(sign | (rounded > 0x7b ? 0x7b : rounded));
}

}  // namespace weft
