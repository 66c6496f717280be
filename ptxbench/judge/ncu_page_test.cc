// SPDX-License-Identifier: Apache-2.0

// The tables are shortened from what Nsight Compute 2025.3 printed on an H200 for 4 blocks of 64
// threads: 8 warps, 256 threads.
#include "ptxbench/judge/ncu_page.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

const std::string kHeader =
    "\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Thread Instructions "
    "Executed\",\"Predicated-On Thread Instructions Executed\"\n";

std::string table(const std::string& function, const std::string& first) {
  return "\"Kernel Name\",\"" + function + "\",\n" + kHeader + "\"0x7f683b7a0" + first +
         "00\",\"      LDC R1, c[0x0][0x28]\",\"0\",\"8\",\"256\",\"256\"\n\"0x7f683b7a0" + first +
         "10\",\"  @P0 BRA \"\"x\"\"\",\"0\",\"8\",\"256\",\"0\"\n";
}

TEST(NcuPage, CountsEveryLaunchOnce) {
  const std::string text = "==PROF== Connected to process 26 (/opt/k)\n" + table("_Z1kPf", "0") +
                           table("_Z1kPf", "0") + table("_Z2k2Pf", "8") + table("_Z2k2Pf", "8") +
                           "==PROF== Disconnected from process 26\n";
  const auto counts = read_ncu_page(text, 2);
  ASSERT_TRUE(counts.ok()) << format(counts.error());
  const std::vector<SassCount> expected = {
      {"_Z1kPf", 0, 8, 256}, {"_Z1kPf", 16, 8, 0}, {"_Z2k2Pf", 0, 8, 256}, {"_Z2k2Pf", 16, 8, 0}};
  EXPECT_EQ(*counts, expected);
}

TEST(NcuPage, AddsLaunchesOfOneFunction) {
  const auto counts = read_ncu_page(table("_Z1kPf", "0") + table("_Z1kPf", "0"), 2);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ((*counts)[0], (SassCount{"_Z1kPf", 0, 16, 512}));
}

TEST(NcuPage, TablesThatDoNotFitTheLaunchesAreAnError) {
  EXPECT_FALSE(read_ncu_page(table("a", "0"), 2).ok());
  EXPECT_FALSE(read_ncu_page("", 1).ok());
  EXPECT_FALSE(read_ncu_page(table("a", "0"), 0).ok());
  // Two for one launch, but of two functions.
  EXPECT_FALSE(read_ncu_page(table("a", "0") + table("b", "8"), 1).ok());
}

TEST(NcuPage, SaysWhatIsBroken) {
  const auto said = read_ncu_page("==ERROR== The driver is in use.\n", 1);
  ASSERT_FALSE(said.ok());
  EXPECT_NE(said.error().message().find("The driver is in use"), std::string::npos);
  const std::string kernel = "\"Kernel Name\",\"a\",\n";
  EXPECT_FALSE(read_ncu_page(kHeader, 1).ok());
  EXPECT_FALSE(read_ncu_page(kernel + "\"Address\",\"Source\"\n", 1).ok());
  EXPECT_FALSE(read_ncu_page(kernel + kHeader + "\"0x10\",\"NOP\"\n", 1).ok());
  EXPECT_FALSE(
      read_ncu_page(kernel + kHeader + "\"here\",\"NOP\",\"0\",\"1\",\"2\",\"3\"\n", 1).ok());
}

}  // namespace
}  // namespace weft::judge
