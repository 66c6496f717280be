// SPDX-License-Identifier: Apache-2.0

// Floating-point operations of one lane as functors (PTX ISA 9.7.3). `Nearest` and `Directed` put
// the modifiers around an operation: flush the inputs, compute, make NaN canonical, flush,
// saturate.
#pragma once

#include <cmath>

#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/rounding.h"

namespace weft::emulator::numeric {

struct FloatAdd {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
  template <typename T>
  T operator()(T a, T b, Rounding rounding) const {
    return add(a, b, rounding);
  }
};

struct FloatSubtract {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
  template <typename T>
  T operator()(T a, T b, Rounding rounding) const {
    return add(a, is_nan(b) ? b : -b, rounding);
  }
};

struct FloatMultiply {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
  template <typename T>
  T operator()(T a, T b, Rounding rounding) const {
    return multiply(a, b, rounding);
  }
};

struct FloatFma {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return nearest_fma(a, b, c); }
  template <typename T>
  T operator()(T a, T b, T c, Rounding rounding) const {
    return fused_multiply_add(a, b, c, rounding);
  }
};

struct FloatDivide {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
  template <typename T>
  T operator()(T a, T b, Rounding rounding) const {
    return divide(a, b, rounding);
  }
};

struct FloatReciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
  template <typename T>
  T operator()(T a, Rounding rounding) const {
    return divide(T{1}, a, rounding);
  }
};

struct FloatSquareRoot {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
  template <typename T>
  T operator()(T a, Rounding rounding) const {
    return square_root(a, rounding);
  }
};

enum class Subnormals { Keep, Flush };
enum class Range { Full, Unit };  // Unit: .sat

template <typename Operation, Subnormals kSubnormals, Range kRange = Range::Full>
struct Nearest {
  template <std::floating_point T>
  static T input(T value) {
    return kSubnormals == Subnormals::Flush ? flushed(value) : value;
  }
  template <std::floating_point T>
  static T result(T value) {
    if constexpr (kRange == Range::Unit) return saturated(input(value));
    return input(canonical(value));
  }
  template <std::floating_point T>
  T operator()(T a) const {
    return result(Operation{}(input(a)));
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return result(Operation{}(input(a), input(b)));
  }
  template <std::floating_point T>
  T operator()(T a, T b, T c) const {
    return result(Operation{}(input(a), input(b), input(c)));
  }
};

// What Directed is built from.
inline constexpr uint32_t kFlush = 1;
inline constexpr uint32_t kSaturate = 2;

// The modifiers become masks, so that they need no branch.
template <typename Operation, Rounding kRounding>
struct Directed {
  explicit Directed(uint32_t flags)
      : flush_(flags & kFlush ? ~uint64_t{0} : 0),
        saturate_(flags & kSaturate ? ~uint64_t{0} : 0) {}
  template <std::floating_point T>
  T input(T value) const {
    return chosen(flush_, flushed(value), value);
  }
  template <std::floating_point T>
  T result(T value) const {
    const T made = input(canonical(value));
    return chosen(saturate_, saturated(made), made);
  }
  template <std::floating_point T>
  T operator()(T a) const {
    return result(Operation{}(input(a), kRounding));
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return result(Operation{}(input(a), input(b), kRounding));
  }
  template <std::floating_point T>
  T operator()(T a, T b, T c) const {
    return result(Operation{}(input(a), input(b), input(c), kRounding));
  }

 private:
  template <std::floating_point T>
  static T chosen(uint64_t mask, T yes, T no) {
    using Bits = typename FloatBits<T>::Bits;
    const auto bits = static_cast<Bits>(mask);
    return from_bits<T>((bits_of(yes) & bits) | (bits_of(no) & ~bits));
  }
  uint64_t flush_, saturate_;
};

// Applies an operation to both floats of a 64-bit register.
template <typename Operation>
struct OnFloatPair {
  OnFloatPair() requires std::is_default_constructible_v<Operation>
  = default;
  explicit OnFloatPair(uint32_t flags) requires std::is_constructible_v<Operation, uint32_t>
      : operation(flags) {}
  template <typename... Operands>
  uint64_t operator()(Operands... operands) const {
    const float low = operation(from_bits<float>(static_cast<uint32_t>(operands))...);
    const float high = operation(from_bits<float>(static_cast<uint32_t>(operands >> 32))...);
    return uint64_t{bits_of(high)} << 32 | bits_of(low);
  }
  Operation operation;
};

// min and max: -0 is below +0; a NaN gives way to the other operand, or wins under `.NaN`.
enum class Extremum { Minimum, Maximum };

struct ExtremumForm {
  bool flush = false, nan = false, xor_sign = false, absolute = false;
};

template <Extremum kExtremum, std::floating_point T>
inline T extremum(T a, T b, const ExtremumForm& form) {
  using F = FloatBits<T>;
  if (form.flush) {
    a = flushed(a);
    b = flushed(b);
  }
  const auto sign = (bits_of(a) ^ bits_of(b)) & F::kSign;
  if (form.xor_sign || form.absolute) {
    a = from_bits<T>(bits_of(a) & ~F::kSign);
    b = from_bits<T>(bits_of(b) & ~F::kSign);
  }
  constexpr bool kMinimum = kExtremum == Extremum::Minimum;
  const bool a_nan = is_nan(a), b_nan = is_nan(b);
  // When a is NaN the comparison is false and b remains.
  T value = (kMinimum ? a < b : a > b) ? a : b;
  value = b_nan ? a : value;
  // Equal numbers have equal patterns, but for zeros: the minimum of those has any sign, the
  // maximum both.
  const auto joined = kMinimum ? bits_of(a) | bits_of(b) : bits_of(a) & bits_of(b);
  value = a == b ? from_bits<T>(joined) : value;
  if (form.xor_sign) value = from_bits<T>(bits_of(value) | sign);
  const bool nan = form.nan ? a_nan | b_nan : a_nan & b_nan;
  return nan ? canonical_nan<T>() : value;
}

}  // namespace weft::emulator::numeric
