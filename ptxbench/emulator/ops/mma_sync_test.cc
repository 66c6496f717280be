// SPDX-License-Identifier: Apache-2.0

// mma.sync of every shape and type through whole programs. Fragments are filled by FragmentLayout,
// which fragment_test.cc checks against the manual's formulas; products are written out in double
// precision (exact but for the last sum) or 64-bit integers.

#include <cmath>
#include <random>

#include "ptxbench/emulator/ops/matrix_program.h"
#include "ptxbench/emulator/tile/fragment.h"
#include "ptxbench/emulator/tile/operand_reference.h"

namespace weft::emulator {
namespace {

struct Form {
  int m, k;
  TileElement a, b;
  const char* types;        // "f32.f16.f16.f32"
  const char* after = "";   // ".and.popc"
  const char* before = "";  // ".satfinite", between the layouts and the types
};

// Sets element i of a lane's registers.
void set_element(uint32_t* words, int lane, int i, int bits, uint32_t value) {
  const int per_word = 32 / bits;
  uint32_t& word = words[i / per_word * 32 + lane];
  const uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << (i % per_word * bits);
  word = (word & ~mask) | value << (i % per_word * bits % 32);
}

std::vector<double> fill(uint32_t* words, const FragmentLayout& layout, TileElement element,
                         std::mt19937& random) {
  std::vector<double> values(layout.rows * layout.columns);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < layout.elements(); ++i) {
      const auto [row, column] = layout.position(lane, i);
      const uint32_t value = draw(element, random);
      set_element(words, lane, i, element_bits(element), value);
      values[row * layout.columns + column] = decode(element, value);
    }
  return values;
}

void check(const Form& form) {
  std::mt19937 random(static_cast<unsigned>(form.m * form.k));
  const std::string types = form.types;
  const bool integer = types.starts_with("s32"), half = types.starts_with("f16");
  const int bits = element_bits(form.a);
  const int a_count = form.m * form.k * bits / 1024, b_count = 8 * form.k * bits / 1024;
  const int sums = form.m * 8 / 32, c_count = half ? sums / 2 : sums;
  MatrixProgram program;
  program.in.resize((a_count + b_count + c_count) * 32);
  uint32_t* const c_words = program.in.data() + (a_count + b_count) * 32;
  const auto a = fill(program.in.data(), operand_fragment(form.m, form.k, bits), form.a, random);
  const auto b =
      fill(program.in.data() + a_count * 32, operand_fragment(8, form.k, bits), form.b, random);
  const auto layout = accumulator_fragment(form.m, 8);
  std::vector<double> c(form.m * 8);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < sums; ++i) {
      const auto [row, column] = layout.position(lane, i);
      uint32_t value;
      if (integer) {
        // Near the end of the range, so that sums leave it.
        value = 0x7fffffff - random() % 2000 * (form.a == TileElement::B1 ? 1 : 10);
        c[row * 8 + column] = static_cast<int32_t>(value);
      } else if (half) {
        value = draw(TileElement::F16, random);
        c[row * 8 + column] = decode(TileElement::F16, value);
      } else {
        const float x = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 8;
        std::memcpy(&value, &x, 4);
        c[row * 8 + column] = x;
      }
      set_element(c_words, lane, i, half ? 16 : 32, value);
    }
  program.out_words = static_cast<size_t>(c_count) * 32;
  const std::string spelling = fmt::format("mma.sync.aligned.m{}n8k{}.row.col{}.{}{}", form.m,
                                           form.k, form.before, form.types, form.after);
  program.body = load_registers("a", 0, a_count, 32) + load_registers("b", a_count, b_count, 32) +
                 load_registers("c", a_count + b_count, c_count, 32) +
                 fmt::format("{} {}, {}, {}, {};\n", spelling, register_list("d", c_count),
                             a_count == 1 ? "{%a0}" : register_list("a", a_count),
                             register_list("b", b_count), register_list("c", c_count)) +
                 store_registers("d", c_count, 32);
  program.run();
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_FALSE(program.fault) << format(*program.fault);
  const bool is_xor = std::string(form.after).find("xor") != std::string::npos;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < sums; ++i) {
      const auto [row, column] = layout.position(lane, i);
      double sum = c[row * 8 + column], magnitude = std::abs(sum);
      for (int k = 0; k < form.k; ++k) {
        const double x = a[row * form.k + k], y = b[column * form.k + k];
        const double product = is_xor ? (x != y) : x * y;
        sum += product;
        magnitude += std::abs(product);
      }
      const uint32_t word = half ? program.out[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff
                                 : program.out[i * 32 + lane];
      if (integer) {
        const auto exact = static_cast<int64_t>(sum);
        const int64_t expected = *form.before != 0
                                     ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                                     : static_cast<int32_t>(exact);
        ASSERT_EQ(static_cast<int32_t>(word), expected) << spelling;
      } else if (half) {
        // Rounded once to 11 bits, after sums in fp32.
        ASSERT_NEAR(decode(TileElement::F16, word), sum,
                    std::abs(sum) * 0x1p-11 + magnitude * 0x1p-22)
            << spelling;
      } else {
        float value;
        std::memcpy(&value, &word, 4);
        ASSERT_NEAR(value, sum, magnitude * 0x1p-24 * form.k)
            << spelling << " " << row << "," << column;
      }
    }
}

using enum TileElement;

TEST(MmaSync, MultipliesHalvesAndTheirLikes) {
  for (const Form& form : std::initializer_list<Form>{{16, 8, F16, F16, "f32.f16.f16.f32"},
                                                      {16, 16, F16, F16, "f32.f16.f16.f32"},
                                                      {16, 8, F16, F16, "f16.f16.f16.f16"},
                                                      {16, 16, F16, F16, "f16.f16.f16.f16"},
                                                      {16, 8, Bf16, Bf16, "f32.bf16.bf16.f32"},
                                                      {16, 16, Bf16, Bf16, "f32.bf16.bf16.f32"},
                                                      {16, 4, Tf32, Tf32, "f32.tf32.tf32.f32"},
                                                      {16, 8, Tf32, Tf32, "f32.tf32.tf32.f32"}})
    check(form);
}

TEST(MmaSync, MultipliesEightBitFloats) {
  for (int k : {16, 32})
    for (const Form& form : std::initializer_list<Form>{{16, k, E4m3, E4m3, "f32.e4m3.e4m3.f32"},
                                                        {16, k, E4m3, E5m2, "f32.e4m3.e5m2.f32"},
                                                        {16, k, E5m2, E4m3, "f32.e5m2.e4m3.f32"},
                                                        {16, k, E5m2, E5m2, "f32.e5m2.e5m2.f32"}})
      check(form);
}

TEST(MmaSync, MultipliesIntegersWithAndWithoutSaturation) {
  for (const char* satfinite : {"", ".satfinite"}) {
    for (auto [m, k] : {std::pair{8, 16}, {16, 16}, {16, 32}}) {
      check({m, k, S8, S8, "s32.s8.s8.s32", "", satfinite});
      check({m, k, U8, S8, "s32.u8.s8.s32", "", satfinite});
      check({m, k, S8, U8, "s32.s8.u8.s32", "", satfinite});
      check({m, k, U8, U8, "s32.u8.u8.s32", "", satfinite});
    }
    for (auto [m, k] : {std::pair{8, 32}, {16, 32}, {16, 64}}) {
      check({m, k, S4, S4, "s32.s4.s4.s32", "", satfinite});
      check({m, k, U4, S4, "s32.u4.s4.s32", "", satfinite});
      check({m, k, U4, U4, "s32.u4.u4.s32", "", satfinite});
    }
  }
}

TEST(MmaSync, CountsBits) {
  for (auto [m, k] : {std::pair{8, 128}, {16, 128}, {16, 256}}) {
    check({m, k, B1, B1, "s32.b1.b1.s32", ".and.popc"});
    check({m, k, B1, B1, "s32.b1.b1.s32", ".xor.popc"});
  }
}

TEST(MmaSync, ChainsDoublesInOrderOfTheDepth) {
  std::mt19937 random(3);
  for (auto [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}}) {
    const auto a_layout = operand_fragment(m, k, 64), b_layout = operand_fragment(8, k, 64);
    const auto c_layout = accumulator_fragment(m, 8);
    const int a_count = m * k / 32, b_count = k / 4, c_count = m / 4;
    std::vector<double> words((a_count + b_count + c_count) * 32), a(m * k), b(8 * k), c(m * 8);
    const auto fill_doubles = [&](double* to, const FragmentLayout& layout,
                                  std::vector<double>& values) {
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < layout.elements(); ++i) {
          const auto [row, column] = layout.position(lane, i);
          to[i * 32 + lane] = values[row * layout.columns + column] =
              std::ldexp(static_cast<double>(random()), -31) - 1;
        }
    };
    fill_doubles(words.data(), a_layout, a);
    fill_doubles(words.data() + a_count * 32, b_layout, b);
    fill_doubles(words.data() + (a_count + b_count) * 32, c_layout, c);
    MatrixProgram program;
    program.in.resize(words.size() * 2);
    std::memcpy(program.in.data(), words.data(), words.size() * 8);
    program.out_words = static_cast<size_t>(c_count) * 64;
    program.body =
        "mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd5, %rd3, %rd4;\nmul.wide.u32 %rd4, %r1, "
        "4;\nadd.s64 %rd2, %rd2, %rd4;\n";
    const auto list = [](int first, int count) {
      std::string text = "{";
      for (int i = 0; i < count; ++i) text += fmt::format("{}%x{}", i == 0 ? "" : ", ", first + i);
      return text + "}";
    };
    for (int i = 0; i < a_count + b_count + c_count; ++i)
      program.body += fmt::format("ld.global.f64 %x{}, [%rd5+{}];\n", i, i * 256);
    program.body +=
        fmt::format("mma.sync.aligned.m{}n8k{}.row.col.f64.f64.f64.f64 {}, {}, {}, {};\n", m, k,
                    list(30, c_count), list(0, a_count), list(a_count, b_count),
                    list(a_count + b_count, c_count));
    for (int i = 0; i < c_count; ++i)
      program.body += fmt::format("st.global.f64 [%rd2+{}], %x{};\n", i * 256, 30 + i);
    program.run();
    ASSERT_FALSE(program.fault) << format(*program.fault);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < c_count; ++i) {
        const auto [row, column] = c_layout.position(lane, i);
        double sum = c[row * 8 + column], got;
        for (int depth = 0; depth < k; ++depth)
          sum = std::fma(a[row * k + depth], b[column * k + depth], sum);
        std::memcpy(&got, &program.out[(i * 32 + lane) * 2], 8);
        ASSERT_EQ(got, sum) << "m" << m << "k" << k;
      }
  }
}

TEST(MmaSync, QuartersOfTheWarpMultiplyByThemselvesInM8n8k4) {
  // Formulas of PTX ISA 9.7.14.5.1 as they stand there, for both layouts of A and B.
  for (bool a_row : {true, false})
    for (bool b_row : {true, false})
      for (bool half : {false, true}) {
        std::mt19937 random(9);
        double a[4][8][4], b[4][4][8];
        const int c_count = half ? 4 : 8;
        MatrixProgram program;
        program.in.resize((4 + c_count) * 32);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            const int quarter = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
            uint32_t value = draw(F16, random);
            set_element(program.in.data(), lane, i, 16, value);
            if (a_row)
              a[quarter][lane % 4 + upper][i] = decode(F16, value);
            else
              a[quarter][i + upper][lane % 4] = decode(F16, value);
            value = draw(F16, random);
            set_element(program.in.data() + 64, lane, i, 16, value);
            if (b_row)
              b[quarter][lane % 4][i + upper] = decode(F16, value);
            else
              b[quarter][i][lane % 4 + upper] = decode(F16, value);
          }
        program.out_words = static_cast<size_t>(c_count) * 32;
        const char* type = half ? "f16" : "f32";
        program.body = load_registers("a", 0, 2, 32) + load_registers("b", 2, 2, 32) +
                       load_registers("c", 4, c_count, 32) +
                       fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{} {}, {}, {}, {};\n",
                                   a_row ? "row" : "col", b_row ? "row" : "col", type, type,
                                   register_list("d", c_count), register_list("a", 2),
                                   register_list("b", 2), register_list("c", c_count)) +
                       store_registers("d", c_count, 32);
        program.run();
        ASSERT_FALSE(program.fault) << format(*program.fault);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            int row, column;
            if (half) {
              row = lane < 16 ? lane % 4 : lane % 4 + 4;
              column = i;
            } else {
              const int x = (lane & 0b1) + (i & 0b10);
              row = lane < 16 ? x : x + 4;
              column = (i & 0b100) + (lane & 0b10) + (i & 0b1);
            }
            double sum = 0, magnitude = 0;
            for (int k = 0; k < 4; ++k) {
              sum += a[lane % 16 / 4][row][k] * b[lane % 16 / 4][k][column];
              magnitude += std::abs(a[lane % 16 / 4][row][k] * b[lane % 16 / 4][k][column]);
            }
            if (half) {
              const uint32_t got = program.out[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff;
              ASSERT_NEAR(decode(F16, got), sum, std::abs(sum) * 0x1p-11 + magnitude * 0x1p-22);
            } else {
              float got;
              std::memcpy(&got, &program.out[i * 32 + lane], 4);
              ASSERT_NEAR(got, sum, magnitude * 0x1p-22);
            }
          }
      }
}

TEST(MmaSync, FaultsWhenPartOfTheWarpIsMissing) {
  MatrixProgram program;
  program.threads = 31;
  program.body =
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, "
      "%a3}, "
      "{%b0, %b1}, {%c0, %c1, %c2, %c3};\n";
  program.run();
  ASSERT_TRUE(program.fault);
  EXPECT_EQ(program.fault->kind, FaultKind::DivergentInstruction);
}

}  // namespace
}  // namespace weft::emulator
