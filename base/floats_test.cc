// SPDX-License-Identifier: Apache-2.0

// f16 is compared with the processor's own conversion (F16C) for every pattern; the 8-bit formats
// with values from the definition (sign * 2^(e-bias) * (1 + m/2^k)) computed in double; bf16 with
// hand arithmetic.
#include "base/floats.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace weft {
namespace {

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(float_to_bf16(1.0f), 0x3f80);
  // The step at 1 is 2^-7; a tie goes to the even neighbour.
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bf16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);
  EXPECT_EQ(float_to_bf16(-2.5f), 0xc020);
}

TEST(Bf16, CarriesIntoInfinityAndKeepsNan) {
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bf16(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Bf16, RoundTripsEveryPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16_to_float(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(float_to_bf16(value), bits);
    }
  }
}

TEST(F16, WidensEveryPatternLikeTheProcessor) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float expected = _cvtsh_ss(static_cast<uint16_t>(bits));
    const float got = f16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected)) << bits;
    }
  }
}

void expect_f16_like_processor(float value) {
  const uint16_t expected = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
  ASSERT_EQ(float_to_f16(value), expected) << value;
}

TEST(F16, NarrowsLikeTheProcessorAroundEveryTie) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = f16_to_float(static_cast<uint16_t>(bits));
    const float high = bits == 0x7bff ? 65536.0f : f16_to_float(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    for (float value : {low, std::nextafter(low, high), std::nextafter(middle, low), middle,
                        std::nextafter(middle, high)}) {
      expect_f16_like_processor(value);
      expect_f16_like_processor(-value);
    }
  }
}

TEST(F16, NarrowsRandomPatternsLikeTheProcessor) {
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) expect_f16_like_processor(value);
  }
  EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(std::bit_cast<float>(0x7f800001u)))));
}

double defined_value(uint32_t bits, int mantissa_bits, int bias) {
  const uint32_t exponent = (bits & 0x7f) >> mantissa_bits;
  const double fraction = (bits & ((1u << mantissa_bits) - 1)) / std::exp2(mantissa_bits);
  const double magnitude = exponent == 0
                               ? std::exp2(1 - bias) * fraction
                               : std::exp2(static_cast<int>(exponent) - bias) * (1 + fraction);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

TEST(E4m3, FollowsItsDefinition) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const float value = e4m3_to_float(static_cast<uint8_t>(bits));
    if ((bits & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(value, defined_value(bits, 3, 7)) << bits;
      EXPECT_EQ(float_to_e4m3(value), bits);
    }
  }
}

TEST(E5m2, FollowsItsDefinition) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const float value = e5m2_to_float(static_cast<uint8_t>(bits));
    if ((bits & 0x7f) > 0x7c) {
      EXPECT_TRUE(std::isnan(value));
    } else if ((bits & 0x7f) == 0x7c) {
      EXPECT_TRUE(std::isinf(value));
    } else {
      EXPECT_EQ(value, defined_value(bits, 2, 15)) << bits;
      EXPECT_EQ(float_to_e5m2(value), bits);
    }
  }
}

TEST(E4m3, RoundsTiesToEvenAndSaturates) {
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(1.0625f)), 1.0f);   // half of the step 1/8
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(1.1875f)), 1.25f);  // tie between 1.125 and 1.25
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(0x1p-10f)), 0.0f);  // half of the least, 2^-9
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(0x1.1p-10f)), 0x1p-9f);
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(1e9f)), 448.0f);
  EXPECT_EQ(e4m3_to_float(float_to_e4m3(-std::numeric_limits<float>::infinity())), -448.0f);
  EXPECT_EQ(e5m2_to_float(float_to_e5m2(1e9f)), 57344.0f);
}

}  // namespace
}  // namespace weft
