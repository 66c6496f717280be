// SPDX-License-Identifier: Apache-2.0

// The approximate functions against the host's mathematics in double, within the bounds that the
// manual states (PTX ISA 9.7.3), and their special values as its tables list them.

#include "ptxbench/emulator/numeric/approximate.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace weft::emulator::numeric {
namespace {

double relative_error(double actual, double expected) {
  return std::fabs(actual - expected) / std::fabs(expected);
}

TEST(Exponential, StaysWithinTheManualsBound) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> range(-125.9f, 127.99f);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    const float x = range(random);
    worst = std::max(worst, relative_error(exp2_flushed(x), std::exp2(double{x})));
    EXPECT_EQ(bits_of(exp2_approximate(x)), bits_of(exp2_flushed(x))) << x;
  }
  EXPECT_LT(worst, std::exp2(-22.5));
}

TEST(Exponential, WholeNumbersAreExact) {
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(exp2_approximate(static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
    EXPECT_EQ(exp2_flushed(static_cast<float>(n)), n < -126 ? 0.0f : std::ldexp(1.0f, n)) << n;
  }
}

TEST(Exponential, SpecialValues) {
  for (auto function : {exp2_approximate, exp2_flushed}) {
    EXPECT_EQ(bits_of(function(-INFINITY)), 0u);
    EXPECT_EQ(function(-200.0f), 0.0f);
    EXPECT_EQ(function(from_bits<float>(0x80000001u)), 1.0f);
    EXPECT_EQ(function(-0.0f), 1.0f);
    EXPECT_EQ(function(128.0f), INFINITY);
    EXPECT_EQ(function(INFINITY), INFINITY);
    EXPECT_EQ(bits_of(function(NAN)), 0x7fffffffu);
    EXPECT_TRUE(std::isfinite(function(127.99999f)));
  }
}

TEST(Logarithm, StaysWithinTheManualsBound) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const float x = from_bits<float>(random() % 0x7f800000u);
    if (x == 0) continue;
    const double expected = std::log2(double{x});
    const double bound =
        x > 0.5f && x < 2.0f ? std::exp2(-22) : std::exp2(-22) * std::fabs(expected);
    EXPECT_LE(std::fabs(log2_approximate(x) - expected), bound) << x;
  }
  EXPECT_EQ(log2_approximate(8.0f), 3.0f);
  EXPECT_EQ(log2_approximate(0x1p-140f), -140.0f);
  EXPECT_EQ(log2_approximate(0.0f), -INFINITY);
  EXPECT_EQ(log2_approximate(-0.0f), -INFINITY);
  EXPECT_EQ(log2_approximate(INFINITY), INFINITY);
  EXPECT_EQ(bits_of(log2_approximate(-1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits_of(log2_approximate(NAN)), 0x7fffffffu);
}

TEST(Trigonometry, StaysWithinTheManualsBound) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> near(-6.2831853f, 6.2831853f), far(-314.0f, 314.0f);
  for (int i = 0; i < 200000; ++i) {
    const float x = near(random), y = far(random);
    EXPECT_NEAR(sin_approximate(x), std::sin(double{x}), std::exp2(-20.5)) << x;
    EXPECT_NEAR(cos_approximate(x), std::cos(double{x}), std::exp2(-20.5)) << x;
    EXPECT_NEAR(sin_approximate(y), std::sin(double{y}), std::exp2(-14.7)) << y;
    EXPECT_NEAR(cos_approximate(y), std::cos(double{y}), std::exp2(-14.7)) << y;
  }
  EXPECT_EQ(bits_of(sin_approximate(-0.0f)), 0x80000000u);
  EXPECT_EQ(cos_approximate(0.0f), 1.0f);
  EXPECT_EQ(bits_of(sin_approximate(INFINITY)), 0x7fffffffu);
  EXPECT_EQ(bits_of(cos_approximate(-INFINITY)), 0x7fffffffu);
  EXPECT_LE(std::fabs(sin_approximate(1e30f)), 1.0f);
  // Recorded on an H200.
  EXPECT_EQ(bits_of(sin_approximate(-1.1109637654e-7f)), 0x80000000u);
  EXPECT_NEAR(sin_approximate(-9.139029657e-7f), -7.490452845e-7f, 1e-10f);
}

TEST(HyperbolicTangent, StaysWithinTheManualsBound) {
  std::mt19937 random(9);
  for (int i = 0; i < 200000; ++i) {
    const float x = from_bits<float>(static_cast<uint32_t>(random()));
    if (std::isnan(x) || x == 0) continue;
    EXPECT_LE(relative_error(tanh_approximate(x), std::tanh(double{x})), std::exp2(-11)) << x;
  }
  EXPECT_EQ(tanh_approximate(INFINITY), 1.0f);
  EXPECT_EQ(tanh_approximate(-INFINITY), -1.0f);
  EXPECT_EQ(bits_of(tanh_approximate(-0.0f)), 0x80000000u);
  EXPECT_EQ(bits_of(tanh_approximate(NAN)), 0x7fffffffu);
}

TEST(Reciprocals, SpecialValues) {
  EXPECT_EQ(rsqrt_approximate(4.0f), 0.5f);
  EXPECT_EQ(rsqrt_approximate(-0.0f), -INFINITY);
  EXPECT_EQ(rsqrt_approximate(INFINITY), 0.0f);
  EXPECT_EQ(bits_of(rsqrt_approximate(-1.0f)), 0x7fffffffu);
  EXPECT_EQ(divide_approximate(1.0f, 0x1.8p126f), 0.0f);
  EXPECT_EQ(bits_of(divide_approximate(INFINITY, 0x1.8p126f)), 0x7fffffffu);
  EXPECT_EQ(divide_approximate(6.0f, 3.0f), 2.0f);
  EXPECT_EQ(bits_of(reciprocal_gross(3.0)) & 0xffffffffu, 0u);
  EXPECT_NEAR(reciprocal_gross(3.0), 1.0 / 3, 1e-6);
  EXPECT_EQ(reciprocal_gross(0.0), INFINITY);
}

}  // namespace
}  // namespace weft::emulator::numeric
