// SPDX-License-Identifier: Apache-2.0

// tcgen05.mma through whole programs. Operands are placed by the manual's canonical layouts
// (operand_reference.h), D by the manual's data path layouts; products are written out in double
// precision.

#include "ptxbench/emulator/ops/tensor_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "ptxbench/emulator/ops/tensor_program.h"
#include "ptxbench/emulator/tile/operand_reference.h"

namespace weft::emulator {
namespace {

using enum TileElement;

enum class Sum : uint8_t { F16, F32, S32 };

// Which columns of B count as zeros, as the manual writes masks: the pattern of each part of the
// columns from its lowest bit on, and where in the pattern the part begins.
struct ZeroColumns {
  uint64_t bits = 0;
  int shift = 0;
  std::array<std::pair<const char*, int>, 4> parts{};
  bool is_zero(int part, int column) const {
    const auto& [pattern, first] = parts[static_cast<size_t>(part)];
    return pattern[(column + first) % 7] == '1';
  }
};

struct Form {
  TileElement a, b;
  const char* kind;
  int m = 128, n = 64;  // n: a power of two, up to 128
  SwizzleMode mode = SwizzleMode::Bytes128;
  Major a_major = Major::Depth, b_major = Major::Depth;
  Sum sum = Sum::F32;
  bool a_in_memory = false, accumulate = true, negate = false, saturate = false;
  bool weight_stationary = false;
  bool sparse = false;
  uint32_t selector = 0;  // of metadata
  const ZeroColumns* zeros = nullptr;
  int scale = 0;
  uint32_t disabled = 0;  // lanes of the first quarter
};

uint32_t code_of(TileElement element) {
  switch (element) {
    case TileElement::Bf16:
    case TileElement::E5m2:
    case TileElement::S8:
      return 1;
    case TileElement::Tf32:
      return 2;
    default:
      return 0;
  }
}

// PTX ISA 9.0, table of the instruction descriptor.
uint32_t instruction_descriptor(const Form& f) {
  const auto bit = [](bool value, int place) { return uint32_t{value} << place; };
  return f.selector | bit(f.sparse, 2) | bit(f.saturate, 3) | static_cast<uint32_t>(f.sum) << 4 |
         code_of(f.a) << 7 | code_of(f.b) << 10 | bit(f.negate, 13) |
         bit(f.a_major == Major::Outer, 15) | bit(f.b_major == Major::Outer, 16) |
         static_cast<uint32_t>(f.n / 8) << 17 | static_cast<uint32_t>(f.m / 16) << 24;
}

// Shared memory; then C, a word a column, and A's eight words into tensor memory; the product; D.
std::string body_of(const Form& f, uint64_t a_descriptor, uint64_t b_descriptor, int repeat) {
  const int c_first = kShared / 4 / kThreads;
  const std::string issue =
      fmt::format("tcgen05.mma{}{}.cta_group::1.kind::{} [%r4], {}, %rd9, {}%r5{}, %p3{}{};\n",
                  f.weight_stationary ? ".ws" : "", f.sparse ? ".sp" : "", f.kind,
                  f.a_in_memory ? fmt::format("[%r4+{}]", kAColumn) : "%rd8",
                  f.sparse ? fmt::format("[%r4+{}], ", kMetadataColumn) : "",
                  f.disabled == 0 ? "" : ", {%r6, %r7, %r7, %r7}",
                  f.scale == 0 ? "" : fmt::format(", {}", f.scale),
                  f.zeros == nullptr ? "" : fmt::format(", {}", f.zeros->bits));
  std::string products = issue;
  for (int i = 1; i < repeat; ++i) products += "setp.eq.u32 %p3, 0, 0;\n" + issue;
  return begin() + fill("s", c_first, f.n, 0) + fill("a", c_first + f.n, 8, kAColumn) +
         fill("a", c_first + f.n + 8, 2, kMetadataColumn) + kFilled +
         fmt::format(
             "mov.b64 %rd8, {};\nmov.b64 %rd9, {};\nadd.s64 %rd8, %rd8, %rd11;\n"
             "add.s64 %rd9, %rd9, %rd11;\nmov.b32 %r5, {};\nmov.b32 %r6, {};\n"
             "mov.b32 %r7, 0;\nsetp.eq.u32 %p3, {}, 1;\n",
             a_descriptor, b_descriptor, instruction_descriptor(f), f.disabled,
             f.accumulate ? 1 : 0) +
         issue_and_fetch(products, f.n);
}

uint32_t draw_sum(const Form& f, std::mt19937& random, double& value) {
  if (f.sum == Sum::F16) {
    const uint32_t bits = draw(TileElement::F16, random);
    value = decode(TileElement::F16, bits);
    return bits;
  }
  if (f.sum == Sum::S32) {
    const uint32_t bits = 0x7fffffff - random() % 20000;
    value = static_cast<int32_t>(bits);
    return bits;
  }
  const float made = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 8;
  value = made;
  uint32_t bits;
  std::memcpy(&bits, &made, 4);
  return bits;
}

struct Placed {
  uint64_t descriptor = 0;
  std::vector<double> values;  // by (outer, k)
};

// An operand in shared memory. tf32 with M or N along the rows lies in the 128-byte swizzle of
// 32-byte units (table 53): atoms of 8 x 4 units of 128 bits, so 32 elements by 4 of K; the units
// of row k of an atom are exchanged by k.
Placed place_operand(std::byte* image, const Form& f, bool is_a, uint32_t start, int outer,
                     int depth, std::mt19937& random) {
  const TileElement element = is_a ? f.a : f.b;
  const Major major = is_a ? f.a_major : f.b_major;
  if (element != Tf32 || major == Major::Depth) {
    const Canonical layout =
        canonical(f.mode, major, 128 / static_cast<uint32_t>(element_bits(element)), start,
                  static_cast<uint32_t>(outer));
    return {layout.descriptor | kVersion,
            place(image, layout, start, element, outer, depth, random)};
  }
  Placed placed;
  for (int i = 0; i < outer; ++i)
    for (int k = 0; k < depth; ++k) {
      const uint32_t value = draw(Tf32, random);
      placed.values.push_back(decode(Tf32, value));
      const int unit = i % 32 / 8 ^ k % 4;
      std::memcpy(image + start + i / 32 * 1024 + k / 4 * 512 + k % 4 * 128 + unit * 32 + i % 8 * 4,
                  &value, 4);
    }
  placed.descriptor = start >> 4 | uint64_t{1024 / 16} << 16 | uint64_t{512 / 16} << 32 | kVersion |
                      uint64_t{1} << 61;
  return placed;
}

// A sparse A's rows with their zeros, and its metadata in the threads' words from `first` on. Of
// the places in tensor memory the manual has figures only; here they are those of CUTLASS
// (mma_traits_sm100_frag.hpp), element by element: each has one bit of metadata, two where it is
// tf32, and a chunk has four.
std::vector<double> spread(const Form& f, const std::vector<double>& stored, int depth,
                           std::vector<uint32_t>& in, size_t first, std::mt19937& random) {
  const int bits = element_bits(f.a), chunk = bits == 32 ? 2 : 4;
  constexpr uint32_t kIndices[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  std::vector<double> rows(static_cast<size_t>(f.m * 2 * depth));
  for (int r = 0; r < f.m; ++r)
    for (int k = 0; k < 2 * depth; k += chunk) {
      const uint32_t indices = bits == 32 ? kIndices[random() % 2 * 5] : kIndices[random() % 6];
      double* row = &rows[static_cast<size_t>(r * 2 * depth)];
      const double* from = &stored[static_cast<size_t>(r * depth + k / 2)];
      if (bits == 32) {
        row[k + (indices == 0b1110 ? 1 : 0)] = from[0];
      } else {
        row[k + static_cast<int>(indices & 3)] = from[0];
        row[k + static_cast<int>(indices >> 2)] = from[1];
      }
      int lane = r, column = k / 32, bit = k % 32;
      if (bits > 8) {
        const int per_half = bits == 32 ? 8 : 16;
        lane = r % 8 + r / 16 * 16 + k / per_half * 8;
        column = static_cast<int>(f.selector);
        bit = k % per_half * (16 / per_half) + r / 8 % 2 * 16;
      }
      in[first + static_cast<size_t>(column * kThreads + lane)] |= indices << bit;
    }
  return rows;
}

void check(const Form& f, int repeat = 1) {
  const std::string what = fmt::format("{} m{}n{}", f.kind, f.m, f.n);
  std::mt19937 random(static_cast<unsigned>(f.n + f.m));
  const int bits = element_bits(f.a), stored = 256 / bits, depth = f.sparse ? 2 * stored : stored;
  const size_t c_first = kShared / 4, a_first = c_first + static_cast<size_t>(f.n) * kThreads;
  std::vector<uint32_t> in(a_first + 10 * kThreads);
  auto* image = reinterpret_cast<std::byte*>(in.data());
  const Placed a_placed = place_operand(image, f, true, 0, f.m, stored, random);
  const int b_outer = f.n + (f.zeros == nullptr ? 0 : 8);
  const Placed b_placed = place_operand(image, f, false, kB, b_outer, depth, random);
  auto a = a_placed.values;
  const auto& b = b_placed.values;
  // Layouts D, F, E and G of section 9.7.16.10.5.
  const int beside = f.weight_stationary ? 128 / f.m : 1, wide = f.n / beside;
  const auto lane_of = [&](int row, int column = 0) {
    if (f.weight_stationary) return row + column / wide * f.m;
    return f.m == 128 ? row : row / 16 * 32 + row % 16;
  };
  const auto word_of = [&](int row, int column) {
    return static_cast<size_t>(column % wide * kThreads + lane_of(row, column));
  };
  if (f.a_in_memory)
    for (int row = 0; row < f.m; ++row)
      for (int k = 0; k < stored; ++k) {
        const uint32_t value = draw(f.a, random);
        a[static_cast<size_t>(row * stored + k)] = decode(f.a, value);
        const int per_word = 32 / bits;
        in[a_first + static_cast<size_t>(k / per_word * kThreads + lane_of(row))] |=
            value << (k % per_word * bits);
      }
  if (f.sparse) a = spread(f, a, stored, in, a_first + 8 * kThreads, random);
  std::vector<double> c(static_cast<size_t>(f.m * f.n));
  for (int row = 0; row < f.m; ++row)
    for (int column = 0; column < f.n; ++column)
      in[c_first + word_of(row, column)] =
          draw_sum(f, random, c[static_cast<size_t>(row * f.n + column)]);
  const Ran got = run(in, body_of(f, a_placed.descriptor, b_placed.descriptor, repeat),
                      static_cast<size_t>(f.n) * kThreads);
  ASSERT_FALSE(got.fault) << what << "\n" << format(*got.fault);
  for (int row = 0; row < f.m; ++row)
    for (int column = 0; column < f.n; ++column) {
      const size_t at = static_cast<size_t>(row * f.n + column);
      const bool kept = lane_of(row) < 32 && (f.disabled >> lane_of(row) & 1) != 0;
      double sum = kept ? c[at] : f.accumulate ? std::ldexp(c[at], -f.scale) : 0;
      double magnitude = std::abs(sum);
      for (int k = 0; k < (kept ? 0 : depth); ++k) {
        const bool zero = f.zeros != nullptr && f.zeros->is_zero(column / wide, column % wide);
        const int b_column = column + (f.zeros == nullptr ? 0 : f.zeros->shift);
        const double product = zero ? 0
                                    : a[static_cast<size_t>(row * depth + k)] *
                                          b[static_cast<size_t>(b_column * depth + k)];
        sum += (f.negate ? -product : product) * repeat;
        magnitude += std::abs(product) * repeat;
      }
      const uint32_t word = got.out[word_of(row, column)];
      if (f.sum == Sum::S32) {
        const auto exact = static_cast<int64_t>(sum);
        ASSERT_EQ(static_cast<int32_t>(word), f.saturate
                                                  ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                                                  : static_cast<int32_t>(exact))
            << what;
      } else if (f.sum == Sum::F16) {
        ASSERT_NEAR(decode(TileElement::F16, word), sum,
                    std::abs(sum) * 0x1p-11 + magnitude * 0x1p-20)
            << what;
      } else {
        float value;
        std::memcpy(&value, &word, 4);
        ASSERT_NEAR(value, sum, magnitude * 0x1p-24 * depth * repeat)
            << what << " " << row << "," << column;
      }
    }
}

const std::vector<Form>& every_type() {
  static const std::vector<Form> forms = {
      {F16, F16, "f16"},      {Bf16, Bf16, "f16"},    {F16, Bf16, "f16"},
      {Tf32, Tf32, "tf32"},   {E4m3, E5m2, "f8f6f4"}, {E5m2, E4m3, "f8f6f4"},
      {E4m3, E4m3, "f8f6f4"}, {S8, U8, "i8"},         {U8, S8, "i8"}};
  return forms;
}

Form with_sum(Form form) {
  if (is_integer(form.a)) form.sum = Sum::S32;
  return form;
}

TEST(TensorProduct, MultipliesEveryTypeFromSharedAndTensorMemory) {
  for (const Form& type : every_type())
    for (int m : {64, 128})
      for (bool in_memory : {false, true}) {
        Form form = with_sum(type);
        form.m = m;
        form.a_in_memory = in_memory;
        check(form);
      }
}

TEST(TensorProduct, ReadsEverySwizzleAndTransposedOperands) {
  for (SwizzleMode mode :
       {SwizzleMode::None, SwizzleMode::Bytes128, SwizzleMode::Bytes64, SwizzleMode::Bytes32})
    for (Major a_major : {Major::Depth, Major::Outer})
      for (Major b_major : {Major::Depth, Major::Outer})
        check({.a = Bf16,
               .b = Bf16,
               .kind = "f16",
               .n = 128,
               .mode = mode,
               .a_major = a_major,
               .b_major = b_major});
}

TEST(TensorProduct, TransposesBytesAndWords) {
  for (const Form& type : every_type())
    for (int m : {64, 128}) {
      Form form = with_sum(type);
      form.m = m;
      form.a_major = form.b_major = Major::Outer;
      check(form);
    }
}

TEST(TensorProduct, ScalesNegatesSaturatesAndLeavesLanesAlone) {
  for (bool accumulate : {false, true}) {
    const Form form{.a = F16, .b = F16, .kind = "f16", .n = 32, .accumulate = accumulate};
    Form changed = form;
    changed.negate = true;
    check(changed);
    changed.scale = 3;
    check(changed);
    changed.disabled = 0x80000101;
    check(changed);
    changed = form;
    changed.sum = Sum::F16;
    changed.n = 8;
    changed.m = 64;
    check(changed);
    check({.a = S8,
           .b = S8,
           .kind = "i8",
           .sum = Sum::S32,
           .accumulate = accumulate,
           .saturate = true});
  }
}

TEST(TensorProduct, SeveralOnTheSameSumsAreOneAfterTheOther) {
  for (const Form& type : every_type()) check(with_sum(type), 5);
}

// Values of the formats: OCP Microscaling Formats 1.0, sections 5.3.2 and 5.3.3.
TEST(TensorProduct, ReadsElementsOfFourAndSixBits) {
  struct Narrow {
    uint32_t code;
    int bits;
    std::vector<double> values;  // of codes 0, 1, ...
  };
  const Narrow formats[] = {{5, 4, {0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6}},
                            {3, 6, {0, .125, .25, .375, .5, .625, .75, .875, 1, 1.125, 1.25}},
                            {4, 6, {0, .0625, .125, .1875, .25, .3125, .375, .4375, .5, .625}}};
  for (const Narrow& format : formats) {
    Form f{.a = E4m3,
           .b = E4m3,
           .kind = "f8f6f4",
           .n = 16,
           .mode = SwizzleMode::None,
           .accumulate = false};
    std::vector<uint32_t> in(kShared / 4 + static_cast<size_t>(f.n + 10) * kThreads);
    auto* image = reinterpret_cast<std::byte*>(in.data());
    std::memset(image, 0x38, 128 * 32);  // A is all ones
    const Canonical a = canonical(SwizzleMode::None, Major::Depth, 16, 0, 128);
    const Canonical b = canonical(SwizzleMode::None, Major::Depth, 16, kB, 16);
    const auto code_at = [&](int n, int k) {
      return static_cast<uint32_t>(n + k) % static_cast<uint32_t>(format.values.size());
    };
    for (int n = 0; n < f.n; ++n)
      for (int k = 0; k < 32; ++k) {
        const uint32_t chunk =
            kB + b.outer(static_cast<uint32_t>(n)) + b.depth(static_cast<uint32_t>(k / 16 * 16));
        for (int bit = 0; bit < format.bits; ++bit) {
          const int at = k % 16 * format.bits + bit;
          if ((code_at(n, k) >> bit & 1) != 0)
            image[chunk + static_cast<uint32_t>(at / 8)] |= std::byte{1} << at % 8;
        }
      }
    std::string body = body_of(f, a.descriptor | kVersion, b.descriptor | kVersion, 1);
    const std::string plain = fmt::format("mov.b32 %r5, {};", instruction_descriptor(f));
    body.replace(body.find(plain), plain.size(),
                 fmt::format("mov.b32 %r5, {};", instruction_descriptor(f) | format.code << 10));
    const Ran got = run(in, body, static_cast<size_t>(f.n) * kThreads);
    ASSERT_FALSE(got.fault) << emulator::format(*got.fault);
    for (int n = 0; n < f.n; ++n) {
      double expected = 0;
      for (int k = 0; k < 32; ++k) expected += format.values[code_at(n, k)];
      float value;
      std::memcpy(&value, &got.out[static_cast<size_t>(n * kThreads + 77)], 4);
      ASSERT_EQ(value, expected) << "format " << format.code << " column " << n;
    }
  }
}

TEST(TensorProduct, WeightStationaryOnesPutColumnsBesideEachOther) {
  for (const Form& type : every_type())
    for (int m : {32, 64, 128}) {
      Form form = with_sum(type);
      form.m = m;
      form.weight_stationary = true;
      check(form);
      form.n = 128;
      check(form, 3);
    }
  check({.a = Bf16, .b = Bf16, .kind = "f16", .b_major = Major::Outer, .weight_stationary = true});
  check({.a = F16, .b = F16, .kind = "f16", .a_in_memory = true, .weight_stationary = true});
}

TEST(TensorProduct, PutsTheZerosOfASparseABack) {
  for (const Form& type : every_type())
    for (bool in_memory : {false, true}) {
      Form form = with_sum(type);
      form.sparse = true;
      form.a_in_memory = in_memory;
      form.selector = element_bits(type.a) > 8 && in_memory ? 1 : 0;
      check(form);
      check(form, 3);
    }
}

TEST(TensorProduct, WeightStationaryOnesTakeASparseA) {
  for (const Form& type : every_type())
    for (bool in_memory : {false, true}) {
      Form form = with_sum(type);
      form.sparse = form.weight_stationary = true;
      form.a_in_memory = in_memory;
      check(form);
    }
}

// The masks are those of example 4 of section 9.7.16.4.3.
TEST(TensorProduct, LeavesColumnsOfWeightStationaryOnesOut) {
  const ZeroColumns zeros{
      .bits = uint64_t{1} << 24 | uint64_t{2} << 16 | uint64_t{1} << 8 | uint64_t{0b0011} << 32 |
              uint64_t{1} << 39 | uint64_t{2} << 40 | uint64_t{3} << 48 | uint64_t{2} << 56,
      .shift = 2,
      .parts = {{{"1110000", 0}, {"1110000", 1}, {"0000111", 2}, {"0000111", 1}}}};
  for (const Form& type : every_type()) {
    Form form = with_sum(type);
    form.m = 32;
    form.n = 128;
    form.weight_stationary = true;
    form.zeros = &zeros;
    check(form);
  }
}

}  // namespace
}  // namespace weft::emulator
