// SPDX-License-Identifier: Apache-2.0

// Small functions whose paths are drawn by hand.

#include "ptxbench/emulator/flow_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// Names of the registers that are read before they are written, in order of declaration.
std::string early(const std::string& body) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n"
      ".reg .pred %p<3>;\n.reg .f32 %f<8>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n" +
          body + "}\n",
      "flow.ptx");
  EXPECT_TRUE(module.ok()) << format(module.error());
  const ptx::Function& function = (*module)->functions[0];
  std::string names;
  read_before_written(function).each(
      [&](uint32_t r) { names += function.registers[r].name + " "; });
  return names;
}

TEST(FlowGraph, WritesBeforeReadsNeedNoValue) {
  EXPECT_EQ(early("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nret;\n"), "");
  EXPECT_EQ(early("add.u32 %r2, %r1, 1;\nmov.u32 %r1, 1;\nret;\n"), "%r1 ");
  EXPECT_EQ(early("add.u32 %r1, %r1, 1;\nret;\n"), "%r1 ");
}

TEST(FlowGraph, AGuardedWriteMayNotHappen) {
  EXPECT_EQ(early("setp.eq.u32 %p1, 1, 1;\n@%p1 mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nret;\n"),
            "%r1 ");
  EXPECT_EQ(early("@%p2 mov.u32 %r1, 1;\nret;\n"), "%p2 ");
}

TEST(FlowGraph, EveryPathCounts) {
  // %r1 is written on one side only, %r2 on both.
  const std::string sides =
      "setp.eq.u32 %p1, 1, 1;\n@%p1 bra LEFT;\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\nbra END;\n"
      "LEFT:\nmov.u32 %r2, 2;\nEND:\nadd.u32 %r3, %r1, %r2;\nret;\n";
  EXPECT_EQ(early(sides), "%r1 ");
  // Round the loop %r2 is read before the line that writes it.
  EXPECT_EQ(early("mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, %r2;\nmov.u32 %r2, 1;\n"
                  "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra LOOP;\nret;\n"),
            "%r2 ");
  // Behind an end nothing is reached.
  EXPECT_EQ(early("ret;\nmov.u32 %r2, %r1;\n"), "");
}

TEST(FlowGraph, ListsOfIndirectBranchesAreFollowed) {
  EXPECT_EQ(early("mov.u32 %r1, 0;\nts: .branchtargets A, B;\nbrx.idx %r1, ts;\n"
                  "A:\nmov.u32 %r3, %r2;\nret;\nB:\nmov.u32 %r4, %r5;\nret;\n"),
            "%r2 %r5 ");
}

TEST(FlowGraph, AddressesAndAccumulatorsAreRead) {
  EXPECT_EQ(early("st.global.f32 [%rd1], %f1;\nret;\n"), "%f1 %rd1 ");
  EXPECT_EQ(early("mov.u64 %rd1, 0;\nsetp.eq.u32 %p1, 1, 1;\n"
                  "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, "
                  "%rd1, %p1, 1, 1, 0, 0;\nret;\n"),
            "%f0 %f1 %f2 %f3 ");
}

}  // namespace
}  // namespace weft::emulator
