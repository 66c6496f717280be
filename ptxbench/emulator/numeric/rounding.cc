// SPDX-License-Identifier: Apache-2.0

// Directed rounding of f64. Each function takes the host's nearest result and asks a 113-bit
// computation on which side of it the exact result lies.

#include "ptxbench/emulator/numeric/rounding.h"

namespace weft::emulator::numeric {

namespace {

// 113 bits of precision and 15 of exponent hold any product of two f64 exactly.
#if defined(__SIZEOF_FLOAT128__)
using Quad = __float128;
#else
using Quad = long double;
static_assert(sizeof(long double) == 16, "f64 rounding needs a 113-bit format");
#endif

// Infinite operands and NaN have exact results.
bool is_special(double value) {
  return !(std::fabs(value) <= 0x1.fffffffffffffp1023);
}

}  // namespace

double fused_multiply_add(double a, double b, double c, Rounding rounding) {
  const double nearest = nearest_fma(a, b, c);
  if (rounding == Rounding::Nearest || is_special(a) || is_special(b) || is_special(c))
    return nearest;
  const Quad product = Quad{a} * Quad{b};
  const Quad addend = c;
  const Quad sum = product + addend;
  if (sum == 0) {
    return zero_sum(nearest, std::signbit(a) != std::signbit(b), c, rounding);
  }
  // What the sum lost, exactly.
  const Quad part = sum - product;
  const Quad error = (product - (sum - part)) + (addend - part);
  const Quad off = sum - Quad{nearest};
  return directed(nearest, off > 0 || (off == 0 && error > 0), off < 0 || (off == 0 && error < 0),
                  rounding);
}

double add(double a, double b, Rounding rounding) {
  if (is_special(a) || is_special(b)) return a + b;
  return fused_multiply_add(a, 1.0, b, rounding);
}

double multiply(double a, double b, Rounding rounding) {
  const double nearest = a * b;
  if (rounding == Rounding::Nearest || is_special(a) || is_special(b)) return nearest;
  const Quad exact = Quad{a} * Quad{b};
  return directed(nearest, exact > Quad{nearest}, exact < Quad{nearest}, rounding);
}

double divide(double a, double b, Rounding rounding) {
  const double nearest = a / b;
  if (rounding == Rounding::Nearest || is_special(a) || is_special(b) || b == 0) return nearest;
  // The exact quotient is above `nearest` when the remainder has the divisor's sign.
  const Quad back = Quad{nearest} * Quad{b};
  const bool above = b > 0 ? back < Quad{a} : back > Quad{a};
  const bool below = b > 0 ? back > Quad{a} : back < Quad{a};
  return directed(nearest, above, below, rounding);
}

double square_root(double a, Rounding rounding) {
  const double nearest = std::sqrt(a);
  if (rounding == Rounding::Nearest || is_special(a) || a <= 0) return nearest;
  const Quad back = Quad{nearest} * Quad{nearest};
  return directed(nearest, back<Quad{a}, back> Quad{a}, rounding);
}

}  // namespace weft::emulator::numeric
