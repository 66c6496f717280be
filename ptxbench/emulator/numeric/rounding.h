// SPDX-License-Identifier: Apache-2.0

// Arithmetic in the four rounding modes of PTX. The host's rounding mode stays at nearest: a
// directed result is the nearest one moved by at most one step, once the sign of its error is
// known.
//   f32  is computed in double, where products are exact and sums leave an exact remainder;
//   f64  is computed in the 113-bit format of the compiler, which has range to spare.
#pragma once

#include <cmath>
#include <cstdint>

#include "ptxbench/emulator/numeric/float_bits.h"

namespace weft::emulator::numeric {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

// The neighbour of `value` when its error (exact minus value) has the given sign. Infinity steps to
// the largest finite number, zero to the smallest subnormal one.
template <std::floating_point T>
inline T directed(T value, bool exact_is_above, bool exact_is_below, Rounding rounding) {
  using F = FloatBits<T>;
  const auto bits = bits_of(value);
  const bool negative = (bits & F::kSign) != 0;
  const bool zero = rounding == Rounding::Zero;
  // Towards zero a positive result may only go down and a negative one only up.
  const bool up = exact_is_above & ((rounding == Rounding::Up) | (zero & negative));
  const bool down = exact_is_below & ((rounding == Rounding::Down) | (zero & !negative));
  // One step away from zero adds 1 to the pattern, one step towards it subtracts 1.
  const auto step = up != negative ? typename F::Bits{1} : ~typename F::Bits{0};
  return from_bits<T>(up | down ? bits + step : bits);
}

// A double with the last bit set when `error` says that the exact value lies between it and a
// neighbour ("round to odd"). Rounding it once more to f32 gives what rounding the exact value
// would.
inline double rounded_to_odd(double value, double error) {
  const uint64_t bits = bits_of(value);
  const bool inexact = (error > 0) | (error < 0);
  const bool grows = (error > 0) == ((bits & FloatBits<double>::kSign) == 0);
  // Of the two patterns around the exact value, the odd one.
  return from_bits<double>(inexact ? (bits - (grows ? 0 : 1)) | 1 : bits);
}

inline float to_float(double value, Rounding rounding) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  return rounding == Rounding::Nearest ? nearest
                                       : directed(nearest, back<value, back> value, rounding);
}

// Exact sums that are zero: +0 + -0 and x - x are -0 when rounding down, else +0.
template <std::floating_point T>
inline T zero_sum(T value, bool product_negative, T c, Rounding rounding) {
  const bool any_negative = product_negative | ((bits_of(c) & FloatBits<T>::kSign) != 0);
  return (rounding == Rounding::Down) & any_negative ? -T{0} : value;
}

inline float fused_multiply_add(float a, float b, float c, Rounding rounding) {
  const double product = double{a} * double{b};
  const double addend = c;
  const double sum = product + addend;
  // The remainder of the sum, exactly, whichever operand is larger.
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  // The float next to the sum is next to the exact value too, so the two signs of the remainder say
  // which side it lies on.
  const float nearest = static_cast<float>(sum);
  const double back = nearest;
  const bool above = (sum > back) | ((sum == back) & (error > 0));
  const bool below = (sum < back) | ((sum == back) & (error < 0));
  const float value = rounding == Rounding::Nearest ? static_cast<float>(rounded_to_odd(sum, error))
                                                    : directed(nearest, above, below, rounding);
  // A sum that is zero in double is exactly zero.
  const bool product_negative = (bits_of(product) & FloatBits<double>::kSign) != 0;
  return sum == 0 ? zero_sum(value, product_negative, c, rounding) : value;
}

inline float add(float a, float b, Rounding rounding) {
  return fused_multiply_add(a, 1.0f, b, rounding);
}

inline float multiply(float a, float b, Rounding rounding) {
  return to_float(double{a} * double{b}, rounding);
}

inline float divide(float a, float b, Rounding rounding) {
  const double quotient = double{a} / double{b};
  const double remainder = std::fma(-quotient, double{b}, double{a});
  return to_float(rounded_to_odd(quotient, b < 0 ? -remainder : remainder), rounding);
}

inline float square_root(float a, Rounding rounding) {
  const double root = std::sqrt(double{a});
  return to_float(rounded_to_odd(root, std::fma(-root, root, double{a})), rounding);
}

// An addend that is NaN wins over the factors, as recorded on an H200; the host would choose by the
// instruction that the compiler picked.
inline double nearest_fma(double a, double b, double c) {
  return is_nan(c) ? quieted(c) : __builtin_fma(a, b, c);
}

// Out of line: the 113-bit format is made of library calls.
double fused_multiply_add(double a, double b, double c, Rounding rounding);
double add(double a, double b, Rounding rounding);
double multiply(double a, double b, Rounding rounding);
double divide(double a, double b, Rounding rounding);
double square_root(double a, Rounding rounding);

}  // namespace weft::emulator::numeric
