// SPDX-License-Identifier: Apache-2.0

// Every pattern of every narrow format, and every rounding mode around every pair of neighbours.
// The values come from the formats' definitions, written out here with ldexp.

#include "ptxbench/emulator/numeric/narrow_formats.h"

#include <cfloat>
#include <cmath>

#include <gtest/gtest.h>

#include "ptxbench/emulator/numeric/half.h"

namespace weft::emulator::numeric {
namespace {

struct Named {
  const char* name;
  NarrowFormat format;
  double largest;   // as the manual or the OCP tables give it
  double smallest;  // subnormal
};

const Named kFormats[] = {
    {"f16", kF16Format, 65504, 0x1p-24}, {"bf16", kBf16Format, 0x1.fep127, 0x1p-133},
    {"e4m3", kE4m3Format, 448, 0x1p-9},  {"e5m2", kE5m2Format, 57344, 0x1p-16},
    {"e2m3", kE2m3Format, 7.5, 0.125},   {"e3m2", kE3m2Format, 28, 0.0625},
    {"e2m1", kE2m1Format, 6, 0.5},
};

double value_of(const NarrowFormat& format, uint32_t magnitude) {
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const auto mantissa = static_cast<int>(magnitude & ((1u << format.mantissa_bits) - 1));
  if (exponent == 0) return std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return std::ldexp(mantissa + (1 << format.mantissa_bits),
                    exponent - format.bias - format.mantissa_bits);
}

TEST(NarrowFormats, EndsAreThoseOfTheTables) {
  for (const Named& named : kFormats) {
    SCOPED_TRACE(named.name);
    EXPECT_EQ(value_of(named.format, named.format.maximum), named.largest);
    EXPECT_EQ(value_of(named.format, 1), named.smallest);
  }
}

TEST(NarrowFormats, EveryPatternDecodesAndEncodesToItself) {
  for (const Named& named : kFormats) {
    SCOPED_TRACE(named.name);
    const uint32_t sign = 1u << (named.format.exponent_bits + named.format.mantissa_bits);
    for (uint32_t code = 0; code <= named.format.maximum; ++code) {
      const double value = value_of(named.format, code);
      EXPECT_EQ(decode(named.format, code), value);
      EXPECT_EQ(decode(named.format, code | sign), -value);
      for (auto rounding : {NarrowRounding::Nearest, NarrowRounding::Zero, NarrowRounding::Down,
                            NarrowRounding::Up, NarrowRounding::NearestAway}) {
        EXPECT_EQ(encode(named.format, value, rounding, Overflow::Finite), code);
        EXPECT_EQ(encode(named.format, -value, rounding, Overflow::Finite), code | sign);
      }
    }
  }
}

TEST(NarrowFormats, EveryGapRoundsAsTheModeSays) {
  for (const Named& named : kFormats) {
    SCOPED_TRACE(named.name);
    const NarrowFormat& format = named.format;
    const uint32_t sign = 1u << (format.exponent_bits + format.mantissa_bits);
    for (uint32_t code = 0; code < format.maximum; ++code) {
      const double low = value_of(format, code), high = value_of(format, code + 1);
      const double middle = (low + high) / 2;
      const struct {
        double value;
        uint32_t nearest, away;
      } cases[] = {{std::nextafter(low, high), code, code},
                   {std::nextafter(middle, low), code, code},
                   {middle, code & 1 ? code + 1 : code, code + 1},
                   {std::nextafter(middle, high), code + 1, code + 1},
                   {std::nextafter(high, low), code + 1, code + 1}};
      for (const auto& test : cases) {
        const auto rounded = [&](double value, NarrowRounding rounding) {
          return encode(format, value, rounding, Overflow::Infinity);
        };
        EXPECT_EQ(rounded(test.value, NarrowRounding::Nearest), test.nearest);
        EXPECT_EQ(rounded(-test.value, NarrowRounding::Nearest), test.nearest | sign);
        EXPECT_EQ(rounded(test.value, NarrowRounding::NearestAway), test.away);
        EXPECT_EQ(rounded(test.value, NarrowRounding::Zero), code);
        EXPECT_EQ(rounded(-test.value, NarrowRounding::Zero), code | sign);
        EXPECT_EQ(rounded(test.value, NarrowRounding::Up), code + 1);
        EXPECT_EQ(rounded(-test.value, NarrowRounding::Up), code | sign);
        EXPECT_EQ(rounded(test.value, NarrowRounding::Down), code);
        EXPECT_EQ(rounded(-test.value, NarrowRounding::Down), (code + 1) | sign);
      }
    }
  }
}

TEST(NarrowFormats, OverflowSaturatesOrGivesInfinity) {
  EXPECT_EQ(encode(kE4m3Format, 1e9, NarrowRounding::Nearest, Overflow::Finite), 0x7eu);
  EXPECT_EQ(encode(kE4m3Format, -INFINITY, NarrowRounding::Nearest, Overflow::Finite), 0xfeu);
  EXPECT_EQ(encode(kE4m3Format, NAN, NarrowRounding::Nearest, Overflow::Finite), 0x7fu);
  EXPECT_EQ(encode(kE5m2Format, 1e9, NarrowRounding::Nearest, Overflow::Finite), 0x7bu);
  EXPECT_EQ(encode(kE2m1Format, NAN, NarrowRounding::Nearest, Overflow::Finite), 0x07u);
  EXPECT_EQ(encode(kF16Format, 65520, NarrowRounding::Nearest, Overflow::Infinity), 0x7c00u);
  EXPECT_EQ(encode(kF16Format, 65519, NarrowRounding::Nearest, Overflow::Infinity), 0x7bffu);
  EXPECT_EQ(encode(kF16Format, 1e9, NarrowRounding::Zero, Overflow::Infinity), 0x7bffu);
  EXPECT_EQ(encode(kF16Format, INFINITY, NarrowRounding::Zero, Overflow::Infinity), 0x7c00u);
  EXPECT_EQ(encode(kF16Format, -1e9, NarrowRounding::Up, Overflow::Infinity), 0xfbffu);
  EXPECT_EQ(encode(kBf16Format, 1e300, NarrowRounding::Nearest, Overflow::Finite), 0x7f7fu);
  EXPECT_EQ(encode(kBf16Format, 1e-320, NarrowRounding::Up, Overflow::Infinity), 1u);
}

// Two implementations of the same rounding: the general one and the one for lanes.
TEST(NarrowFormats, LaneConversionsAgreeWithTheGeneralOne) {
  for (uint64_t step = 0; step < 0x100000000ull; step += 4099) {
    const auto bits = static_cast<uint32_t>(step);
    const float value = from_bits<float>(bits);
    EXPECT_EQ(F16::from_float(value),
              encode(kF16Format, value, NarrowRounding::Nearest, Overflow::Infinity));
    EXPECT_EQ(Bf16::from_float(value),
              encode(kBf16Format, value, NarrowRounding::Nearest, Overflow::Infinity));
  }
}

TEST(PowersOfTwo, AllCodesAndTheGapsBetween) {
  for (uint32_t code = 0; code < 0xff; ++code) {
    const float value = static_cast<float>(std::ldexp(1.0, static_cast<int>(code) - 127));
    EXPECT_EQ(decode_ue8m0(code), value);
    EXPECT_EQ(encode_ue8m0(value, NarrowRounding::Up, Overflow::Finite), code);
    EXPECT_EQ(encode_ue8m0(value, NarrowRounding::Zero, Overflow::Finite), code);
    if (code < 0xfe) {
      EXPECT_EQ(encode_ue8m0(value * 1.5f, NarrowRounding::Up, Overflow::Finite), code + 1);
    }
    EXPECT_EQ(encode_ue8m0(value * 1.5f, NarrowRounding::Zero, Overflow::Finite), code);
  }
  EXPECT_EQ(encode_ue8m0(NAN, NarrowRounding::Zero, Overflow::Finite), 0xffu);
}

TEST(TensorFloat, RoundsToTenBits) {
  const float tie = 1.0f + 0x1p-11f;  // halfway between 1 and 1 + 2^-10
  EXPECT_EQ(round_to_tf32(tie, NarrowRounding::NearestAway, Overflow::Infinity), 0x3f802000u);
  EXPECT_EQ(round_to_tf32(tie, NarrowRounding::Nearest, Overflow::Infinity), 0x3f800000u);
  EXPECT_EQ(round_to_tf32(-tie, NarrowRounding::Zero, Overflow::Infinity), 0xbf800000u);
  EXPECT_EQ(round_to_tf32(FLT_MAX, NarrowRounding::Nearest, Overflow::Infinity), 0x7f800000u);
  EXPECT_EQ(round_to_tf32(FLT_MAX, NarrowRounding::Nearest, Overflow::Finite), 0x7f7fe000u);
  // Recorded on an H200.
  const float nan = from_bits<float>(0xffde538e);
  EXPECT_EQ(round_to_tf32(nan, NarrowRounding::NearestAway, Overflow::Infinity), 0xffde4000u);
  EXPECT_EQ(round_to_tf32(nan, NarrowRounding::Nearest, Overflow::Infinity), 0x7fffe000u);
  EXPECT_EQ(round_to_tf32(nan, NarrowRounding::Zero, Overflow::Infinity), 0x7fffe000u);
}

}  // namespace
}  // namespace weft::emulator::numeric
