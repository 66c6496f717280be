// SPDX-License-Identifier: Apache-2.0

// Which registers share a place, by looking at small programs.

#include "ptxbench/emulator/register_places.h"

#include <gtest/gtest.h>

#include <string>

#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// Registers: %p1 is 0, %r0 .. %r7 are 1 .. 8.
std::vector<uint32_t> places(const std::string& body) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n"
      ".reg .pred %p1;\n.reg .b32 %r<8>;\n" +
          body + "\n}\n",
      "test.ptx");
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : format(module.error()));
  return module.ok() ? register_places((*module)->functions[0]) : std::vector<uint32_t>(9);
}

TEST(RegisterPlaces, AValueTakesThePlaceOfOneThatIsDead) {
  const auto place = places("mov.u32 %r0, 1;\nadd.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nret;");
  EXPECT_NE(place[2], place[1]);  // a result never takes the place of its operand
  EXPECT_EQ(place[3], place[1]);
}

TEST(RegisterPlaces, ValuesAliveTogetherStayApart) {
  const auto place = places(
      "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r0, 1;\nadd.u32 %r3, %r1, %r2;\nret;");
  EXPECT_NE(place[1], place[2]);
  EXPECT_NE(place[3], place[2]);
  EXPECT_NE(place[3], place[1]);
}

TEST(RegisterPlaces, AValueReadInALoopLivesThroughAllOfIt) {
  const auto place = places(
      "mov.u32 %r0, 1;\nLOOP:\nadd.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\n"
      "setp.lt.u32 %p1, %r2, 9;\n@%p1 bra LOOP;\nmov.u32 %r3, 4;\nadd.u32 %r4, %r3, 1;\nret;");
  EXPECT_NE(place[2], place[1]);
  EXPECT_NE(place[3], place[1]);
  EXPECT_LE(place[4], 3u);  // behind the loop the places are free again
}

TEST(RegisterPlaces, AGuardedWriteKeepsWhatWasThere) {
  // %r0 is written by all, then by some: it lives from the first write on.
  const auto place = places(
      "mov.u32 %r0, 1;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r1, 1;\nsetp.lt.u32 %p1, %r2, 9;\n"
      "@%p1 mov.u32 %r0, 3;\nadd.u32 %r3, %r0, 1;\nret;");
  EXPECT_NE(place[2], place[1]);
  EXPECT_NE(place[3], place[1]);
}

TEST(RegisterPlaces, OtherInstructionsKeepTheirRegistersForThemselves) {
  const auto place =
      places("mov.u32 %r0, 1;\nbar.sync %r0;\nmov.u32 %r1, 2;\nadd.u32 %r2, %r1, 1;\nret;");
  EXPECT_EQ(place[1], 1u);
  EXPECT_NE(place[2], 1u);
  EXPECT_NE(place[3], 1u);
}

}  // namespace
}  // namespace weft::emulator
