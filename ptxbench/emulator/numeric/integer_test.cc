// SPDX-License-Identifier: Apache-2.0

// Integer and bit-field values. Expectations are hand arithmetic, the manual's pseudo-code written
// out bit by bit, or wider host integers.

#include "ptxbench/emulator/numeric/integer.h"

#include <random>

#include <gtest/gtest.h>

#include "ptxbench/emulator/numeric/bit_fields.h"
#include "ptxbench/emulator/numeric/bit_logic.h"

namespace weft::emulator::numeric {
namespace {

TEST(Multiply, HighHalfMatchesAWiderProduct) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const auto a = static_cast<int64_t>(random()), b = static_cast<int64_t>(random());
    EXPECT_EQ(MultiplyHigh{}(a, b), static_cast<int64_t>((static_cast<__int128>(a) * b) >> 64));
    const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    EXPECT_EQ(MultiplyHigh{}(x, y), (uint64_t{x} * y) >> 32);
  }
}

TEST(Multiply, SixteenBitSquaresDoNotOverflowAnInt) {
  EXPECT_EQ(MultiplyLow{}(uint16_t{0xffff}, uint16_t{0xffff}), 1);
  EXPECT_EQ(MultiplyWide{}(uint16_t{0xffff}, uint16_t{0xffff}), 0xfffe0001u);
  EXPECT_EQ(MultiplyHigh{}(int16_t{-32768}, int16_t{-32768}), 0x4000);
}

TEST(Multiply24, UsesTheLowTwentyFourBits) {
  EXPECT_EQ(Multiply24Low{}(0xff000003u, 0x01000005u), 15u);
  EXPECT_EQ(Multiply24Low{}(int32_t{0x00ffffff}, 7), -7);
  // (2^24 - 1)^2 = 2^48 - 2^25 + 1; bits 47 to 16 are 2^32 - 2^9.
  EXPECT_EQ(Multiply24High{}(0xffffffu, 0xffffffu), 0xfffffe00u);
}

TEST(Saturated, StopsAtTheEndsOfTheRange) {
  EXPECT_EQ(AddSaturated{}(0x7fffffff, 1), 0x7fffffff);
  EXPECT_EQ(SubtractSaturated{}(std::numeric_limits<int32_t>::min(), 1),
            std::numeric_limits<int32_t>::min());
}

TEST(Sad, TakesTheDistanceWithoutOverflow) {
  EXPECT_EQ(Sad{}(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), 1), 0);
  EXPECT_EQ(Sad{}(uint16_t{3}, uint16_t{10}, uint16_t{5}), 12);
}

TEST(Divide, ByZeroGivesAllOnesAndTheOneOverflowWraps) {
  EXPECT_EQ(Divide{}(7u, 0u), 0xffffffffu);
  EXPECT_EQ(Divide{}(7, 0), -1);
  EXPECT_EQ(Divide{}(std::numeric_limits<int32_t>::min(), -1), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Remainder{}(std::numeric_limits<int64_t>::min(), int64_t{-1}), 0);
  EXPECT_EQ(Divide{}(-7, 2), -3);
  EXPECT_EQ(Remainder{}(-7, 2), -1);
}

template <typename T>
void check_division(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return;
  EXPECT_EQ(Divide{}(a, b), static_cast<T>(a / b)) << +a << " / " << +b;
  EXPECT_EQ(Remainder{}(a, b), static_cast<T>(a % b)) << +a << " % " << +b;
}

// Next to multiples of the divisor, where a rounded quotient would go wrong first.
TEST(Divide, MatchesTheHostNextToMultiples) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 200000; ++i) {
    const auto b = static_cast<uint32_t>(random() >> (32 + random() % 32));
    const auto q = static_cast<uint32_t>(random() >> (32 + random() % 32));
    for (uint32_t off : {0u, 1u, ~0u}) {
      const uint32_t a = q * b + off;
      check_division<uint32_t>(a, b);
      check_division<int32_t>(static_cast<int32_t>(a), static_cast<int32_t>(b));
      check_division<int32_t>(static_cast<int32_t>(a), static_cast<int32_t>(0u - b));
      check_division<uint16_t>(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
      check_division<int16_t>(static_cast<int16_t>(a), static_cast<int16_t>(b));
      check_division<uint64_t>(random(), b);
    }
    check_division<uint32_t>(0xffffffffu - i, b);
  }
  EXPECT_EQ(Divide{}(int16_t{-32768}, int16_t{-1}), -32768);
}

TEST(Dot, AddsProductsOfBytes) {
  // 1*5 + 2*6 + 3*7 + (-1)*(-1) + 10.
  EXPECT_EQ((DotBytes<int8_t, int8_t>{}(0xff030201u, 0xff070605u, 10u)), 49u);
  // The same bytes unsigned: 255 * 255 instead of 1.
  EXPECT_EQ((DotBytes<uint8_t, uint8_t>{}(0xff030201u, 0xff070605u, 10u)), 48u + 65025u);
  // Halves -2 and 3, upper bytes 4 and -5: -8 - 15.
  EXPECT_EQ((DotHalves<int16_t, int8_t, 2>{}(0x0003fffeu, 0xfb040000u, 0u)),
            static_cast<uint32_t>(-23));
}

TEST(Bits, CountAndFind) {
  EXPECT_EQ(FindBit{}(0u), 0xffffffffu);
  EXPECT_EQ(FindBit{}(-1), 0xffffffffu);
  EXPECT_EQ(FindBit{}(int32_t{-0x100}), 7u);
  EXPECT_EQ(FindBitShift{}(0x00010000u), 15u);
  EXPECT_EQ(LeadingZeros{}(uint64_t{1}), 63u);
  EXPECT_EQ(ReverseBits{}(0x80000001u), 0x80000001u);
  EXPECT_EQ(ReverseBits{}(uint64_t{1}), 0x8000000000000000ull);
  EXPECT_EQ(FindNthSet{}(0xaaaaaaaau, 0, 2), 3u);
  EXPECT_EQ(FindNthSet{}(0xaaaaaaaau, 31, -3), 27u);
  EXPECT_EQ(FindNthSet{}(0xaaaaaaaau, 2, 0), 0xffffffffu);
}

// 64-bit forms look at all bits of a position or length, as recorded on an H200; the manual speaks
// of the low 8 only.
template <typename T>
int amount(uint32_t bits) {
  return static_cast<int>(sizeof(T) == 8 ? std::min(bits, 1000u) : bits & 0xff);
}

// The manual's pseudo-code of bfe, one bit at a time.
template <typename T>
T extract_slowly(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  const int top = sizeof(T) * 8 - 1;
  const int position = amount<T>(b), length = amount<T>(c);
  const auto bit = [&](int k) { return static_cast<U>(a) >> k & 1; };
  const U sign =
      !std::is_signed_v<T> || length == 0 ? U{0} : bit(std::min(position + length - 1, top));
  U d = 0;
  for (int i = 0; i <= top; ++i)
    d |= (i < length && position + i <= top ? bit(position + i) : sign) << i;
  return static_cast<T>(d);
}

template <typename U>
U insert_slowly(U a, U b, uint32_t c, uint32_t d) {
  const int top = sizeof(U) * 8 - 1;
  const int position = amount<U>(c), length = amount<U>(d);
  U f = b;
  for (int i = 0; i < length && position + i <= top; ++i)
    f = (f & ~(U{1} << (position + i))) | (a >> i & 1) << (position + i);
  return f;
}

TEST(Bits, FieldsMatchTheManualBitByBit) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t a = random(), b = random();
    const uint32_t position = static_cast<uint32_t>(random() % (i % 2 ? 80 : 300));
    const uint32_t length = static_cast<uint32_t>(random() % (i % 2 ? 80 : 300));
    EXPECT_EQ(ExtractField{}(static_cast<uint32_t>(a), position, length),
              extract_slowly(static_cast<uint32_t>(a), position, length));
    EXPECT_EQ(ExtractField{}(static_cast<int32_t>(a), position, length),
              extract_slowly(static_cast<int32_t>(a), position, length));
    EXPECT_EQ(ExtractField{}(a, position, length), extract_slowly(a, position, length));
    EXPECT_EQ(ExtractField{}(static_cast<int64_t>(a), position, length),
              extract_slowly(static_cast<int64_t>(a), position, length));
    EXPECT_EQ(InsertField{}(a, b, position, length), insert_slowly(a, b, position, length));
    EXPECT_EQ(InsertField{}(static_cast<uint32_t>(a), static_cast<uint32_t>(b), position, length),
              insert_slowly(static_cast<uint32_t>(a), static_cast<uint32_t>(b), position, length));
  }
}

// Expectations: recorded on an H200 (tests/gpu/differential).
TEST(Bits, WideFieldsTakeWholePositionsAndLengths) {
  EXPECT_EQ(ExtractField{}(uint64_t{0x8110bf74a83046db}, 0xbu, 0x2f582521u), 0x102217ee950608u);
  EXPECT_EQ(ExtractField{}(uint64_t{0xf06f18a97e53fb45}, 0x2dc74f07u, 0x38u), 0u);
  EXPECT_EQ(ExtractField{}(static_cast<int64_t>(0xd624c58db001d1e4), 0xau, 0x468911fu),
            static_cast<int64_t>(0xfff58931636c0074));
  EXPECT_EQ(ExtractField{}(static_cast<int64_t>(0xb08ae5b7a57bac2e), 0xffc9ee33u, 0x1bu), -1);
  EXPECT_EQ(
      InsertField{}(uint64_t{0x6f1c7b5b26122499}, uint64_t{0xacbf513da86519fd}, 0xbc6b0305u, 13u),
      0xacbf513da86519fdu);
}

TEST(Bits, SignExtensionAndMasks) {
  EXPECT_EQ((ExtendSign<int32_t, Excess::Wrap>{}(0x80u, 8)), 0xffffff80u);
  EXPECT_EQ((ExtendSign<uint32_t, Excess::Wrap>{}(0xfff80u, 8)), 0x80u);
  EXPECT_EQ((ExtendSign<int32_t, Excess::Clamp>{}(0x80000001u, 40)), 0x80000001u);
  EXPECT_EQ((MakeMask<Excess::Clamp>{}(4, 8)), 0xff0u);
  EXPECT_EQ((MakeMask<Excess::Clamp>{}(28, 8)), 0xf0000000u);
  EXPECT_EQ((MakeMask<Excess::Clamp>{}(4, 40)), 0xfffffff0u);
  EXPECT_EQ((MakeMask<Excess::Clamp>{}(40, 4)), 0u);
  EXPECT_EQ((MakeMask<Excess::Wrap>{}(36, 4)), 0xf0u);
  EXPECT_EQ((MakeMask<Excess::Wrap>{}(4, 32)), 0u);
}

TEST(Shifts, ClampBeyondTheWidth) {
  EXPECT_EQ(ShiftLeft{}(1u, 32u), 0u);
  EXPECT_EQ(ShiftRight{}(-8, 40u), -1);
  EXPECT_EQ(ShiftRight{}(uint16_t{0x8000}, 15u), 1);
  EXPECT_EQ(ShiftRight{}(uint64_t{1} << 63, 64u), 0u);
  EXPECT_EQ((FunnelLeft<Excess::Wrap>{}(0x80000000u, 1u, 33u)), 3u);
  EXPECT_EQ((FunnelLeft<Excess::Clamp>{}(0x1234u, 1u, 50u)), 0x1234u);
  EXPECT_EQ((FunnelRight<Excess::Clamp>{}(1u, 0xabcdu, 32u)), 0xabcdu);
}

TEST(Logic, LookUpTablesAreFunctionsOfThreeBits) {
  const uint32_t a = 0xf0f0f0f0u, b = 0xccccccccu, c = 0xaaaaaaaau;
  for (uint32_t table = 0; table < 256; ++table)
    EXPECT_EQ(look_up(a, b, c, table), table * 0x01010101u);
}

TEST(Logic, BytePermutationPicksBytesAndSigns) {
  EXPECT_EQ(permute_bytes(0x33221100u, 0x77665544u, 0x7250u), 0x77225500u);
  EXPECT_EQ(permute_bytes(0x00008000u, 0u, 0x9189u), 0xff80'00ffu);
}

}  // namespace
}  // namespace weft::emulator::numeric
