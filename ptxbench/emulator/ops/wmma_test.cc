// SPDX-License-Identifier: Apache-2.0

// wmma: load, multiply, store. The manual leaves fragments open, so the tests go from memory to
// memory: matrices in rows or columns with a stride, products written out in double precision.

#include <cmath>
#include <random>

#include "ptxbench/emulator/ops/matrix_program.h"
#include "ptxbench/emulator/tile/operand_reference.h"

namespace weft::emulator {
namespace {

using enum TileElement;

struct Form {
  int m, n, k;
  TileElement element;
  const char* type;  // of A and B
  const char* d;     // of C and D
  int a_registers, b_registers, c_registers;
  const char* product;  // types of the product instruction
};

// Writes a matrix of rows x columns by rows or columns, `stride` elements between lines; gives
// values.
std::vector<double> write(std::vector<uint32_t>& words, size_t first_word, int rows, int columns,
                          bool by_row, int stride, TileElement element, std::mt19937& random) {
  std::vector<double> values(rows * columns);
  auto* bytes = reinterpret_cast<std::byte*>(words.data() + first_word);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const uint32_t value = draw(element, random);
      put(bytes, static_cast<uint32_t>(by_row ? i * stride + j : j * stride + i),
          element_bits(element), value);
      values[i * columns + j] = decode(element, value);
    }
  return values;
}

void check(const Form& form, bool a_row, bool b_row, bool c_row, const char* mma = "wmma.mma",
           const char* before = "") {
  std::mt19937 random(static_cast<unsigned>(form.m * 3 + form.k));
  const int bits = element_bits(form.element);
  const int pad = std::max(8, 128 / bits);
  const int a_stride = (a_row ? form.k : form.m) + pad, b_stride = (b_row ? form.n : form.k) + pad;
  const int c_stride = (c_row ? form.n : form.m) + 8;
  constexpr size_t kA = 0, kBWords = 1024, kC = 2048, kSpace = 4096;
  MatrixProgram program;
  program.in.resize(kSpace);
  const auto a = write(program.in, kA, form.m, form.k, a_row, a_stride, form.element, random);
  const auto b = write(program.in, kBWords, form.k, form.n, b_row, b_stride, form.element, random);
  std::vector<double> c(form.m * form.n);
  const bool integer = std::string(form.d) == "s32", half = std::string(form.d) == "f16";
  for (int i = 0; i < form.m; ++i)
    for (int j = 0; j < form.n; ++j) {
      const int at = c_row ? i * c_stride + j : j * c_stride + i;
      if (half) {
        const uint32_t value = draw(F16, random);
        put(reinterpret_cast<std::byte*>(program.in.data() + kC), static_cast<uint32_t>(at), 16,
            value);
        c[i * form.n + j] = decode(F16, value);
      } else if (integer) {
        program.in[kC + at] = 0x7fffffff - random() % 3000;
        c[i * form.n + j] = program.in[kC + at];
      } else {
        const float value = static_cast<float>(static_cast<int>(random() % 200) - 100) / 4;
        std::memcpy(&program.in[kC + at], &value, 4);
        c[i * form.n + j] = value;
      }
    }
  const auto layout = [](bool row) { return row ? "row" : "col"; };
  const std::string shape = fmt::format("m{}n{}k{}", form.m, form.n, form.k);
  const auto registers = [](int first, int count) {
    std::string list = "{";
    for (int i = 0; i < count; ++i) list += fmt::format("{}%s{}", i == 0 ? "" : ", ", first + i);
    return list + "}";
  };
  program.body =
      fmt::format(
          "mov.u32 %r8, {};\nmov.u32 %r9, {};\nmov.u32 %r10, {};\nmul.wide.u32 %rd4, %r1, 4;\n"
          "sub.s64 %rd2, %rd2, %rd4;\n",
          a_stride, b_stride, c_stride) +
      fmt::format("wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%rd3], %r8;\n", layout(a_row),
                  shape, form.type, registers(0, form.a_registers)) +
      fmt::format("wmma.load.b.sync.aligned.{}.{}.global.{} {}, [%rd3+{}], %r9;\n", layout(b_row),
                  shape, form.type, registers(8, form.b_registers), kBWords * 4) +
      fmt::format("wmma.load.c.sync.aligned.{}.{}.global.{} {}, [%rd3+{}], %r10;\n", layout(c_row),
                  shape, form.d, registers(16, form.c_registers), kC * 4) +
      fmt::format("{}.sync.aligned.{}.{}.{}{}.{} {}, {}, {}, {};\n", mma, layout(a_row),
                  layout(b_row), shape, before, form.product, registers(24, form.c_registers),
                  registers(0, form.a_registers), registers(8, form.b_registers),
                  registers(16, form.c_registers)) +
      fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [%rd2], {}, %r10;\n", layout(c_row),
                  shape, form.d, registers(24, form.c_registers));
  program.out_words = 2048;
  program.run();
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_FALSE(program.fault) << format(*program.fault);
  const bool is_xor = std::string(mma).find("xor") != std::string::npos;
  for (int i = 0; i < form.m; ++i)
    for (int j = 0; j < form.n; ++j) {
      double sum = c[i * form.n + j], magnitude = std::abs(sum);
      for (int k = 0; k < form.k; ++k) {
        const double x = a[i * form.k + k], y = b[k * form.n + j];
        const double product = is_xor ? (x != y) : x * y;
        sum += product;
        magnitude += std::abs(product);
      }
      const int at = c_row ? i * c_stride + j : j * c_stride + i;
      if (half) {
        const uint32_t got = program.out[at / 2] >> (at % 2 * 16) & 0xffff;
        ASSERT_NEAR(decode(F16, got), sum, std::abs(sum) * 0x1p-11 + magnitude * 0x1p-20);
      } else if (integer) {
        const auto exact = static_cast<int64_t>(sum);
        const int64_t expected = *before != 0 ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                                              : static_cast<int32_t>(exact);
        ASSERT_EQ(static_cast<int32_t>(program.out[at]), expected) << shape << form.type;
      } else {
        float got;
        std::memcpy(&got, &program.out[at], 4);
        ASSERT_NEAR(got, sum, magnitude * 0x1p-24 * form.k)
            << shape << form.type << " " << i << "," << j;
      }
    }
}

TEST(Wmma, GoesFromMemoryToMemoryInEveryShapeTypeAndLayout) {
  const Form forms[] = {{16, 16, 16, F16, "f16", "f32", 8, 8, 8, "f32.f32"},
                        {32, 8, 16, F16, "f16", "f32", 8, 8, 8, "f32.f32"},
                        {8, 32, 16, F16, "f16", "f32", 8, 8, 8, "f32.f32"},
                        {16, 16, 16, F16, "f16", "f16", 8, 8, 4, "f16.f16"},
                        {16, 16, 16, Bf16, "bf16", "f32", 4, 4, 8, "f32.bf16.bf16.f32"},
                        {32, 8, 16, Bf16, "bf16", "f32", 8, 2, 8, "f32.bf16.bf16.f32"},
                        {8, 32, 16, Bf16, "bf16", "f32", 2, 8, 8, "f32.bf16.bf16.f32"},
                        {16, 16, 8, Tf32, "tf32", "f32", 4, 4, 8, "f32.tf32.tf32.f32"},
                        {16, 16, 16, S8, "s8", "s32", 2, 2, 8, "s32.s8.s8.s32"},
                        {32, 8, 16, U8, "u8", "s32", 4, 1, 8, "s32.u8.u8.s32"},
                        {8, 32, 16, S8, "s8", "s32", 1, 4, 8, "s32.s8.s8.s32"}};
  for (const Form& form : forms)
    for (bool a_row : {true, false})
      for (bool b_row : {true, false})
        for (bool c_row : {true, false}) check(form, a_row, b_row, c_row);
}

TEST(Wmma, SaturatesIntegersWhenAsked) {
  check({16, 16, 16, U8, "u8", "s32", 2, 2, 8, "s32.u8.u8.s32"}, true, false, true, "wmma.mma",
        ".satfinite");
}

TEST(Wmma, TakesElementsNarrowerThanAByte) {
  check({8, 8, 32, S4, "s4", "s32", 1, 1, 2, "s32.s4.s4.s32"}, true, false, true);
  check({8, 8, 32, U4, "u4", "s32", 1, 1, 2, "s32.u4.u4.s32"}, true, false, true);
  check({8, 8, 128, B1, "b1", "s32", 1, 1, 2, "s32.b1.b1.s32"}, true, false, true,
        "wmma.mma.xor.popc");
  check({8, 8, 128, B1, "b1", "s32", 1, 1, 2, "s32.b1.b1.s32"}, true, false, false,
        "wmma.mma.and.popc");
}

}  // namespace
}  // namespace weft::emulator
