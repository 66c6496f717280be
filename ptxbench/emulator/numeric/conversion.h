// SPDX-License-Identifier: Apache-2.0

// Conversions between integers and floats of one lane (PTX ISA 9.7.9.21). Floats outside the
// integer's range become its nearest end.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/rounding.h"

namespace weft::emulator::numeric {

// To a whole number in floating point: .rni .rzi .rmi .rpi.
template <Rounding kRounding>
inline float to_whole(float value) {
  if constexpr (kRounding == Rounding::Nearest) return __builtin_rintf(value);
  if constexpr (kRounding == Rounding::Zero) return __builtin_truncf(value);
  if constexpr (kRounding == Rounding::Down) return __builtin_floorf(value);
  if constexpr (kRounding == Rounding::Up) return __builtin_ceilf(value);
}
template <Rounding kRounding>
inline double to_whole(double value) {
  if constexpr (kRounding == Rounding::Nearest) return __builtin_rint(value);
  if constexpr (kRounding == Rounding::Zero) return __builtin_trunc(value);
  if constexpr (kRounding == Rounding::Down) return __builtin_floor(value);
  if constexpr (kRounding == Rounding::Up) return __builtin_ceil(value);
}

// What NaN becomes: 0, but 1 << (bits - 1) when f64 or a 64-bit integer takes part.
template <std::integral I, std::floating_point F>
constexpr I integer_of_nan() {
  if constexpr (sizeof(I) == 8 || sizeof(F) == 8)
    return static_cast<I>(
        static_cast<std::make_unsigned_t<I>>(std::make_unsigned_t<I>{1} << (sizeof(I) * 8 - 1)));
  return 0;
}

// A whole number to an integer, clamped to [low, high], which must be values of I.
template <std::integral I, std::floating_point F>
inline I to_integer(F whole, I low, I high) {
  // `bound` is a power of two or exact in F; above it lies nothing that I can hold.
  const F top = static_cast<F>(high), bottom = static_cast<F>(low);
  const bool over = whole >= top, under = whole <= bottom;
  const F inside = over || under || whole != whole ? F{0} : whole;
  I value = 0;
  if constexpr (sizeof(I) == 4 && std::is_unsigned_v<I>) {
    // Through signed integers, which the vector unit can convert to.
    const F half = static_cast<F>(2147483648.0);
    const bool upper = inside >= half;
    value = static_cast<uint32_t>(static_cast<int32_t>(upper ? inside - half : inside)) ^
            (upper ? 0x80000000u : 0u);
  } else {
    value = static_cast<I>(inside);
  }
  value = over ? high : value;
  value = under ? low : value;
  return whole != whole ? integer_of_nan<I, F>() : value;
}

// A 64-bit integer as a double, with the bits that do not fit gathered in the last one. Rounding it
// to at most 50 bits then rounds the integer itself.
inline double sticky_double(uint64_t value) {
  const bool large = value >> 52 != 0;
  const uint64_t kept = large ? value >> 12 << 12 | ((value & 0xfff) != 0 ? 0x1000 : 0) : value;
  return static_cast<double>(kept);
}
inline double sticky_double(int64_t value) {
  const bool negative = value < 0;
  const double magnitude =
      sticky_double(negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  return negative ? -magnitude : magnitude;
}

template <std::integral I>
inline double to_double(I value, Rounding rounding) {
  const auto nearest = static_cast<double>(value);
  if (rounding == Rounding::Nearest || sizeof(I) < 8) return nearest;
  const auto back = static_cast<__int128>(nearest);
  return directed(nearest, back<value, back> value, rounding);
}

}  // namespace weft::emulator::numeric
