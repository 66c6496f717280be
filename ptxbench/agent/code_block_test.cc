// SPDX-License-Identifier: Apache-2.0

// Expected values are read off the answers by hand; the UTF-8 cases are the classes of RFC 3629.
#include "ptxbench/agent/code_block.h"

#include <gtest/gtest.h>

namespace weft::agent {
namespace {

TEST(CodeBlock, TakesTheLastOne) {
  EXPECT_EQ(last_code_block("first\n```cuda\nint a;\n```\nthen\n```cpp\nint b;\n```\n").code,
            "int b;\n");
  EXPECT_EQ(last_code_block("```\nint a;\n```").code, "int a;\n");
}

TEST(CodeBlock, PassesOverOtherLanguagesWhileThereIsAKernel) {
  EXPECT_EQ(last_code_block("```cuda\nint a;\n```\nBuild:\n```bash\nnvcc x\n```").code, "int a;\n");
  EXPECT_EQ(last_code_block("```text\nint a;\n```").code, "int a;\n");
}

TEST(CodeBlock, ALongerFenceMayHoldAShorterOne) {
  EXPECT_EQ(last_code_block("````cuda\n// ```\nint a;\n````").code, "// ```\nint a;\n");
}

TEST(CodeBlock, SaysWhyThereIsNone) {
  EXPECT_NE(last_code_block("I would use wgmma.").problem.find("no block"), std::string::npos);
  EXPECT_NE(last_code_block("").problem.find("no block"), std::string::npos);
  EXPECT_NE(last_code_block("```cuda\nint a").problem.find("cut"), std::string::npos);
  EXPECT_NE(last_code_block("```cuda\n```").problem.find("empty"), std::string::npos);
  const std::string huge = "```cuda\n" + std::string(kLargestKernel + 1, 'x') + "\n```";
  EXPECT_NE(last_code_block(huge).problem.find("too long"), std::string::npos);
}

TEST(CodeBlock, RefusesWhatIsNotUtf8) {
  const auto with = [](const std::string& bytes) {
    return last_code_block("```cuda\n// " + bytes + "\n```");
  };
  EXPECT_TRUE(with("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80").problem.empty());
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xFF", "\uFFFD"})
    EXPECT_NE(with(bad).problem.find("UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace weft::agent
