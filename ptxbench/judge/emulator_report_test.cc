// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/emulator_report.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(EmulatorReport, ReadsKernelsAndFault) {
  const auto report = read_emulator_report(R"({"schema":"weft.emulate.report.v1","device":"h100",
    "kernels":[{"name":"k","launches":2,"seconds":0.5,"instructions":[
      {"opcode":"add.s32","ptx_line":12,"source_file":"k.cu","source_line":3,"warps":4,"lanes":100}]}],
    "fault":{"kind":"out of bounds","message":"store past C","kernel":"k","block":[1,2,3],"thread":[4,5,6],
      "ptx_line":12,"instruction":"st.global","source_file":"k.cu","source_line":3,"address":18446744073709551615,
      "notes":["near C"],"text":"whole"}})",
                                           "r.json");
  ASSERT_TRUE(report.ok()) << format(report.error());
  EXPECT_EQ(report->kernels[0].instructions[0].lanes, 100u);
  EXPECT_EQ(report->fault->block, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(report->fault->address, UINT64_MAX);
  EXPECT_EQ(report->fault->notes[0], "near C");
}

TEST(EmulatorReport, AcceptsNullForNoFault) {
  const auto report = read_emulator_report(
      R"({"schema":"weft.emulate.report.v1","kernels":[],"fault":null})", "r.json");
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->fault.has_value());
}

TEST(EmulatorReport, RefusesForgeriesThatDoNotFit) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"schema":"other","kernels":[]})",
       R"({"schema":"weft.emulate.report.v1"})",
       R"({"schema":"weft.emulate.report.v1","kernels":[{"name":"k","instructions":[{"opcode":1}]}]})",
       R"({"schema":"weft.emulate.report.v1","kernels":[{"name":"k","instructions":[{"opcode":"a","warps":-1}]}]})"}) {
    EXPECT_FALSE(read_emulator_report(text, "r.json").ok()) << text;
  }
}

}  // namespace
}  // namespace weft::judge
