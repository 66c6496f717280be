// SPDX-License-Identifier: Apache-2.0

// Expected values by hand from the definitions in PTX ISA 9.0, section 9.7.9.25.4.2.

#include "ptxbench/emulator/bulk_reduction.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace weft::emulator {
namespace {

using isa::Type;

template <typename T>
T reduce(std::string_view operation, Type type, T to, T from) {
  const Combine combine = find_reduction(operation, type);
  EXPECT_NE(combine, nullptr) << operation;
  if (combine != nullptr)
    combine(reinterpret_cast<std::byte*>(&to), reinterpret_cast<const std::byte*>(&from),
            sizeof to);
  return to;
}

TEST(BulkReduction, IncrementsAndDecrementsWrapAtTheSourceValue) {
  EXPECT_EQ(reduce<uint32_t>("inc", Type::U32, 4, 5), 5u);
  EXPECT_EQ(reduce<uint32_t>("inc", Type::U32, 5, 5), 0u);
  EXPECT_EQ(reduce<uint32_t>("dec", Type::U32, 3, 5), 2u);
  EXPECT_EQ(reduce<uint32_t>("dec", Type::U32, 0, 5), 5u);
  EXPECT_EQ(reduce<uint32_t>("dec", Type::U32, 9, 5), 5u);
}

TEST(BulkReduction, ComparesBySign) {
  EXPECT_EQ(reduce<int32_t>("min", Type::S32, -1, 1), -1);
  EXPECT_EQ(reduce<uint32_t>("min", Type::U32, 0xffffffff, 1), 1u);
  EXPECT_EQ(reduce<int64_t>("max", Type::S64, -5, 3), 3);
}

TEST(BulkReduction, FloatAdditionFlushesSubnormals) {
  const float subnormal = std::bit_cast<float>(0x00000001u);
  EXPECT_EQ(std::bit_cast<uint32_t>(reduce<float>("add", Type::F32, -subnormal, -subnormal)),
            0x80000000u);
  EXPECT_EQ(reduce<float>("add", Type::F32, 1.5f, 2.25f), 3.75f);
}

TEST(BulkReduction, HalfAdditionRoundsToEvenAndKeepsSubnormals) {
  // 2048 + 1 lies half-way between 2048 and 2050 in f16; the even significand is 2048.
  EXPECT_EQ(reduce<uint16_t>("add", Type::F16, 0x6800, 0x3c00), 0x6800);
  EXPECT_EQ(reduce<uint16_t>("add", Type::F16, 0x0001, 0x0001), 0x0002);
  EXPECT_EQ(reduce<uint16_t>("add", Type::Bf16, 0x3f80, 0x3f80), 0x4000);  // 1 + 1
}

TEST(BulkReduction, HalfMinimumPrefersNumbersToNan) {
  EXPECT_EQ(reduce<uint16_t>("min", Type::F16, 0x7e00, 0x3c00), 0x3c00);
  EXPECT_EQ(reduce<uint16_t>("min", Type::F16, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(reduce<uint16_t>("max", Type::F16, 0x8000, 0x0000), 0x0000);
}

TEST(BulkReduction, RunsOverEveryElement) {
  uint32_t to[4] = {1, 2, 3, 4};
  const uint32_t from[4] = {10, 20, 30, 40};
  find_reduction("add", Type::U32)(reinterpret_cast<std::byte*>(to),
                                   reinterpret_cast<const std::byte*>(from), 16);
  EXPECT_EQ(to[0], 11u);
  EXPECT_EQ(to[3], 44u);
}

TEST(BulkReduction, KnowsOnlyTheListedCombinations) {
  EXPECT_EQ(find_reduction("inc", Type::S32), nullptr);
  EXPECT_EQ(find_reduction("and", Type::F32), nullptr);
  EXPECT_EQ(find_reduction("min", Type::F32), nullptr);
}

}  // namespace
}  // namespace weft::emulator
