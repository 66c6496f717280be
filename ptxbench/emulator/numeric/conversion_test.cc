// SPDX-License-Identifier: Apache-2.0

// Floats to integers and back. Expectations are hand arithmetic on the ends of the ranges, the
// manual's rule for NaN, and the host's conversions in its own rounding modes.

#include "ptxbench/emulator/numeric/conversion.h"

#include <cfenv>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/numeric/narrow_formats.h"

namespace weft::emulator::numeric {
namespace {

template <typename I, typename F>
I whole_range(F value) {
  return to_integer<I>(value, std::numeric_limits<I>::min(), std::numeric_limits<I>::max());
}

TEST(FloatToInteger, ClampsAtTheEnds) {
  EXPECT_EQ(whole_range<int32_t>(2147483648.0f), 2147483647);
  EXPECT_EQ(whole_range<int32_t>(2147483520.0f), 2147483520);
  EXPECT_EQ(whole_range<int32_t>(-1e20f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(whole_range<uint32_t>(-1.0f), 0u);
  EXPECT_EQ(whole_range<uint32_t>(4294967296.0f), 0xffffffffu);
  EXPECT_EQ(whole_range<uint32_t>(4294967040.0f), 4294967040u);
  EXPECT_EQ(whole_range<uint32_t>(3e9f), 3000000000u);
  EXPECT_EQ(whole_range<uint32_t>(4294967295.0), 4294967295u);
  EXPECT_EQ(whole_range<int64_t>(INFINITY), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(whole_range<uint64_t>(1.8446742974197924e19), 18446742974197923840ull);
  EXPECT_EQ(whole_range<uint64_t>(-INFINITY), 0u);
  EXPECT_EQ(to_integer<int32_t>(300.0f, -128, 127), 127);
  EXPECT_EQ(to_integer<uint32_t>(-3.0, 0, 255), 0u);
}

TEST(FloatToInteger, NanFollowsTheManual) {
  EXPECT_EQ(whole_range<int32_t>(NAN), 0);
  EXPECT_EQ(whole_range<uint32_t>(std::nanf("")), 0u);
  EXPECT_EQ(whole_range<int64_t>(std::nanf("")), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(whole_range<uint64_t>(std::nanf("")), 1ull << 63);
  EXPECT_EQ(whole_range<int32_t>(std::nan("")), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(whole_range<uint32_t>(std::nan("")), 0x80000000u);
}

TEST(Whole, RoundsInFourModes) {
  EXPECT_EQ(to_whole<Rounding::Nearest>(2.5f), 2.0f);
  EXPECT_EQ(to_whole<Rounding::Nearest>(-3.5), -4.0);
  EXPECT_EQ(to_whole<Rounding::Zero>(-2.7f), -2.0f);
  EXPECT_EQ(to_whole<Rounding::Down>(-2.1f), -3.0f);
  EXPECT_EQ(to_whole<Rounding::Up>(2.1), 3.0);
  EXPECT_EQ(bits_of(to_whole<Rounding::Nearest>(-0.25f)), 0x80000000u);
}

constexpr struct {
  Rounding rounding;
  NarrowRounding narrow;
  int host;
} kModes[] = {{Rounding::Nearest, NarrowRounding::Nearest, FE_TONEAREST},
              {Rounding::Zero, NarrowRounding::Zero, FE_TOWARDZERO},
              {Rounding::Down, NarrowRounding::Down, FE_DOWNWARD},
              {Rounding::Up, NarrowRounding::Up, FE_UPWARD}};

template <typename F, typename I>
F on_host(I value, int mode) {
  volatile I source = value;
  std::fesetround(mode);
  volatile F result = static_cast<F>(source);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename I>
void check_integer(I value) {
  for (const auto& mode : kModes) {
    EXPECT_EQ(to_double(value, mode.rounding), (on_host<double>(value, mode.host))) << value;
    EXPECT_EQ(to_float(sticky_double(value), mode.rounding), (on_host<float>(value, mode.host)))
        << value;
  }
}

TEST(IntegerToFloat, SixtyFourBitsRoundOnce) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random() >> (random() % 64);
    check_integer(bits);
    check_integer(static_cast<int64_t>(bits));
    check_integer(-static_cast<int64_t>(bits >> 1));
    // Next to a midpoint of f32: one bit far below decides.
    const uint64_t middle = (uint64_t{1} << 60) + (uint64_t{1} << 36);
    check_integer(middle + (random() & 1));
  }
}

TEST(FloatToFloat, DoubleRoundsToSingleInEveryMode) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    const double value =
        i % 2 ? from_bits<double>(random())
              : std::ldexp(static_cast<double>(random()), -64 - static_cast<int>(random() % 160));
    if (std::isnan(value)) continue;
    for (const auto& mode : kModes) {
      volatile double source = value;
      std::fesetround(mode.host);
      volatile float expected = static_cast<float>(source);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(bits_of(to_float(value, mode.rounding)), bits_of(static_cast<float>(expected)))
          << value;
    }
  }
}

}  // namespace
}  // namespace weft::emulator::numeric
