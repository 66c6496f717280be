// SPDX-License-Identifier: Apache-2.0

// Directed rounding against the host's own: the test, unlike the emulator, may change the host's
// rounding mode.

#include "ptxbench/emulator/numeric/rounding.h"

#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ptxbench/emulator/numeric/float_values.h"

namespace weft::emulator::numeric {
namespace {

constexpr Rounding kModes[] = {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up};

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero:
      return FE_TOWARDZERO;
    case Rounding::Down:
      return FE_DOWNWARD;
    case Rounding::Up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

enum class Operation { Add, Multiply, Fma, Divide, SquareRoot };

// Volatile operands keep the compiler from computing in its own rounding mode.
template <typename T>
T on_host(Operation operation, T a, T b, T c, Rounding rounding) {
  volatile T x = a, y = b, z = c, result = 0;
  std::fesetround(host_mode(rounding));
  switch (operation) {
    case Operation::Add:
      result = x + y;
      break;
    case Operation::Multiply:
      result = x * y;
      break;
    case Operation::Fma:
      result = std::fma(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
      break;
    case Operation::Divide:
      result = x / y;
      break;
    case Operation::SquareRoot:
      result = std::sqrt(static_cast<T>(x));
      break;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T>
T on_device(Operation operation, T a, T b, T c, Rounding rounding) {
  switch (operation) {
    case Operation::Add:
      return add(a, b, rounding);
    case Operation::Multiply:
      return multiply(a, b, rounding);
    case Operation::Fma:
      return fused_multiply_add(a, b, c, rounding);
    case Operation::Divide:
      return divide(a, b, rounding);
    default:
      return square_root(a, rounding);
  }
}

template <typename T>
void expect_same(Operation operation, T a, T b, T c) {
  for (Rounding rounding : kModes) {
    const T expected = on_host(operation, a, b, c, rounding);
    const T actual = on_device(operation, a, b, c, rounding);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << a << ' ' << b << ' ' << c;
    } else {
      EXPECT_EQ(bits_of(actual), bits_of(expected))
          << "operation " << static_cast<int>(operation) << " mode " << static_cast<int>(rounding)
          << ": " << std::hexfloat << a << ' ' << b << ' ' << c << " gave " << actual << ", host "
          << expected;
    }
  }
}

template <typename T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T{0},
                           L::denorm_min(),
                           L::min(),
                           std::nextafter(L::min(), T{0}),
                           T{1},
                           1 + L::epsilon(),
                           1 - L::epsilon() / 2,
                           T{3},
                           T{1} / 3,
                           L::max(),
                           L::max() / 2,
                           std::sqrt(L::min()),
                           std::sqrt(L::max()),
                           L::infinity(),
                           L::quiet_NaN(),
                           L::min() * 3,
                           L::epsilon(),
                           L::denorm_min() * 5};
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

constexpr Operation kOperations[] = {Operation::Add, Operation::Multiply, Operation::Fma,
                                     Operation::Divide, Operation::SquareRoot};

template <typename T>
void check_edges() {
  const auto values = edges<T>();
  for (Operation operation : kOperations)
    for (T a : values)
      for (T b : values) {
        if (operation != Operation::Fma) {
          expect_same(operation, a, b, T{0});
          continue;
        }
        for (T c : values) expect_same(operation, a, b, c);
      }
}

// Random patterns, with exponents drawn close together half of the time so that sums cancel.
template <typename T>
void check_random(int count) {
  std::mt19937_64 random(3);
  const auto draw = [&](bool close) {
    const T value = from_bits<T>(static_cast<typename FloatBits<T>::Bits>(random()));
    if (!close || !std::isfinite(value) || value == 0) return value;
    int exponent = 0;
    return std::ldexp(std::frexp(value, &exponent), static_cast<int>(random() % 60) - 30);
  };
  for (int i = 0; i < count; ++i) {
    const bool close = i % 2 == 0;
    const T a = draw(close), b = draw(close), c = draw(close);
    for (Operation operation : kOperations) expect_same(operation, a, b, c);
    // A product that cancels against c up to rounding.
    expect_same(Operation::Fma, a, b, -(a * b));
  }
}

TEST(Rounding, SinglePrecisionEdgesMatchTheHost) {
  check_edges<float>();
}
TEST(Rounding, DoublePrecisionEdgesMatchTheHost) {
  check_edges<double>();
}
TEST(Rounding, SinglePrecisionRandomMatchesTheHost) {
  check_random<float>(100000);
}
TEST(Rounding, DoublePrecisionRandomMatchesTheHost) {
  check_random<double>(30000);
}

TEST(Rounding, ResultsInTheSubnormalRangeMatchTheHost) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 30000; ++i) {
    const double a = std::ldexp(static_cast<double>(random()), -64);
    const double b =
        std::ldexp(static_cast<double>(random()), -1090 + static_cast<int>(random() % 30) - 32);
    const double c = std::ldexp(static_cast<double>(random() >> 40), -1074);
    expect_same(Operation::Multiply, a, b, c);
    expect_same(Operation::Fma, a, b, -c);
    expect_same(Operation::Divide, b, 1 + a, c);
    const float x = static_cast<float>(a);
    const float y =
        std::ldexp(static_cast<float>(random() >> 40), -150 - static_cast<int>(random() % 12));
    expect_same(Operation::Multiply, x, y, 0.0f);
    expect_same(Operation::Fma, x, y, -from_bits<float>(static_cast<uint32_t>(random() >> 42)));
    expect_same(Operation::Divide, y, 1 + x, 0.0f);
  }
}

// Expectations: PTX ISA 9.7.3 on .sat, .ftz and NaN; the patterns of the CUDA guide on floats.
TEST(Modifiers, SaturationFlushingAndNan) {
  using Saturating = Nearest<FloatAdd, Subnormals::Keep, Range::Unit>;
  EXPECT_EQ(Saturating{}(0.75f, 0.75f), 1.0f);
  EXPECT_EQ(bits_of(Saturating{}(-1.0f, 0.5f)), 0u);
  EXPECT_EQ(bits_of(Saturating{}(canonical_nan<float>(), 1.0f)), 0u);
  using Flushing = Nearest<FloatAdd, Subnormals::Flush>;
  EXPECT_EQ(bits_of(Flushing{}(from_bits<float>(0x80000001u), from_bits<float>(0x80000001u))),
            0x80000000u);
  using Keeping = Nearest<FloatAdd, Subnormals::Keep>;
  EXPECT_EQ(bits_of(Keeping{}(from_bits<float>(1), from_bits<float>(1))), 2u);
  EXPECT_EQ(bits_of(Keeping{}(from_bits<float>(0xffc00001u), 1.0f)), 0x7fffffffu);
}

// Expectations: recorded on an H200 (tests/gpu/differential).
TEST(NanOperands, KeepTheirPayloadInDouble) {
  const double nan = from_bits<double>(0x7ff6d10936b6e082), number = 0x1.fc0c4de43ad9fp-1000;
  const Directed<FloatSubtract, Rounding::Down> subtract(0);
  EXPECT_EQ(bits_of(subtract(number, nan)), 0x7ffed10936b6e082u);
  const Nearest<FloatFma, Subnormals::Keep> fma;
  EXPECT_EQ(bits_of(fma(from_bits<double>(0x7ffe92eb1daa4a58), 2.0,
                        from_bits<double>(0x7ff8000000000000))),
            0x7ff8000000000000u);
}

TEST(Extremum, NanGivesWayAndZerosAreOrdered) {
  const float nan = from_bits<float>(0xffc12345u);
  constexpr auto kMin = Extremum::Minimum;
  constexpr auto kMax = Extremum::Maximum;
  EXPECT_EQ((extremum<kMin>(nan, 2.0f, {})), 2.0f);
  EXPECT_EQ((extremum<kMax>(2.0f, nan, {})), 2.0f);
  EXPECT_EQ(bits_of(extremum<kMin>(nan, nan, {})), 0x7fffffffu);
  EXPECT_EQ(bits_of(extremum<kMin>(nan, 2.0f, {.nan = true})), 0x7fffffffu);
  EXPECT_EQ(bits_of(extremum<kMin>(0.0f, -0.0f, {})), 0x80000000u);
  EXPECT_EQ(bits_of(extremum<kMax>(-0.0f, 0.0f, {})), 0u);
  EXPECT_EQ((extremum<kMin>(-3.0f, 2.0f, {.xor_sign = true})), -2.0f);
  EXPECT_EQ((extremum<kMax>(-3.0f, -2.0f, {.xor_sign = true})), 3.0f);
  EXPECT_EQ((extremum<kMin>(-1.0, -2.0, {})), -2.0);
}

}  // namespace
}  // namespace weft::emulator::numeric
