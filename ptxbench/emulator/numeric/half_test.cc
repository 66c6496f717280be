// SPDX-License-Identifier: Apache-2.0

// f16 and bf16 against exact values in double: every pattern one way, every rounding boundary the
// other way, and arithmetic rounded once from the exact result.

#include "ptxbench/emulator/numeric/half.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace weft::emulator::numeric {
namespace {

struct Shape {
  int exponent_bits, mantissa_bits;
};
constexpr Shape kF16 = {5, 10};
constexpr Shape kBf16 = {8, 7};

// The value of a pattern, from the definition of the format.
double value_of(uint32_t half, Shape shape) {
  const int bias = (1 << (shape.exponent_bits - 1)) - 1;
  const int exponent =
      static_cast<int>(half >> shape.mantissa_bits) & ((1 << shape.exponent_bits) - 1);
  const int mantissa = static_cast<int>(half) & ((1 << shape.mantissa_bits) - 1);
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == (1 << shape.exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - shape.mantissa_bits);
  return sign *
         std::ldexp(mantissa + (1 << shape.mantissa_bits), exponent - bias - shape.mantissa_bits);
}

template <typename Format>
void check_every_pattern(Shape shape) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const double expected = value_of(half, shape);
    const float actual = Format::to_float(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << half;
      EXPECT_EQ(Format::from_float(actual), 0x7fffu);
    } else {
      EXPECT_EQ(bits_of(actual), bits_of(static_cast<float>(expected))) << half;
      EXPECT_EQ(Format::from_float(actual), half);
    }
  }
}

// Between neighbours: the midpoint goes to the even one, and a hair to either side to the nearer.
template <typename Format>
void check_every_boundary(Shape shape) {
  for (uint32_t half = 0; half < Format::kInfinity; ++half) {
    const double low = value_of(half, shape);
    const double high = half + 1 == Format::kInfinity ? low + (low - value_of(half - 1, shape))
                                                      : value_of(half + 1, shape);
    const float middle = static_cast<float>((low + high) / 2);
    const uint32_t even = half & 1 ? half + 1 : half;
    EXPECT_EQ(Format::from_float(middle), even);
    EXPECT_EQ(Format::from_float(-middle), even | 0x8000);
    EXPECT_EQ(Format::from_float(std::nextafter(middle, 0.0f)), half);
    EXPECT_EQ(Format::from_float(std::nextafter(middle, INFINITY)), half + 1);
  }
}

TEST(Half, EveryPatternConvertsBothWays) {
  check_every_pattern<F16>(kF16);
  check_every_pattern<Bf16>(kBf16);
}

TEST(Half, EveryBoundaryRoundsToNearestEven) {
  check_every_boundary<F16>(kF16);
  check_every_boundary<Bf16>(kBf16);
}

// An exact value rounded to a half by searching for the nearest pattern. Quad holds every sum of a
// product and an addend of these formats to far more than the halves' precision; what it drops is
// kept as a sign.
using Quad = __float128;

uint32_t nearest_pattern(Quad exact, Quad rest, Shape shape) {
  const bool negative = exact < 0 || (exact == 0 && rest < 0);
  const Quad magnitude = negative ? -exact : exact;
  const Quad hair = negative ? -rest : rest;
  const uint32_t infinity = ((1u << shape.exponent_bits) - 1) << shape.mantissa_bits;
  uint32_t low = 0, high = infinity;  // value(low) <= magnitude < value(high)
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    const Quad value = value_of(middle, shape);
    const bool above = value < magnitude || (value == magnitude && hair >= 0);
    (above ? low : high) = middle;
  }
  const Quad bottom = value_of(low, shape);
  const Quad top = high == infinity ? bottom + (bottom - Quad{value_of(low - 1, shape)})
                                    : Quad{value_of(high, shape)};
  const Quad twice = (magnitude - bottom) - (top - magnitude);
  const bool up = twice > 0 || (twice == 0 && (hair > 0 || (hair == 0 && (low & 1))));
  return (up ? high : low) | (negative ? 0x8000 : 0);
}

template <typename Format>
void check_arithmetic(Shape shape) {
  std::mt19937 random(5);
  for (int i = 0; i < 100000; ++i) {
    uint32_t pattern[3];
    for (uint32_t& half : pattern) {
      half = random() & 0xffff;
      // Half of the time exponents close to one, so that sums cancel and midpoints appear.
      if (i % 2) half = (half & 0x80ffu) | (Format::kOne - 0x400 + (random() % 8) * 0x100);
    }
    const double a = value_of(pattern[0], shape), b = value_of(pattern[1], shape),
                 c = value_of(pattern[2], shape);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    const float x = Format::to_float(pattern[0]), y = Format::to_float(pattern[1]),
                z = Format::to_float(pattern[2]);
    const Quad product = Quad{a} * b, sum = product + c;
    const Quad part = sum - product;
    const Quad rest = (product - (sum - part)) + (c - part);
    if (sum != 0) {
      EXPECT_EQ(Format::from_float(fused_for_half(x, y, z)), nearest_pattern(sum, rest, shape))
          << a << " * " << b << " + " << c;
    }
    if (product != 0) {
      EXPECT_EQ(Format::from_float(x * y), nearest_pattern(product, 0, shape));
    }
    const Quad plain = Quad{a} + c;
    if (plain != 0) {
      EXPECT_EQ(Format::from_float(x + z), nearest_pattern(plain, 0, shape)) << a << " + " << c;
    }
  }
}

TEST(Half, SixteenBitArithmeticRoundsOnce) {
  check_arithmetic<F16>(kF16);
}
TEST(Half, BrainFloatArithmeticRoundsOnce) {
  check_arithmetic<Bf16>(kBf16);
}

TEST(Half, BrainFloatFmaBreaksTiesByTheTinyAddend) {
  // 1.0078125 * 1.0078125 lies on no midpoint; 1.5 * 1.0078125 = 1.51171875 does, in steps of 2^-7.
  const uint32_t a = 0x3fc0, b = 0x3f81;
  const float x = Bf16::to_float(a), y = Bf16::to_float(b);
  EXPECT_EQ(Bf16::from_float(fused_for_half(x, y, 0.0f)), 0x3fc2u);
  EXPECT_EQ(Bf16::from_float(fused_for_half(x, y, 0x1p-120f)), 0x3fc2u);
  EXPECT_EQ(Bf16::from_float(fused_for_half(x, y, -0x1p-120f)), 0x3fc1u);
}

}  // namespace
}  // namespace weft::emulator::numeric
