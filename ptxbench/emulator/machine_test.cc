// SPDX-License-Identifier: Apache-2.0

// Whole programs through the front door. Expected values are by hand arithmetic.

#include "ptxbench/emulator/machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

class MachineTest : public ::testing::Test {
 protected:
  // Runs `kernel` of the text with one pointer parameter to `words` zeroed 32-bit words.
  std::optional<Fault> run(const std::string& body, Extent grid, Extent block, size_t words,
                           uint32_t dynamic = 0) {
    const std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .entry kernel(.param .u64 out)\n{\n"
        ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
        "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\n" +
        body + "\n}\n";
    auto module = ptx::parse(text, "test.ptx");
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : format(module.error()));
    if (!module.ok()) return std::nullopt;
    auto program = machine_.load(*module);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : format(program.error()));
    if (!program.ok()) return std::nullopt;
    program_ = *program;
    out_ = machine_.memory().allocate(words * 4);
    std::memset(reinterpret_cast<void*>(out_), 0, words * 4);
    Launch launch;
    launch.kernel = program_->find_kernel("kernel");
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared = dynamic;
    launch.parameters = std::as_bytes(std::span(&out_, 1));
    auto result = machine_.run(launch);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : format(result.error()));
    return result.ok() ? *result : std::nullopt;
  }
  uint32_t word(size_t i) const { return reinterpret_cast<const uint32_t*>(out_)[i]; }

  Machine machine_{*find_device_model("h100"), Options{}};
  std::shared_ptr<Program> program_;
  uint64_t out_ = 0;
};

TEST_F(MachineTest, StoresThroughThePointerParameter) {
  const auto fault = run("mov.u32 %r1, 7;\nst.global.u32 [%rd1+4], %r1;\nret;", {}, {}, 2);
  EXPECT_FALSE(fault.has_value());
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(word(1), 7u);
}

TEST_F(MachineTest, ReportsAStorePastTheAllocationWithLineAndDistance) {
  const auto fault = run("mov.u32 %r1, 7;\nst.global.u32 [%rd1+8], %r1;\nret;", {}, {}, 2);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault->instruction, "st.global.u32 [%rd1+8], %r1;");
  EXPECT_EQ(fault->ptx_line, 13u);
  ASSERT_EQ(fault->notes.size(), 1u);
  EXPECT_NE(fault->notes[0].find("0 bytes past the end of an allocation of 8 bytes"),
            std::string::npos);
}

TEST_F(MachineTest, ReportsAMisalignedLoad) {
  const auto fault = run("ld.global.u32 %r1, [%rd1+2];\nret;", {}, {}, 2);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::Misaligned);
}

TEST_F(MachineTest, BarrierLetsAllWarpsPassTogether) {
  // Every warp passes the barrier; the last thread of the block then writes.
  const auto fault = run("bar.sync 0;\nmov.u32 %r1, %ntid.x;\nst.global.u32 [%rd1], %r1;\nret;", {},
                         {.x = 256}, 1);
  EXPECT_FALSE(fault.has_value());
  EXPECT_EQ(word(0), 256u);
}

TEST_F(MachineTest, TellsADeadlockWithTheWarpsAndTheBarrier) {
  const auto fault = run("bar.sync 1, 96;\nret;", {}, {.x = 64}, 1);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::InvalidBarrier);  // 96 threads in a block of 64
  const auto second =
      run("mov.u32 %r1, %warpid;\nmov.b32 %r2, 64;\nbar.sync 1, %r2;\nbar.sync 2, 64;\nret;", {},
          {.x = 64}, 1);
  EXPECT_FALSE(second.has_value());
}

TEST_F(MachineTest, CountsWarpExecutions) {
  const auto fault = run("bar.sync 0;\nret;", {.x = 3}, {.x = 96}, 1);
  EXPECT_FALSE(fault.has_value());
  for (const InstructionCount& count : program_->counts()) {
    EXPECT_EQ(count.warps, 9u) << count.instruction->spelling();
    EXPECT_EQ(count.lanes, 288u);
  }
}

TEST_F(MachineTest, CountsGuardedInstructionsAndLoopsExactly) {
  // Thread i turns i % 4 + 1 times; in the first turn of threads 0 and 1 of four %p2 is true.
  const auto fault =
      run("mov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, 3;\nmov.u32 %r2, 0;\n"
          "LOOP:\nadd.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p2, %r3, 2;\n"
          "@%p2 add.u32 %r4, %r4, 1;\nadd.u32 %r2, %r2, 1;\nsetp.le.u32 %p1, %r2, %r1;\n"
          "@%p1 bra LOOP;\nret;",
          {}, {.x = 32}, 1);
  EXPECT_FALSE(fault.has_value());
  std::vector<InstructionCount> counts = program_->counts();
  // ld, cvta, mov, and, mov, then the loop: add, setp, @add, add, setp, @bra; ret.
  ASSERT_EQ(counts.size(), 12u);
  EXPECT_EQ(counts[2].warps, 1u);
  EXPECT_EQ(counts[2].lanes, 32u);
  EXPECT_EQ(counts[5].warps, 4u);
  EXPECT_EQ(counts[5].lanes, 80u);  // 8 x (1 + 2 + 3 + 4)
  // %r3 = i % 4 + turn: 0 for i % 4 = 0, 1 for 1 in their first turn, 2 for 1 in its second.
  EXPECT_EQ(counts[7].warps, 1u);
  EXPECT_EQ(counts[7].lanes, 16u);
  EXPECT_EQ(counts[9].lanes, 80u);
  EXPECT_EQ(counts[10].warps, 3u);
  EXPECT_EQ(counts[10].lanes, 48u);  // those that turn again: 24 + 16 + 8
  EXPECT_EQ(counts[11].lanes, 32u);
}

TEST_F(MachineTest, ChecksEveryOffsetFromOneRegister) {
  // The second store is inside, the third one past the end.
  const auto fault =
      run("mov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r1;\n"
          "st.global.u32 [%rd1+8], %r1;\nret;",
          {}, {}, 2);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault->instruction, "st.global.u32 [%rd1+8], %r1;");
  EXPECT_EQ(word(1), 7u);
  const auto below =
      run("mov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+-4], %r1;\nret;", {},
          {}, 2);
  ASSERT_TRUE(below.has_value());
  EXPECT_EQ(below->kind, FaultKind::OutOfBounds);
  const auto askew = run(
      "mov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+2], %r1;\nret;", {}, {}, 2);
  ASSERT_TRUE(askew.has_value());
  EXPECT_EQ(askew->kind, FaultKind::Misaligned);
}

TEST_F(MachineTest, FollowsAnAddressRegisterThatChanges) {
  // Lane i stores i at word i, then 100 + i at word 32 + i through the same register; a store whose
  // guard is false in all lanes comes between.
  const auto fault =
      run("mov.u32 %r1, %laneid;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
          "st.global.u32 [%rd3], %r1;\nadd.s64 %rd3, %rd3, 128;\nadd.u32 %r2, %r1, 100;\n"
          "setp.gt.u32 %p1, %r1, 99;\n@%p1 st.global.u32 [%rd3], %r1;\n"
          "st.global.u32 [%rd3], %r2;\nld.global.u32 %r3, [%rd3+-128];\n"
          "st.global.u32 [%rd3+128], %r3;\nret;",
          {}, {.x = 32}, 96);
  EXPECT_FALSE(fault.has_value());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(word(i), i);
    EXPECT_EQ(word(32 + i), 100 + i);
    EXPECT_EQ(word(64 + i), i);
  }
}

TEST_F(MachineTest, TellsTheAddressesOfManyRegistersApart) {
  // Lane i's words 0, 32, 64, ... of global memory hold 32 k + i; they go to shared memory through
  // a register that is made anew each time, and come back doubled.
  std::string text =
      "mov.u32 %r1, %laneid;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
  constexpr int kRows = 12;
  for (int k = 0; k < kRows; ++k)
    text += "add.u32 %r2, %r1, " + std::to_string(32 * k) + ";\nst.global.u32 [%rd3+" +
            std::to_string(128 * k) + "], %r2;\n";
  text += "mov.u32 %r5, dynamic;\n";
  for (int k = 0; k < kRows; ++k) {
    const std::string offset = std::to_string(128 * k);
    text += "ld.global.u32 %r3, [%rd3+" + offset + "];\nmad.lo.u32 %r4, %r1, 4, %r5;\n" +
            "st.shared.u32 [%r4+" + offset + "], %r3;\n";
  }
  for (int k = 0; k < kRows; ++k) {
    const std::string offset = std::to_string(128 * k);
    text += "ld.shared.u32 %r6, [%r4+" + offset + "];\nadd.u32 %r6, %r6, %r6;\n" +
            "st.global.u32 [%rd3+" + offset + "], %r6;\n";
  }
  const auto fault = run(text + "ret;", {}, {.x = 32}, 32 * kRows, 128 * kRows);
  EXPECT_FALSE(fault.has_value());
  for (uint32_t i = 0; i < 32 * kRows; ++i) EXPECT_EQ(word(i), 2 * i);
}

TEST_F(MachineTest, KeepsValuesApartThatAreAliveTogether) {
  // %r3 .. %r6 are alive across the loop, %r7 .. %r9 in it; one half of the warp leaves it early.
  const auto fault =
      run("mov.u32 %r1, %laneid;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
          "add.u32 %r3, %r1, 1000;\nadd.u32 %r4, %r1, 2000;\nshr.u32 %r5, %r1, 4;\n"
          "mov.u32 %r6, 0;\n"
          "LOOP:\nadd.u32 %r7, %r6, %r3;\nadd.u32 %r8, %r7, %r4;\nsub.u32 %r9, %r8, %r7;\n"
          "sub.u32 %r4, %r9, 0;\nadd.u32 %r6, %r6, 1;\nsetp.le.u32 %p1, %r6, %r5;\n"
          "@%p1 bra LOOP;\n"
          "add.u32 %r10, %r3, %r4;\nadd.u32 %r10, %r10, %r6;\nst.global.u32 [%rd3], %r10;\nret;",
          {}, {.x = 32}, 32);
  EXPECT_FALSE(fault.has_value());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(i), 3000 + 2 * i + i / 16 + 1);
}

TEST_F(MachineTest, RefusesABlockThatIsTooLarge) {
  run("ret;", {}, {}, 1);
  Launch launch;
  launch.kernel = program_->find_kernel("kernel");
  launch.block = {.x = 2048};
  launch.parameters = std::as_bytes(std::span(&out_, 1));
  const auto result = machine_.run(launch);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("2048 x 1 x 1"), std::string::npos);
}

// st.async.mmio reaches devices on the bus, which the machine does not have.
constexpr const char* kWithoutMeaning =
    ".version 8.7\n.target sm_100\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out, .param .u32 reach)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [reach];\nsetp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 st.async.mmio.release.gpu.global.u32 [%rd1], %r1;\n"
    "mov.u32 %r2, 7;\nst.global.u32 [%rd1], %r2;\nret;\n}\n";

TEST(UnsupportedInstructions, AreListedWithTheirLines) {
  Machine machine(*find_device_model("b200"), Options{});
  const auto module = ptx::parse(kWithoutMeaning, "test.ptx");
  ASSERT_TRUE(module.ok()) << format(module.error());
  const auto program = machine.load(*module);
  ASSERT_TRUE(program.ok()) << format(program.error());
  const auto all = (*program)->unsupported();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].instruction->position.line, 12u);
  EXPECT_EQ(all[0].function, "kernel");
}

TEST(UnsupportedInstructions, StopOnlyWhenReached) {
  Machine machine(*find_device_model("b200"), Options{});
  const auto module = ptx::parse(kWithoutMeaning, "test.ptx");
  ASSERT_TRUE(module.ok()) << format(module.error());
  const auto program = machine.load(*module);
  ASSERT_TRUE(program.ok()) << format(program.error());
  for (const uint64_t reach : {0, 1}) {
    const uint64_t out = machine.memory().allocate(4);
    const uint64_t parameters[2] = {out, reach};
    const auto ran = machine.run({.kernel = (*program)->find_kernel("kernel"),
                                  .parameters = std::as_bytes(std::span(parameters))});
    ASSERT_TRUE(ran.ok()) << format(ran.error());
    ASSERT_EQ(ran->has_value(), reach == 1);
    if (reach == 1)
      EXPECT_EQ((*ran)->kind, FaultKind::Unsupported);
    else
      EXPECT_EQ(*reinterpret_cast<const uint32_t*>(out), 7u);
  }
}

}  // namespace
}  // namespace weft::emulator
