// SPDX-License-Identifier: Apache-2.0

// wgmma through whole programs. Operands are placed by the manual's canonical layouts
// (operand_reference.h) and fragments (fragment_test.cc); products are written out in double
// precision.

#include <cmath>
#include <random>

#include "ptxbench/emulator/ops/matrix_program.h"
#include "ptxbench/emulator/tile/fragment.h"
#include "ptxbench/emulator/tile/operand_reference.h"

namespace weft::emulator {
namespace {

constexpr int kThreads = 128, kRows = 64;
constexpr uint32_t kShared = 96 * 1024, kB = 24 * 1024;

// Copies the first words of `in` to all of shared memory.
std::string fill_shared() {
  return fmt::format(
      "mov.u32 %r8, %r1;\nCopy:\nmul.wide.u32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
      "ld.global.b32 %r9, [%rd6];\nshl.b32 %r10, %r8, 2;\nadd.s32 %r10, %r10, %r2;\nst.shared.b32 "
      "[%r10], %r9;\n"
      "add.s32 %r8, %r8, {};\nsetp.lt.u32 %p1, %r8, {};\n@%p1 bra Copy;\nbar.sync 0;\n",
      kThreads, kShared / 4);
}

struct Form {
  TileElement a, b;
  const char* types;
  int n = 64;
  SwizzleMode a_mode = SwizzleMode::Bytes128, b_mode = SwizzleMode::Bytes128;
  Major a_major = Major::Depth, b_major = Major::Depth;
  bool a_in_registers = false;
  bool accumulate = true;  // scale-d
  int scale_a = 1, scale_b = 1;
  const char* before = "";  // ".satfinite"
  const char* after = "";   // ".and.popc"
};

void check(const Form& form) {
  std::mt19937 random(static_cast<unsigned>(form.n));
  const std::string types = form.types;
  const bool integer = types.starts_with("s32"), half = types.starts_with("f16");
  const int bits = element_bits(form.a), depth = 256 / bits, t = 128 / bits, n = form.n;
  MatrixProgram program;
  program.threads = kThreads;
  program.shared = kShared;
  const int count = half ? n / 4 : n / 2;
  const size_t first = kShared / 4, a_first = first + static_cast<size_t>(count) * kThreads;
  program.in.resize(a_first + 4 * kThreads);
  auto* image = reinterpret_cast<std::byte*>(program.in.data());
  const Canonical a_layout = canonical(form.a_mode, form.a_major, t, 0, kRows);
  const Canonical b_layout = canonical(form.b_mode, form.b_major, t, kB, n);
  auto a = place(image, a_layout, 0, form.a, kRows, depth, random);
  const auto b = place(image, b_layout, kB, form.b, n, depth, random);
  if (form.a_in_registers) {
    const auto layout = operand_fragment(16, depth, bits);
    for (int thread = 0; thread < kThreads; ++thread)
      for (int i = 0; i < layout.elements(); ++i) {
        const auto [row, k] = layout.position(thread % 32, i);
        const uint32_t value = draw(form.a, random);
        a[(16 * (thread / 32) + row) * depth + k] = decode(form.a, value);
        const int per_word = 32 / bits;
        program.in[a_first + static_cast<size_t>(i / per_word) * kThreads + thread] |=
            value << (i % per_word * bits);
      }
  }
  const auto layout = accumulator_fragment(16, n);
  std::vector<double> c(kRows * n);
  for (int thread = 0; thread < kThreads; ++thread)
    for (int i = 0; i < layout.elements(); ++i) {
      const auto [row, column] = layout.position(thread % 32, i);
      double& place = c[(16 * (thread / 32) + row) * n + column];
      if (half) {
        const uint32_t value = draw(TileElement::F16, random);
        place = decode(TileElement::F16, value);
        program.in[first + static_cast<size_t>(i / 2) * kThreads + thread] |= value << (i % 2 * 16);
      } else if (integer) {
        const uint32_t value = 0x7fffffff - random() % 20000;
        place = value;
        program.in[first + static_cast<size_t>(i) * kThreads + thread] = value;
      } else {
        const float value = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 8;
        place = value;
        std::memcpy(&program.in[first + static_cast<size_t>(i) * kThreads + thread], &value, 4);
      }
    }
  const char* registers = integer || half ? "s" : "f";
  std::string tail;
  const bool floats = !integer;
  if (floats) tail = fmt::format(", {}, {}", form.scale_a, form.scale_b);
  if (bits == 16) {
    if (!form.a_in_registers) tail += form.a_major == Major::Outer ? ", 1" : ", 0";
    tail += form.b_major == Major::Outer ? ", 1" : ", 0";
  }
  const std::string spelling = fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}{}.{}{}", n,
                                           depth, form.before, form.types, form.after);
  program.body = fill_shared() +
                 load_registers(registers, static_cast<int>(first / kThreads), count, kThreads) +
                 load_registers("a", static_cast<int>(a_first / kThreads), 4, kThreads) +
                 fmt::format(
                     "mov.b64 %rd8, {};\nmov.b64 %rd9, {};\nadd.s64 %rd8, %rd8, %rd11;\nadd.s64 "
                     "%rd9, %rd9, %rd11;\nsetp.eq.u32 %p2, {}, 1;\n",
                     a_layout.descriptor, b_layout.descriptor, form.accumulate ? 1 : 0) +
                 "wgmma.fence.sync.aligned;\n" +
                 fmt::format("{} {}, {}, %rd9, %p2{};\n", spelling, register_list(registers, count),
                             form.a_in_registers ? register_list("a", 4) : "%rd8", tail) +
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
                 store_registers(registers, count, kThreads);
  program.out_words = static_cast<size_t>(count) * kThreads;
  program.run();
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_FALSE(program.fault) << spelling << "\n" << format(*program.fault);
  const double sign = form.scale_a * form.scale_b;
  for (int thread = 0; thread < kThreads; ++thread)
    for (int i = 0; i < layout.elements(); ++i) {
      const auto [in_warp, column] = layout.position(thread % 32, i);
      const int row = 16 * (thread / 32) + in_warp;
      double sum = form.accumulate ? c[row * n + column] : 0, magnitude = std::abs(sum);
      for (int k = 0; k < depth; ++k) {
        const double product = a[row * depth + k] * b[column * depth + k];
        sum += sign * product;
        magnitude += std::abs(product);
      }
      if (half) {
        const uint32_t got =
            program.out[static_cast<size_t>(i / 2) * kThreads + thread] >> (i % 2 * 16) & 0xffff;
        ASSERT_NEAR(decode(TileElement::F16, got), sum,
                    std::abs(sum) * 0x1p-11 + magnitude * 0x1p-20)
            << spelling;
        continue;
      }
      const uint32_t got = program.out[static_cast<size_t>(i) * kThreads + thread];
      if (integer) {
        const auto exact = static_cast<int64_t>(sum);
        const int64_t expected = *form.before != 0
                                     ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX)
                                     : static_cast<int32_t>(exact);
        ASSERT_EQ(static_cast<int32_t>(got), expected) << spelling;
      } else {
        float value;
        std::memcpy(&value, &got, 4);
        ASSERT_NEAR(value, sum, magnitude * 0x1p-24 * depth)
            << spelling << " " << row << "," << column;
      }
    }
}

using enum TileElement;
constexpr SwizzleMode kModes[] = {SwizzleMode::None, SwizzleMode::Bytes128, SwizzleMode::Bytes64,
                                  SwizzleMode::Bytes32};

const std::vector<Form>& every_type() {
  static const std::vector<Form> forms = {
      {F16, F16, "f32.f16.f16"},     {F16, F16, "f16.f16.f16"},     {Bf16, Bf16, "f32.bf16.bf16"},
      {Tf32, Tf32, "f32.tf32.tf32"}, {E4m3, E4m3, "f32.e4m3.e4m3"}, {E4m3, E5m2, "f32.e4m3.e5m2"},
      {E5m2, E4m3, "f32.e5m2.e4m3"}, {E5m2, E5m2, "f32.e5m2.e5m2"}, {E5m2, E5m2, "f16.e5m2.e5m2"},
      {S8, S8, "s32.s8.s8"},         {S8, U8, "s32.s8.u8"},         {U8, S8, "s32.u8.s8"},
      {U8, U8, "s32.u8.u8"},         {B1, B1, "s32.b1.b1"}};
  return forms;
}

TEST(Wgmma, MultipliesEveryTypeFromSharedMemoryAndFromRegisters) {
  for (Form form : every_type())
    for (bool registers : {false, true}) {
      form.a_in_registers = registers;
      if (form.a == B1) form.after = ".and.popc";
      if (std::string(form.types) == "f16.e5m2.e5m2")
        form.n = 8;  // few products, so that f16 holds the sums
      check(form);
    }
}

TEST(Wgmma, ReadsEverySwizzle) {
  for (SwizzleMode a_mode : kModes)
    for (SwizzleMode b_mode : kModes)
      check({.a = Bf16,
             .b = Bf16,
             .types = "f32.bf16.bf16",
             .n = 40,
             .a_mode = a_mode,
             .b_mode = b_mode});
}

TEST(Wgmma, ReadsTransposedOperands) {
  for (Major a_major : {Major::Depth, Major::Outer})
    for (Major b_major : {Major::Depth, Major::Outer})
      for (SwizzleMode mode : kModes) {
        check({.a = F16,
               .b = F16,
               .types = "f32.f16.f16",
               .n = 96,
               .a_mode = mode,
               .b_mode = mode,
               .a_major = a_major,
               .b_major = b_major});
        if (a_major == Major::Depth)
          check({.a = Bf16,
                 .b = Bf16,
                 .types = "f32.bf16.bf16",
                 .n = 96,
                 .b_mode = mode,
                 .b_major = b_major,
                 .a_in_registers = true});
      }
}

TEST(Wgmma, TakesEveryWidth) {
  for (int n = 8; n <= 256; n += 56)
    check({.a = Bf16, .b = Bf16, .types = "f32.bf16.bf16", .n = n});
  check({.a = Bf16, .b = Bf16, .types = "f32.bf16.bf16", .n = 256});
  check({.a = F16, .b = F16, .types = "f16.f16.f16", .n = 256});
  check({.a = S8, .b = S8, .types = "s32.s8.s8", .n = 224});
}

TEST(Wgmma, ScalesNegateAndClear) {
  check({.a = Bf16, .b = Bf16, .types = "f32.bf16.bf16", .accumulate = false});
  check({.a = Bf16, .b = Bf16, .types = "f32.bf16.bf16", .scale_a = -1});
  check({.a = F16, .b = F16, .types = "f16.f16.f16", .scale_b = -1});
  check({.a = F16, .b = F16, .types = "f16.f16.f16", .accumulate = false});
  check({.a = Tf32,
         .b = Tf32,
         .types = "f32.tf32.tf32",
         .accumulate = false,
         .scale_a = -1,
         .scale_b = -1});
  check({.a = S8, .b = U8, .types = "s32.s8.u8", .accumulate = false});
}

TEST(Wgmma, SaturatesIntegersWhenAsked) {
  check({.a = S8, .b = S8, .types = "s32.s8.s8", .before = ".satfinite"});
  check({.a = U8, .b = U8, .types = "s32.u8.u8", .before = ".satfinite"});
  check({.a = U8, .b = U8, .types = "s32.u8.u8", .accumulate = false, .before = ".satfinite"});
}

// --- order and waiting ---------------------------------------------------------------------------

constexpr uint64_t kSwizzle128Bits = uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{1} << 16;

// A and B 64 deep, all ones in bf16; eight columns.
MatrixProgram ones() {
  MatrixProgram program;
  program.threads = kThreads;
  program.shared = kShared;
  program.in.assign(kShared / 4, 0x3f803f80);
  return program;
}
std::string step(const char* accumulators, int k, int scale_d = 1) {
  return fmt::format(
      "mov.b64 %rd8, {};\nmov.b64 %rd9, {};\nadd.s64 %rd8, %rd8, %rd11;\nadd.s64 %rd9, %rd9, "
      "%rd11;\nsetp.eq.u32 %p2, {}, 1;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {}, %rd8, %rd9, %p2, 1, 1, 0, 0;\n",
      kSwizzle128Bits | (k * 32u) >> 4, kSwizzle128Bits | (kB + k * 32u) >> 4, scale_d,
      accumulators);
}
const char* const kFirst = "{%f0, %f1, %f2, %f3}";
const char* const kSecond = "{%f4, %f5, %f6, %f7}";
const char* const kCommit = "wgmma.commit_group.sync.aligned;\n";
// Every thread writes zeros over A.
const char* const kClearA =
    "bar.sync 0;\nshl.b32 %r10, %r1, 6;\nadd.s32 %r10, %r10, %r2;\nmov.b64 %rd10, 0;\n"
    "st.shared.b64 [%r10], %rd10;\nst.shared.b64 [%r10+8], %rd10;\nst.shared.b64 [%r10+16], "
    "%rd10;\n"
    "st.shared.b64 [%r10+24], %rd10;\nst.shared.b64 [%r10+32], %rd10;\nst.shared.b64 [%r10+40], "
    "%rd10;\n"
    "st.shared.b64 [%r10+48], %rd10;\nst.shared.b64 [%r10+56], %rd10;\nbar.sync 0;\n";
std::string zero_accumulators() {
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("mov.f32 %f{}, 0f00000000;\n", i);
  return text;
}
float result(const MatrixProgram& program, int i, int thread = 77) {
  float value;
  std::memcpy(&value, &program.out[static_cast<size_t>(i) * kThreads + thread], 4);
  return value;
}

TEST(Wgmma, AddsTheStepsOfAGroupInOrder) {
  MatrixProgram program = ones();
  program.body = fill_shared() + zero_accumulators() + "wgmma.fence.sync.aligned;\n" +
                 step(kFirst, 0) + step(kFirst, 1) + step(kFirst, 2, 0) + step(kFirst, 3) +
                 step(kSecond, 0) + kCommit + "wgmma.wait_group.sync.aligned 0;\n" +
                 store_registers("f", 8, kThreads);
  program.out_words = 8 * kThreads;
  program.run();
  ASSERT_FALSE(program.fault) << format(*program.fault);
  EXPECT_EQ(result(program, 0), 32.0f);  // the third step starts anew
  EXPECT_EQ(result(program, 4), 16.0f);
}

TEST(Wgmma, ReadsSharedMemoryOnlyWhenWaitedFor) {
  MatrixProgram program = ones();
  program.body = fill_shared() + zero_accumulators() + step(kFirst, 0) + kCommit + kClearA +
                 "wgmma.wait_group.sync.aligned 0;\n" + store_registers("f", 4, kThreads);
  program.out_words = 4 * kThreads;
  program.run();
  ASSERT_FALSE(program.fault) << format(*program.fault);
  EXPECT_EQ(result(program, 0), 0.0f);
}

TEST(Wgmma, LeavesTheNewestGroupsInFlight) {
  MatrixProgram program = ones();
  program.body = fill_shared() + zero_accumulators() + step(kFirst, 0) + kCommit +
                 step(kSecond, 0) + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + kClearA +
                 "wgmma.wait_group.sync.aligned 0;\n" + store_registers("f", 8, kThreads);
  program.out_words = 8 * kThreads;
  program.run();
  ASSERT_FALSE(program.fault) << format(*program.fault);
  EXPECT_EQ(result(program, 0), 16.0f);
  EXPECT_EQ(result(program, 4), 0.0f);
}

TEST(Wgmma, WaitsAtOnceWhereCodeTouchesAccumulatorsInFlight) {
  // The device's assembler makes such code wait; a compiler may copy registers like this.
  MatrixProgram program = ones();
  program.body = fill_shared() + zero_accumulators() + step(kFirst, 0) +
                 "mov.f32 %f4, %f0;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f2;\nmov.f32 %f7, %f3;\n" +
                 step(kSecond, 1) + kCommit + "wgmma.wait_group.sync.aligned 0;\n" +
                 store_registers("f", 8, kThreads);
  program.out_words = 8 * kThreads;
  program.run();
  ASSERT_FALSE(program.fault) << format(*program.fault);
  EXPECT_EQ(result(program, 0), 16.0f);
  EXPECT_EQ(result(program, 4), 32.0f);
}

// --- faults --------------------------------------------------------------------------------------

std::optional<Fault> fault_of(const std::string& body, int threads = kThreads) {
  MatrixProgram program = ones();
  program.threads = threads;
  program.body = body;
  program.run();
  return program.fault;
}

TEST(Wgmma, FaultsOnADescriptorOutsideSharedMemory) {
  const auto fault =
      fault_of(fmt::format("mov.b64 %rd8, {};\nmov.b64 %rd9, {};\nadd.s64 %rd8, %rd8, "
                           "%rd11;\nadd.s64 %rd9, %rd9, %rd11;\nsetp.eq.u32 %p2, 1, 1;\n",
                           kSwizzle128Bits, kSwizzle128Bits | (kShared - 512) >> 4) +
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd8, "
               "%rd9, %p2, 1, 1, 0, 0;\n" +
               kCommit + "wgmma.wait_group.sync.aligned 0;\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::InvalidDescriptor);
  ASSERT_EQ(fault->notes.size(), 1u);
  EXPECT_NE(fault->notes[0].find("stride offset 1024, base offset 0, 128-byte swizzle"),
            std::string::npos)
      << fault->notes[0];
}

TEST(Wgmma, FaultsWhenWarpsDisagree) {
  const auto fault = fault_of(fmt::format("mov.b64 %rd8, {};\nshr.u32 %r8, %r1, 5;\ncvt.u64.u32 "
                                          "%rd9, %r8;\nadd.s64 %rd9, %rd9, %rd8;\n"
                                          "setp.eq.u32 %p2, 1, 1;\n",
                                          kSwizzle128Bits) +
                              "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
                              "%f3}, %rd8, %rd9, %p2, 1, 1, 0, 0;\n" +
                              kCommit + "wgmma.wait_group.sync.aligned 0;\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::InvalidInstruction);
  EXPECT_NE(fault->message.find("different descriptors of B"), std::string::npos) << fault->message;
}

TEST(Wgmma, FaultsWhenLanesDisagree) {
  const auto fault =
      fault_of(fmt::format("mov.b64 %rd8, {};\ncvt.u64.u32 %rd9, %r1;\nadd.s64 %rd9, %rd9, %rd8;\n"
                           "setp.eq.u32 %p2, 1, 1;\n",
                           kSwizzle128Bits) +
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd8, "
               "%rd9, %p2, 1, 1, 0, 0;\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::InvalidDescriptor);
}

TEST(Wgmma, FaultsInABlockWithoutAWholeWarpgroup) {
  const auto fault = fault_of(step(kFirst, 0), 96);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::InvalidInstruction);
}

TEST(Wgmma, ReportsAWarpThatNeverIssuesItsPart) {
  // Warp 0 leaves; the others wait for it for ever.
  const auto fault = fault_of("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra End;\n" + step(kFirst, 0) +
                              kCommit + "wgmma.wait_group.sync.aligned 0;\nEnd:\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::Deadlock);
}

}  // namespace
}  // namespace weft::emulator
