// SPDX-License-Identifier: Apache-2.0

// Operands are put into shared memory element by element through the canonical layouts of the
// manual's table (PTX ISA 9.0, "Canonical Layouts", shapes and strides in elements), and products
// are written out in double precision. Neither shares code with what is tested: the layouts here
// are nested shapes and strides over elements, the values come from decoding each narrow format by
// its definition.

#include "ptxbench/emulator/tile/matrix_product.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ptxbench/emulator/tile/matrix_descriptor.h"
#include "ptxbench/emulator/tile/operand_reference.h"

namespace weft::emulator {
namespace {

struct Case {
  TileElement a, b;
  Major a_major = Major::Depth, b_major = Major::Depth;
};

void check(const Case& test, SwizzleMode a_mode, SwizzleMode b_mode, int columns) {
  std::mt19937 random(static_cast<unsigned>(columns) * 17 + static_cast<unsigned>(a_mode) * 4 +
                      static_cast<unsigned>(b_mode));
  constexpr int kRows = 64;
  const int bits = element_bits(test.a), depth = 256 / bits, t = 128 / bits;
  constexpr uint32_t kSpace = 96 * 1024;
  std::vector<std::byte> storage(2 * kSpace + 1024);
  auto* shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(storage.data()) + 1023) &
                                              ~uintptr_t{1023});
  const uint32_t b_start = kSpace;
  const Canonical a_layout = canonical(a_mode, test.a_major, t, 0, kRows);
  const Canonical b_layout = canonical(b_mode, test.b_major, t, b_start, columns);
  const auto a = place(shared, a_layout, 0, test.a, kRows, depth, random);
  const auto b = place(shared, b_layout, b_start, test.b, columns, depth, random);

  const MatrixShape shape{test.a,
                          test.b,
                          kRows,
                          static_cast<uint16_t>(columns),
                          static_cast<uint16_t>(depth),
                          test.a_major,
                          test.b_major};
  MatrixStep step;
  step.a = descriptor_rows(decode_descriptor(a_layout.descriptor), test.a_major, shared);
  step.b = descriptor_rows(decode_descriptor(b_layout.descriptor), test.b_major, shared);
  const auto reference = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[j * depth + k];
    return sum;
  };
  const auto magnitude = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < depth; ++k) sum += std::abs(a[i * depth + k] * b[j * depth + k]);
    return sum;
  };
  std::vector<uint32_t> storage_c(kRows * columns);
  for (const TileEngine* engine : available_tile_engines()) {
    std::fill(storage_c.begin(), storage_c.end(), 0u);
    const auto index = [&](int i, int j) {
      return ((i / 8 * columns / 8 + j / 8) * 2 + j % 2) * 32 + i % 8 * 4 + j % 8 / 2;
    };
    if (test.a == TileElement::B1 || is_integer(test.a)) {
      std::vector<int32_t*> parts;
      for (size_t i = 0; i < storage_c.size(); i += 32)
        parts.push_back(reinterpret_cast<int32_t*>(&storage_c[i]));
      if (test.a == TileElement::B1)
        accumulate_bits(shape, {&step, 1}, BitOperation::And, parts.data());
      else
        accumulate(*engine, shape, {&step, 1}, parts.data());
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < columns; ++j)
          ASSERT_EQ(static_cast<int32_t>(storage_c[index(i, j)]), reference(i, j))
              << engine->name << i << "," << j;
    } else {
      std::vector<float*> parts;
      for (size_t i = 0; i < storage_c.size(); i += 32)
        parts.push_back(reinterpret_cast<float*>(&storage_c[i]));
      step.negate = columns % 16 == 8;
      accumulate(*engine, shape, {&step, 1}, parts.data());
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < columns; ++j) {
          float value;
          std::memcpy(&value, &storage_c[index(i, j)], 4);
          // Each of `depth` sums in fp32 rounds by at most 2^-24 of what is there.
          const double bound = std::ldexp(magnitude(i, j), -24) * depth;
          ASSERT_NEAR(step.negate ? -value : value, reference(i, j), bound)
              << engine->name << " " << i << "," << j;
        }
    }
  }
}

constexpr SwizzleMode kModes[] = {SwizzleMode::None, SwizzleMode::Bytes128, SwizzleMode::Bytes64,
                                  SwizzleMode::Bytes32};

TEST(MatrixProduct, ReadsEveryTypeThroughEverySwizzle) {
  constexpr Case kCases[] = {
      {TileElement::F16, TileElement::F16},   {TileElement::Bf16, TileElement::Bf16},
      {TileElement::Tf32, TileElement::Tf32}, {TileElement::E4m3, TileElement::E4m3},
      {TileElement::E4m3, TileElement::E5m2}, {TileElement::E5m2, TileElement::E4m3},
      {TileElement::E5m2, TileElement::E5m2}, {TileElement::S8, TileElement::S8},
      {TileElement::S8, TileElement::U8},     {TileElement::U8, TileElement::S8},
      {TileElement::U8, TileElement::U8},     {TileElement::S4, TileElement::U4},
      {TileElement::U4, TileElement::S4},     {TileElement::B1, TileElement::B1}};
  for (const Case& test : kCases)
    for (SwizzleMode a_mode : kModes)
      for (SwizzleMode b_mode : kModes) check(test, a_mode, b_mode, a_mode == b_mode ? 24 : 40);
}

TEST(MatrixProduct, ReadsTransposedOperandsThroughEverySwizzle) {
  for (TileElement element : {TileElement::F16, TileElement::Bf16})
    for (Major a_major : {Major::Depth, Major::Outer})
      for (Major b_major : {Major::Depth, Major::Outer})
        for (SwizzleMode a_mode : kModes)
          for (SwizzleMode b_mode : kModes)
            check({element, element, a_major, b_major}, a_mode, b_mode, 72);
}

TEST(MatrixProduct, TakesEveryWidthOfWgmma) {
  for (int columns = 8; columns <= 256; columns += 8)
    check({TileElement::Bf16, TileElement::Bf16}, SwizzleMode::Bytes128, SwizzleMode::Bytes64,
          columns);
}

// A chain of wgmma on the same accumulators is one product; an odd number of steps fills no whole
// tile of AMX.
TEST(MatrixProduct, TakesSeveralStepsAsOneProduct) {
  constexpr int kRows = 64, kColumns = 40, kDepth = 16;
  constexpr uint32_t kSpace = 16 * 1024;
  for (const Major major : {Major::Depth, Major::Outer})
    for (int count : {1, 2, 3, 4, 7, 8}) {
      std::mt19937 random(static_cast<unsigned>(count));
      std::vector<std::byte> storage(2 * 8 * kSpace + 1024);
      auto* shared = reinterpret_cast<std::byte*>(
          (reinterpret_cast<uintptr_t>(storage.data()) + 1023) & ~uintptr_t{1023});
      std::vector<MatrixStep> steps(static_cast<size_t>(count));
      std::vector<double> sums(kRows * kColumns), magnitudes(kRows * kColumns);
      for (int s = 0; s < count; ++s) {
        const uint32_t a_start = static_cast<uint32_t>(s) * kSpace, b_start = a_start + 8 * kSpace;
        const Canonical a_layout = canonical(SwizzleMode::Bytes128, major, 8, a_start, kRows);
        const Canonical b_layout = canonical(SwizzleMode::Bytes64, major, 8, b_start, kColumns);
        const auto a = place(shared, a_layout, a_start, TileElement::Bf16, kRows, kDepth, random);
        const auto b =
            place(shared, b_layout, b_start, TileElement::Bf16, kColumns, kDepth, random);
        MatrixStep& step = steps[static_cast<size_t>(s)];
        step.a = descriptor_rows(decode_descriptor(a_layout.descriptor), major, shared);
        step.b = descriptor_rows(decode_descriptor(b_layout.descriptor), major, shared);
        step.negate = s % 3 == 1;
        for (int i = 0; i < kRows; ++i)
          for (int j = 0; j < kColumns; ++j)
            for (int k = 0; k < kDepth; ++k) {
              const double product = a[i * kDepth + k] * b[j * kDepth + k];
              sums[i * kColumns + j] += step.negate ? -product : product;
              magnitudes[i * kColumns + j] += std::abs(product);
            }
      }
      const MatrixShape shape{
          TileElement::Bf16, TileElement::Bf16, kRows, kColumns, kDepth, major, major};
      for (const TileEngine* engine : available_tile_engines()) {
        std::vector<float> c(kRows * kColumns);
        std::vector<float*> parts;
        for (size_t i = 0; i < c.size(); i += 32) parts.push_back(&c[i]);
        accumulate(*engine, shape, steps, parts.data());
        for (int i = 0; i < kRows; ++i)
          for (int j = 0; j < kColumns; ++j) {
            const float value =
                c[((i / 8 * kColumns / 8 + j / 8) * 2 + j % 2) * 32 + i % 8 * 4 + j % 8 / 2];
            const double bound = std::ldexp(magnitudes[i * kColumns + j], -24) * kDepth * count;
            ASSERT_NEAR(value, sums[i * kColumns + j], bound)
                << engine->name << " " << count << " steps at " << i << "," << j;
          }
      }
    }
}

TEST(MatrixProduct, ParkedSumsGoOnWhereTheyWere) {
  constexpr int kRows = 64, kColumns = 72, kDepth = 16;
  constexpr uint32_t kB = 16 * 1024;
  std::mt19937 random(5);
  std::vector<std::byte> storage(2 * kB + 1024);
  auto* shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(storage.data()) + 1023) &
                                              ~uintptr_t{1023});
  const Canonical a_layout = canonical(SwizzleMode::Bytes128, Major::Depth, 8, 0, kRows);
  const Canonical b_layout = canonical(SwizzleMode::Bytes128, Major::Depth, 8, kB, kColumns);
  place(shared, a_layout, 0, TileElement::Bf16, kRows, kDepth, random);
  place(shared, b_layout, kB, TileElement::Bf16, kColumns, kDepth, random);
  MatrixStep step;
  step.a = descriptor_rows(decode_descriptor(a_layout.descriptor), Major::Depth, shared);
  step.b = descriptor_rows(decode_descriptor(b_layout.descriptor), Major::Depth, shared);
  const MatrixShape shape{TileElement::Bf16, TileElement::Bf16, kRows, kColumns, kDepth};
  bool any = false;
  for (const TileEngine* engine : available_tile_engines()) {
    if (!multiplies_bf16(*engine, shape)) continue;
    any = true;
    // Three products with the sums in their parts, and three with the sums parked between.
    std::vector<float> plain(kRows * kColumns, 0.0f), late(kRows * kColumns, 99.0f);
    std::vector<float*> plain_parts, late_parts;
    for (size_t i = 0; i < plain.size(); i += 32) {
      plain_parts.push_back(&plain[i]);
      late_parts.push_back(&late[i]);
    }
    for (int round = 0; round < 3; ++round)
      engine->multiply_bf16(shape, {&step, 1}, {.parts = plain_parts.data()});
    struct alignas(64) Parked {
      float values[parked_values(kColumns)];
    };
    const auto parked = std::make_unique<Parked>();
    SumPlaces places{.from = SumPlaces::From::Zero,
                     .to = SumPlaces::To::Parked,
                     .parts = late_parts.data(),
                     .parked = parked->values};
    engine->multiply_bf16(shape, {&step, 1}, places);
    places.from = SumPlaces::From::Parked;
    engine->multiply_bf16(shape, {&step, 1}, places);
    engine->multiply_bf16(shape, {&step, 1}, places);
    EXPECT_EQ(late[0], 99.0f) << "parked sums leave the parts alone";
    places.to = SumPlaces::To::Parts;
    engine->multiply_bf16(shape, {}, places);
    EXPECT_EQ(late, plain) << engine->name;
  }
  if (!any) GTEST_SKIP() << "no engine of this processor parks sums";
}

TEST(MatrixProduct, EightBitFloatsDecodeNanAndInfinity) {
  // e4m3 has one NaN pattern a sign and no infinity; e5m2 is like f16 (PTX ISA 5.2.3).
  alignas(128) std::byte shared[4096] = {};
  const auto run = [&](TileElement element, uint8_t pattern) {
    std::memset(shared, 0, sizeof shared);
    shared[0] = std::byte{pattern};
    shared[2048] = std::byte{element == TileElement::E4m3 ? uint8_t{0x38} : uint8_t{0x3c}};  // 1.0
    MatrixStep step;
    step.a = {.base = shared, .group_stride = 128, .chunk_stride = 256};
    step.b = {.base = shared, .start = 2048, .group_stride = 128, .chunk_stride = 128};
    float c[4 * 32] = {};
    float* parts[4] = {c, c + 32, c + 64, c + 96};
    accumulate(portable_engine(), {element, element, 16, 8, 32}, {&step, 1}, parts);
    return c[0];
  };
  EXPECT_TRUE(std::isnan(run(TileElement::E4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(run(TileElement::E4m3, 0xff)));
  EXPECT_EQ(run(TileElement::E4m3, 0x7e), 448.0f);
  EXPECT_EQ(run(TileElement::E4m3, 0x01), 0.001953125f);
  EXPECT_EQ(run(TileElement::E5m2, 0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(run(TileElement::E5m2, 0x7d)));
  EXPECT_EQ(run(TileElement::E5m2, 0x7b), 57344.0f);
}

TEST(MatrixDescriptor, DecodesTheManualsFields) {
  const MatrixDescriptor d =
      decode_descriptor(uint64_t{0x440} | uint64_t{8} << 16 | uint64_t{64} << 32 |
                        uint64_t{5} << 49 | uint64_t{1} << 62);
  EXPECT_EQ(d.start, 0x4400u);
  EXPECT_EQ(d.leading_offset, 128u);
  EXPECT_EQ(d.stride_offset, 1024u);
  EXPECT_EQ(d.base_offset, 5u);
  EXPECT_EQ(d.mode, SwizzleMode::Bytes128);
  EXPECT_EQ(
      describe(d),
      "start 0x4400, leading offset 128, stride offset 1024, base offset 5, 128-byte swizzle");
}

TEST(MatrixDescriptor, ReachesTheLastLineOfTheOperand) {
  const MatrixDescriptor d{
      .start = 1024, .leading_offset = 16, .stride_offset = 1024, .mode = SwizzleMode::Bytes128};
  EXPECT_EQ(reach(descriptor_rows(d, Major::Depth, nullptr), 8, 2), 1024u + 64 * 128);
  // MN-major, 72 columns: a full atom and one chunk of the next, 2048 bytes further.
  const MatrixDescriptor n{
      .start = 0, .leading_offset = 2048, .stride_offset = 1024, .mode = SwizzleMode::Bytes128};
  EXPECT_EQ(reach(descriptor_rows(n, Major::Outer, nullptr), 2, 9), 4096u);
}

}  // namespace
}  // namespace weft::emulator
