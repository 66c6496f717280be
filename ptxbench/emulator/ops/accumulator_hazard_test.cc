// SPDX-License-Identifier: Apache-2.0

// Texts and which of their lines the manual forbids (PTX ISA 9.0, 9.7.15.2: accumulators and A
// fragments must not be touched before the wait).

#include "ptxbench/emulator/ops/accumulator_hazard.h"

#include <gtest/gtest.h>

#include <string>

#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// The spelling of the first instruction that touches what is in flight; "none" without one.
std::string first_touch(const std::string& body) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n.reg .pred "
      "%p<2>;\n"
      ".reg .f32 %f<16>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n" +
          body + "ret;\n}\n",
      "hazard.ptx");
  EXPECT_TRUE(module.ok()) << format(module.error());
  const ptx::Instruction* touch = first_touch_in_flight((*module)->functions[0]);
  return touch == nullptr ? "none" : touch->spelling();
}

const std::string kFirst =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, "
    "1, 0, 0;\n";
const std::string kSecond =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, "
    "%r3}, %rd1, %p0, 1, 1, 0;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int pending) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";\n";
}

TEST(AccumulatorHazard, AllowsWhatTheWaitCovers) {
  EXPECT_EQ(first_touch("mov.f32 %f0, 0f00000000;\n" + kFirst + kCommit + wait(0) +
                        "add.f32 %f8, %f0, %f1;\n"),
            "none");
  EXPECT_EQ(
      first_touch(kFirst + kCommit + kSecond + kCommit + wait(1) + "add.f32 %f8, %f0, %f1;\n"),
      "none");
  EXPECT_EQ(first_touch(kFirst + "add.f32 %f8, %f9, %f10;\n" + kFirst + kCommit + wait(0)), "none");
}

TEST(AccumulatorHazard, FindsReadsAndWritesBeforeTheWait) {
  EXPECT_EQ(first_touch(kFirst + kCommit + "add.f32 %f8, %f0, %f9;\n" + wait(0)), "add.f32");
  EXPECT_EQ(first_touch(kFirst + "mov.f32 %f3, 0f00000000;\n" + kCommit + wait(0)), "mov.f32");
  EXPECT_EQ(
      first_touch(kFirst + kCommit + kSecond + kCommit + wait(1) + "mul.f32 %f8, %f4, %f9;\n"),
      "mul.f32");
}

TEST(AccumulatorHazard, LetsSourcesBeReadButNotWritten) {
  EXPECT_EQ(first_touch(kSecond + kCommit + "xor.b32 %r5, %r0, %r1;\n" + wait(0)), "none");
  EXPECT_EQ(first_touch(kSecond + kCommit + "xor.b32 %r0, %r5, %r1;\n" + wait(0)), "xor.b32");
}

}  // namespace
}  // namespace weft::emulator
