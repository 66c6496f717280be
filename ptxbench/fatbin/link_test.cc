// SPDX-License-Identifier: Apache-2.0

// Expected texts follow from the rules of linkage in the PTX manual (section 5.4 and the .weak,
// .visible and .extern directives), written out by hand.
#include "ptxbench/fatbin/link.h"

#include <gtest/gtest.h>

namespace weft::fatbin {
namespace {

const std::string kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Link, LeavesOneHeader) {
  const std::vector<std::string> units = {kHeader + ".visible .entry a()\n{\nret;\n}\n",
                                          kHeader + ".visible .entry b()\n{\nret;\n}\n"};
  const auto linked = link_ptx(units);
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ(count(*linked, ".version"), 1u);
  EXPECT_EQ(count(*linked, ".entry"), 2u);
}

TEST(Link, KeepsInternalNamesApart) {
  const std::vector<std::string> units = {
      kHeader + ".global .u32 x = 1;\n.visible .entry a()\n{\nld.global.u32 %r1, [x];\nret;\n}\n",
      kHeader + ".global .u32 x = 2;\n.visible .entry b()\n{\nld.global.u32 %r1, [x];\nret;\n}\n"};
  const auto linked = link_ptx(units);
  ASSERT_TRUE(linked.ok());
  EXPECT_NE(linked->find("x$unit1 = 1"), std::string::npos);
  EXPECT_NE(linked->find("[x$unit2]"), std::string::npos);
}

TEST(Link, ReplacesExternVariablesByTheirDefinition) {
  const std::vector<std::string> units = {
      kHeader + ".extern .global .align 4 .u32 shared_counter;\n",
      kHeader + ".visible .global .align 4 .u32 shared_counter = 7;\n"};
  const auto linked = link_ptx(units);
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ(count(*linked, "shared_counter"), 1u);
  EXPECT_NE(linked->find("= 7"), std::string::npos);
}

TEST(Link, TakesOneOfSeveralWeakDefinitions) {
  const std::string weak = ".weak .func f()\n{\nret;\n}\n";
  const auto linked = link_ptx(std::vector<std::string>{kHeader + weak, kHeader + weak});
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ(count(*linked, ".func f"), 1u);
}

TEST(Link, RefusesTwoDefinitions) {
  const std::string strong = ".visible .func f()\n{\nret;\n}\n";
  const auto linked = link_ptx(std::vector<std::string>{kHeader + strong, kHeader + strong});
  ASSERT_FALSE(linked.ok());
  EXPECT_NE(linked.error().message().find("f"), std::string::npos);
}

TEST(Link, NumbersSourceFilesAnew) {
  const std::vector<std::string> units = {
      kHeader + ".visible .entry a()\n{\n.loc 1 5 3\nret;\n}\n.file 1 \"a.cu\"\n",
      kHeader +
          ".visible .entry b()\n{\n.loc 1 6 3, function_name $L__info_string0, inlined_at 1 2 "
          "3\nret;\n}\n.file 1 \"b.cu\"\n.section .debug_str\n{\n.b8 1,2\n}\n"};
  const auto linked = link_ptx(units);
  ASSERT_TRUE(linked.ok());
  EXPECT_NE(linked->find(".loc 1 5 3"), std::string::npos);
  EXPECT_NE(linked->find(".loc 2 6 3\n"), std::string::npos);
  EXPECT_NE(linked->find(".file 2 \"b.cu\""), std::string::npos);
  EXPECT_EQ(linked->find(".section"), std::string::npos);
}

TEST(Link, SurvivesUnitsThatEndTooEarly) {
  const std::string unit = kHeader + ".visible .func f(.param .b32 p)\n{\n\"text /* \n}\n";
  for (size_t size = 0; size < unit.size(); ++size)
    (void)link_ptx(std::vector<std::string>{unit.substr(0, size), unit}).ok();
}

}  // namespace
}  // namespace weft::fatbin
