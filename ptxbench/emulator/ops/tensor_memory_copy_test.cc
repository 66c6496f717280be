// SPDX-License-Identifier: Apache-2.0

// tcgen05.cp, and the products that need it: those whose scales it brings (kinds mxf8f6f4, mxf4 and
// mxf4nvf4). Places are the manual's, values those of the formats' fields, products are written out
// in double precision.

#include <cmath>
#include <random>

#include "ptxbench/emulator/ops/tensor_program.h"

namespace weft::emulator {
namespace {

// Formats by their fields: OCP Microscaling Formats 1.0, section 5.3; E4M3 and E5M2 of OCP FP8.
struct Format {
  uint32_t code;  // in the instruction descriptor of mxf8f6f4
  int exponent, mantissa, bias;
  int bits() const { return 1 + exponent + mantissa; }
  double value(uint32_t word) const {
    const auto e = static_cast<int>(word >> mantissa & ((1u << exponent) - 1));
    const double fraction = std::ldexp(word & ((1u << mantissa) - 1), -mantissa);
    const double size =
        e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, e - bias);
    return (word >> (exponent + mantissa) & 1) != 0 ? -size : size;
  }
};
constexpr Format kE4m3{0, 4, 3, 7}, kE5m2{1, 5, 2, 15}, kE2m3{3, 2, 3, 1}, kE3m2{4, 3, 2, 3},
    kE2m1{5, 2, 1, 1};

struct Scaled {
  const char* kind;
  const char* vector;  // of scales
  Format a, b;
  int n = 64;
  int scales = 1;       // of a row
  bool packed = false;  // 32 elements in 16 bytes
  bool e4m3 = false;    // scales
  int a_byte = 0, b_byte = 0;
  bool a_in_memory = false;
  bool accumulate = true;
  bool sparse = false;
};

constexpr int kScaleColumn = 400;        // A's in tensor memory; B's are four further
constexpr uint32_t kScales = 48 * 1024;  // in shared memory

// Without swizzle: eight rows of 16 bytes are 128 bytes, and rows follow each other before K does.
uint64_t plain_descriptor(uint32_t start, int outer) {
  return start >> 4 | static_cast<uint64_t>(outer) << 16 | uint64_t{8} << 32 | kVersion;
}

// Values of an operand in shared memory, or of A in tensor memory, by (outer, k).
std::vector<double> place_scaled(const Scaled& s, const Format& format, bool is_a, int outer,
                                 std::vector<uint32_t>& in, size_t a_first, std::mt19937& random) {
  const int per_chunk = s.packed ? 32 : 16, depth = per_chunk * (s.sparse && !is_a ? 4 : 2);
  auto* image = reinterpret_cast<std::byte*>(in.data());
  std::vector<double> values;
  for (int i = 0; i < outer; ++i)
    for (int k = 0; k < depth; ++k) {
      uint32_t word = 0;
      do word = static_cast<uint32_t>(random()) & ((1u << format.bits()) - 1);
      while (format.bits() == 8 && (word & 0x7f) >= 0x78);
      values.push_back(format.value(word));
      for (int bit = 0; bit < format.bits(); ++bit) {
        if ((word >> bit & 1) == 0) continue;
        if (is_a && s.a_in_memory) {
          // A byte has four bits in its middle and six at its lower end.
          const int at = k * (s.packed ? 4 : 8) + (!s.packed && format.bits() == 4 ? 2 : 0) + bit;
          in[a_first + static_cast<size_t>(at / 32 * kThreads + i)] |= 1u << at % 32;
        } else {
          const int at = k % per_chunk * format.bits() + bit;
          const int chunk = i / 8 * 128 + i % 8 * 16 + k / per_chunk * outer * 16;
          image[(is_a ? 0 : static_cast<int>(kB)) + chunk + at / 8] |= std::byte{1} << at % 8;
        }
      }
    }
  return values;
}

// Scales of `outer` rows by (row, run). The words go to shared memory as 32x128b.warpx4 takes them:
// row i in 16 bytes i % 32 of block i / 128, word i / 32 % 4. Bytes that are not asked for are NaN.
std::vector<double> place_scales(const Scaled& s, uint32_t at, int first_byte, int outer,
                                 std::vector<uint32_t>& in, std::mt19937& random) {
  std::vector<double> values;
  for (int i = 0; i < outer; ++i) {
    uint32_t& word = in[at / 4 + static_cast<uint32_t>(i / 128 * 128 + i % 32 * 4 + i / 32 % 4)];
    word = 0xffffffff;
    for (int k = 0; k < s.scales; ++k) {
      const uint32_t bits = s.e4m3 ? 0x28 + random() % 0x20 : 120 + random() % 12;
      values.push_back(s.e4m3 ? kE4m3.value(bits) : std::ldexp(1, static_cast<int>(bits) - 127));
      word &= ~(0xffu << 8 * (first_byte + k));
      word |= bits << 8 * (first_byte + k);
    }
  }
  return values;
}

// As spread(), for elements of a byte or less: four bits of metadata for each chunk of four
// elements, or of four pairs where they are packed, one chunk after the other in the row's lane.
std::vector<double> spread_scaled(const Scaled& s, const std::vector<double>& stored,
                                  std::vector<uint32_t>& in, size_t first, std::mt19937& random) {
  constexpr uint32_t kIndices[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  const size_t unit = s.packed ? 2 : 1, half = stored.size() / kThreads;
  std::vector<double> rows(2 * stored.size());
  for (size_t r = 0; r < kThreads; ++r)
    for (size_t c = 0; c < half / (2 * unit); ++c) {
      const uint32_t indices = kIndices[random() % 6];
      for (size_t e = 0; e < unit; ++e) {
        const double* from = &stored[r * half + 2 * c * unit + e];
        double* to = &rows[2 * r * half + 4 * c * unit + e];
        to[(indices & 3) * unit] = from[0];
        to[(indices >> 2) * unit] = from[unit];
      }
      in[first + c / 8 * kThreads + r] |= indices << 4 * (c % 8);
    }
  return rows;
}

void check_scaled(const Scaled& s) {
  const std::string what = fmt::format("{}{} n{}", s.kind, s.vector, s.n);
  std::mt19937 random(static_cast<unsigned>(s.n));
  constexpr int kM = 128;
  const int depth = (s.packed ? 64 : 32) * (s.sparse ? 2 : 1);
  const size_t c_first = kShared / 4, a_first = c_first + static_cast<size_t>(s.n) * kThreads;
  std::vector<uint32_t> in(a_first + 10 * kThreads);
  auto a = place_scaled(s, s.a, true, kM, in, a_first, random);
  const auto b = place_scaled(s, s.b, false, s.n, in, a_first, random);
  if (s.sparse) a = spread_scaled(s, a, in, a_first + 8 * kThreads, random);
  const auto a_scales = place_scales(s, kScales, s.a_byte, kM, in, random);
  const auto b_scales = place_scales(s, kScales + 512, s.b_byte, s.n, in, random);
  std::vector<double> c;
  for (int i = 0; i < kM * s.n; ++i) {
    const float made = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 8;
    c.push_back(made);
    std::memcpy(&in[c_first + static_cast<size_t>(i % s.n * kThreads + i / s.n)], &made, 4);
  }
  const uint32_t instruction = uint32_t{s.sparse} << 2 | static_cast<uint32_t>(s.b_byte) << 4 |
                               (s.packed ? 1 : s.a.code) << 7 | (s.packed ? 1 : s.b.code) << 10 |
                               static_cast<uint32_t>(s.n / 8) << 17 | uint32_t{!s.e4m3} << 23 |
                               uint32_t{kM / 16} << 24 | static_cast<uint32_t>(s.a_byte) << 29;
  std::string body =
      begin() + fill("s", kShared / 4 / kThreads, s.n, 0) +
      fill("a", kShared / 4 / kThreads + s.n, 8, kAColumn) +
      fill("a", kShared / 4 / kThreads + s.n + 8, 2, kMetadataColumn) + kFilled +
      fmt::format(
          "mov.b64 %rd8, {};\nmov.b64 %rd9, {};\nadd.s64 %rd8, %rd8, %rd11;\n"
          "add.s64 %rd9, %rd9, %rd11;\nmov.b32 %r5, {};\n"
          "add.u32 %r15, %r4, {};\nadd.u32 %r16, %r4, {};\nsetp.eq.u32 %p3, {}, 1;\n",
          plain_descriptor(0, kM), plain_descriptor(kB, s.n), instruction,
          static_cast<uint32_t>(kScaleColumn) + (uint32_t(s.a_byte) << 30),
          static_cast<uint32_t>(kScaleColumn + 4) + (uint32_t(s.b_byte) << 30),
          s.accumulate ? 1 : 0);
  // The copies and the product are in order without a wait.
  std::string issued;
  for (uint32_t block = 0; block < 1 + static_cast<uint32_t>(s.n + 127) / 128; ++block)
    issued += fmt::format(
        "mov.b64 %rd7, {};\nadd.s64 %rd7, %rd7, %rd11;\n"
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r4+{}], %rd7;\n",
        plain_descriptor(kScales + 512 * block, 32), kScaleColumn + 4 * static_cast<int>(block));
  issued += fmt::format(
      "tcgen05.mma{}.cta_group::1.kind::{}.block_scale{} [%r4], {}, %rd9, {}%r5, [%r15], [%r16], "
      "%p3;\n",
      s.sparse ? ".sp" : "", s.kind, s.vector,
      s.a_in_memory ? fmt::format("[%r4+{}]", kAColumn) : "%rd8",
      s.sparse ? fmt::format("[%r4+{}], ", kMetadataColumn) : "");
  const Ran got = run(in, body + issue_and_fetch(issued, s.n), static_cast<size_t>(s.n) * kThreads);
  ASSERT_FALSE(got.fault) << what << "\n" << format(*got.fault);
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < s.n; ++j) {
      double sum = s.accumulate ? c[static_cast<size_t>(i * s.n + j)] : 0, size = std::abs(sum);
      for (int k = 0; k < depth; ++k) {
        const int block = k / (depth / s.scales);
        const double product = a[static_cast<size_t>(i * depth + k)] *
                               a_scales[static_cast<size_t>(i * s.scales + block)] *
                               b[static_cast<size_t>(j * depth + k)] *
                               b_scales[static_cast<size_t>(j * s.scales + block)];
        sum += product;
        size += std::abs(product);
      }
      float value;
      std::memcpy(&value, &got.out[static_cast<size_t>(j * kThreads + i)], 4);
      ASSERT_NEAR(value, sum, size * 0x1p-24 * depth) << what << " " << i << "," << j;
    }
}

TEST(TensorMemoryCopy, BringsTheScalesOfBlocks) {
  for (int byte = 0; byte < 4; ++byte)
    check_scaled({.kind = "mxf8f6f4",
                  .vector = "",
                  .a = kE4m3,
                  .b = kE5m2,
                  .a_byte = byte,
                  .b_byte = 3 - byte});
  for (const Format& format : {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1})
    check_scaled({.kind = "mxf8f6f4", .vector = ".block32", .a = format, .b = format, .n = 128});
  check_scaled({.kind = "mxf8f6f4",
                .vector = ".scale_vec::1X",
                .a = kE4m3,
                .b = kE2m1,
                .n = 8,
                .a_in_memory = true,
                .accumulate = false});
  for (bool in_memory : {false, true}) {
    Scaled four{.kind = "mxf4",
                .vector = "",
                .a = kE2m1,
                .b = kE2m1,
                .scales = 2,
                .packed = true,
                .a_byte = 2,
                .a_in_memory = in_memory};
    check_scaled(four);
    four.kind = "mxf4nvf4";
    four.vector = ".scale_vec::2X";
    check_scaled(four);
    four.vector = ".scale_vec::4X";
    four.scales = 4;
    four.a_byte = 0;
    four.n = 128;
    check_scaled(four);
    four.vector = ".block16";
    four.e4m3 = true;
    check_scaled(four);
    four.sparse = true;
    four.n = 64;
    check_scaled(four);
  }
  check_scaled({.kind = "mxf8f6f4", .vector = "", .a = kE4m3, .b = kE2m3, .sparse = true});
  for (const Format& format : {kE2m3, kE3m2, kE2m1})
    check_scaled({.kind = "mxf8f6f4", .vector = "", .a = format, .b = kE4m3, .a_in_memory = true});
}

// Section 9.7.16.9.2: which row of the matrix in shared memory a lane gets, in words of its own.
TEST(TensorMemoryCopy, BringsRowsToTheLanesOfTheirWarps) {
  struct Copy {
    const char* shape;
    int lane, columns;
    int (*row)(int lane);  // -1: none
  };
  const Copy copies[] = {
      {"128x256b", 0, 8, [](int lane) { return lane; }},
      {"128x128b", 0, 4, [](int lane) { return lane; }},
      {"4x256b", 31, 8, [](int lane) { return lane % 32 == 31 ? lane / 32 : -1; }},
      {"64x128b.warpx2::02_13", 0, 4, [](int lane) { return lane % 64; }},
      {"64x128b.warpx2::01_23", 0, 4, [](int lane) { return lane / 64 * 32 + lane % 32; }},
      {"32x128b.warpx4", 0, 4, [](int lane) { return lane % 32; }}};
  std::mt19937 random(7);
  std::vector<uint32_t> in(kShared / 4 + 8 * kThreads);
  for (uint32_t i = 0; i < kB / 4; ++i) in[i] = static_cast<uint32_t>(random());
  for (const Copy& copy : copies) {
    const std::string body =
        begin() + fill("s", kShared / 4 / kThreads, 8, 0) + kFilled +
        fmt::format("mov.b64 %rd8, {};\nadd.s64 %rd8, %rd8, %rd11;\nadd.u32 %r5, %r4, {};\n",
                    plain_descriptor(0, 128), copy.lane << 16);
    const Ran got =
        run(in,
            body + issue_and_fetch(
                       fmt::format("tcgen05.cp.cta_group::1.{} [%r5], %rd8;\n", copy.shape), 8),
            8 * kThreads);
    ASSERT_FALSE(got.fault) << copy.shape << "\n" << format(*got.fault);
    for (int lane = 0; lane < kThreads; ++lane)
      for (int column = 0; column < 8; ++column) {
        const int row = copy.row(lane);
        const auto word =
            static_cast<size_t>(row / 8 * 32 + row % 8 * 4 + column / 4 * 512 + column % 4);
        const uint32_t expected = row < 0 || column >= copy.columns ? 0 : in[word];
        ASSERT_EQ(got.out[static_cast<size_t>(column * kThreads + lane)], expected)
            << copy.shape << " lane " << lane << " column " << column;
      }
  }
}

// Four bits count 0, 1, ... 15, six bits 3, 7, ... 63; the padding behind them is not zero.
TEST(TensorMemoryCopy, DecompressesElementsOfFourAndSixBits) {
  struct Packed {
    const char* format;
    int bits, first, step, shift;
  };
  for (const Packed& packed : {Packed{"b4x16_p64", 4, 0, 1, 2}, Packed{"b6x16_p32", 6, 3, 4, 0}}) {
    std::vector<uint32_t> in(kShared / 4 + 8 * kThreads, 0xdeadbeef);
    auto* image = reinterpret_cast<std::byte*>(in.data());
    for (uint32_t chunk = 0; chunk < 256; ++chunk) {
      std::memset(image + chunk * 16, 0, static_cast<size_t>(2 * packed.bits));
      for (int i = 0; i < 16; ++i)
        for (int bit = 0; bit < packed.bits; ++bit)
          if (((packed.first + i * packed.step) >> bit & 1) != 0) {
            const int at = i * packed.bits + bit;
            image[chunk * 16 + static_cast<uint32_t>(at / 8)] |= std::byte{1} << at % 8;
          }
    }
    const std::string body =
        begin() + fill("s", kShared / 4 / kThreads, 8, 0) + kFilled +
        fmt::format("mov.b64 %rd8, {};\nadd.s64 %rd8, %rd8, %rd11;\n", plain_descriptor(0, 128));
    const Ran got =
        run(in,
            body + issue_and_fetch(fmt::format("tcgen05.cp.cta_group::1.128x256b.b8x16.{} "
                                               "[%r4], %rd8;\n",
                                               packed.format),
                                   8),
            8 * kThreads);
    ASSERT_FALSE(got.fault) << format(*got.fault);
    for (uint32_t lane = 0; lane < kThreads; ++lane)
      for (uint32_t k = 0; k < 32; ++k) {
        const uint32_t byte = got.out[k / 4 * kThreads + lane] >> 8 * (k % 4) & 0xff;
        ASSERT_EQ(byte, static_cast<uint32_t>(packed.first + static_cast<int>(k % 16) * packed.step)
                            << packed.shift)
            << packed.format << " lane " << lane << " element " << k;
      }
  }
}

}  // namespace
}  // namespace weft::emulator
