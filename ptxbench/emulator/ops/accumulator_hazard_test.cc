// SPDX-License-Identifier: Apache-2.0

// Texts and which of their lines the manual forbids (PTX ISA 9.0, 9.7.15.2: accumulators and A
// fragments must not be touched before the wait).

#include "ptxbench/emulator/ops/accumulator_hazard.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// The spellings of the instructions that touch what may be in flight, in order of the text; "none"
// without one.
std::string touches(const std::string& body) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n.reg .pred "
      "%p<2>;\n"
      ".reg .f32 %f<16>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n" +
          body + "ret;\n}\n",
      "hazard.ptx");
  EXPECT_TRUE(module.ok()) << format(module.error());
  const ptx::Function& function = (*module)->functions[0];
  const auto found = touches_in_flight(function);
  std::string names;
  for (const ptx::Statement& statement : function.body)
    if (const auto* i = std::get_if<ptx::Instruction>(&statement);
        i != nullptr && found.contains(i))
      names += (names.empty() ? "" : " ") + i->spelling();
  return names.empty() ? "none" : names;
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
  EXPECT_EQ(touches("mov.f32 %f0, 0f00000000;\n" + kFirst + kCommit + wait(0) +
                    "add.f32 %f8, %f0, %f1;\n"),
            "none");
  EXPECT_EQ(touches(kFirst + kCommit + kSecond + kCommit + wait(1) + "add.f32 %f8, %f0, %f1;\n"),
            "none");
  EXPECT_EQ(touches(kFirst + "add.f32 %f8, %f9, %f10;\n" + kFirst + kCommit + wait(0)), "none");
}

TEST(AccumulatorHazard, FindsReadsAndWritesBeforeTheWait) {
  EXPECT_EQ(touches(kFirst + kCommit + "add.f32 %f8, %f0, %f9;\n" + wait(0)), "add.f32");
  EXPECT_EQ(touches(kFirst + "mov.f32 %f3, 0f00000000;\n" + kCommit + wait(0)), "mov.f32");
  EXPECT_EQ(touches(kFirst + kCommit + kSecond + kCommit + wait(1) + "mul.f32 %f8, %f4, %f9;\n"),
            "mul.f32");
}

TEST(AccumulatorHazard, LetsSourcesBeReadButNotWritten) {
  EXPECT_EQ(touches(kSecond + kCommit + "xor.b32 %r5, %r0, %r1;\n" + wait(0)), "none");
  EXPECT_EQ(touches(kSecond + kCommit + "xor.b32 %r0, %r5, %r1;\n" + wait(0)), "xor.b32");
}

TEST(AccumulatorHazard, FollowsLoopsAndBranches) {
  // The sum is read at the head of the loop, and in flight from its end.
  EXPECT_EQ(
      touches("LOOP:\nadd.f32 %f8, %f0, %f9;\n" + kFirst + kCommit + "@%p1 bra LOOP;\n" + wait(0)),
      "add.f32");
  EXPECT_EQ(
      touches("LOOP:\nadd.f32 %f8, %f0, %f9;\n" + kFirst + kCommit + wait(0) + "@%p1 bra LOOP;\n"),
      "none");
  // The lines below the jump are reached with nothing in flight.
  EXPECT_EQ(touches("@%p1 bra ISSUE;\nadd.f32 %f8, %f0, %f1;\nret;\nISSUE:\n" + kFirst + kCommit +
                    wait(0)),
            "none");
  EXPECT_EQ(touches(kFirst + kCommit + "@%p1 bra READ;\n" + wait(0) + "READ:\n" +
                    "add.f32 %f8, %f0, %f1;\n"),
            "add.f32");
}

TEST(AccumulatorHazard, FollowsCopies) {
  EXPECT_EQ(touches(kFirst + kCommit + "mov.f32 %f8, %f0;\nadd.f32 %f9, %f8, %f8;\n" + wait(0) +
                    "add.f32 %f9, %f8, %f8;\n"),
            "mov.f32 add.f32");
  EXPECT_EQ(touches(kFirst + kCommit + "mov.f32 %f8, %f0;\nmov.f32 %f8, %f9;\n" +
                    "add.f32 %f9, %f8, %f8;\n" + wait(0)),
            "mov.f32 mov.f32");
}

}  // namespace
}  // namespace weft::emulator
