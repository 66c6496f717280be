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

}  // namespace
}  // namespace weft::emulator
