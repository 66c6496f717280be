// SPDX-License-Identifier: Apache-2.0

// Bit patterns of f32 and f64 and the adjustments that PTX modifiers ask for. Everything is
// branch-free and works on the pattern: comparing a subnormal number as a float can cost a
// processor assist.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace weft::emulator::numeric {

template <std::floating_point T>
struct FloatBits;

template <>
struct FloatBits<float> {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x80000000u;
  static constexpr Bits kInfinity = 0x7f800000u;
  // Every f32 instruction that makes a NaN makes this one.
  static constexpr Bits kNan = 0x7fffffffu;
  static constexpr Bits kQuiet = 0x00400000u;
};

template <>
struct FloatBits<double> {
  using Bits = uint64_t;
  static constexpr Bits kSign = 0x8000000000000000ull;
  static constexpr Bits kInfinity = 0x7ff0000000000000ull;
  static constexpr Bits kNan = 0xfff8000000000000ull;
  static constexpr Bits kQuiet = 0x0008000000000000ull;
};

template <std::floating_point T>
constexpr typename FloatBits<T>::Bits bits_of(T value) {
  return std::bit_cast<typename FloatBits<T>::Bits>(value);
}

template <std::floating_point T>
constexpr T from_bits(typename FloatBits<T>::Bits bits) {
  return std::bit_cast<T>(bits);
}

template <std::floating_point T>
constexpr T canonical_nan() {
  return from_bits<T>(FloatBits<T>::kNan);
}

template <std::floating_point T>
constexpr bool is_nan(T value) {
  return value != value;
}

// What f64 instructions make of a NaN operand: its sign and payload stay.
constexpr double quieted(double nan) {
  return from_bits<double>(bits_of(nan) | FloatBits<double>::kQuiet);
}

// f32 results that are NaN lose their payload. f64 instructions keep it, and the one that the host
// makes out of nothing is the device's: so f64 values pass unchanged.
constexpr float canonical(float value) {
  return is_nan(value) ? canonical_nan<float>() : value;
}
constexpr double canonical(double value) {
  return value;
}

// `.ftz`: subnormal numbers become zero of the same sign.
template <std::floating_point T>
constexpr T flushed(T value) {
  using F = FloatBits<T>;
  const auto bits = bits_of(value);
  const auto dropped = (bits & F::kInfinity) == 0 ? static_cast<typename F::Bits>(~F::kSign) : 0;
  return from_bits<T>(bits & ~dropped);
}

// `.sat`: into [0, 1]; NaN and negative zero become positive zero.
template <std::floating_point T>
constexpr T saturated(T value) {
  const T above = value > T{0} ? value : T{0};
  return above < T{1} ? above : T{1};
}

}  // namespace weft::emulator::numeric
