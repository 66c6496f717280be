// SPDX-License-Identifier: Apache-2.0

// Expected tokens and places are read off the texts by hand.
#include "ptxbench/sft/cuda_text.h"

#include <gtest/gtest.h>

namespace weft::sft {
namespace {

std::vector<std::string> words(std::string_view source) {
  std::vector<std::string> out;
  for (const Token& token : tokens_of(source)) out.emplace_back(token.text);
  return out;
}

using Words = std::vector<std::string>;

TEST(CudaText, ReadsTokensWithoutComments) {
  EXPECT_EQ(words("a/*x*/+= 0x1f; // no\n\"s \\\" //\" 1.5e-3f"),
            (Words{"a", "+=", "0x1f", ";", "\"s \\\" //\"", "1.5e-3f"}));
}

TEST(CudaText, TellsALaunchFromNestedTemplates) {
  EXPECT_EQ(words("f<<<g, b>>>(x); v<v<v<int>>> y;"),
            (Words{"f", "<<<", "g", ",", "b", ">>>", "(", "x", ")", ";", "v",
                   "<", "v",   "<", "v", "<", "int", ">", ">", ">", "y", ";"}));
}

TEST(CudaText, KeepsADirectiveInOnePiece) {
  const auto tokens = tokens_of("#define A \\\n  1\nint x;");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].kind, TokenKind::Directive);
  EXPECT_EQ(tokens[1].text, "int");
  EXPECT_EQ(tokens[1].line, 3u);
}

TEST(CudaText, EndsAnOpenTextAtTheEnd) {
  EXPECT_EQ(words("x \"open"), (Words{"x", "\"open"}));
  EXPECT_EQ(words("x /* open"), (Words{"x"}));
  EXPECT_EQ(words("R\"a(\"b)a\" y"), (Words{"R\"a(\"b)a\"", "y"}));
}

TEST(CudaText, FindsCallsWithTheirArguments) {
  const CudaText text("if (t == 0) weft::wait<1>(a + f(b, c), d); x = g(h);");
  ASSERT_EQ(text.calls().size(), 3u);
  const Call& wait = text.calls()[0];
  EXPECT_EQ(wait.name, "wait");
  EXPECT_TRUE(wait.statement);
  EXPECT_EQ(text.between(wait.first, wait.last + 1), "weft::wait<1>(a + f(b, c), d)");
  ASSERT_EQ(wait.arguments.size(), 2u);
  EXPECT_EQ(text.between(wait.arguments[0].first, wait.arguments[0].second), "a + f(b, c)");
  EXPECT_EQ(text.calls()[1].name, "f");
  EXPECT_FALSE(text.calls()[1].statement);
  EXPECT_FALSE(text.calls()[2].statement);  // g: its value is used
}

TEST(CudaText, NamesInlineAssemblyByItsText) {
  const CudaText text("asm volatile(\"wgmma.fence\" \".sync;\" ::: \"memory\");");
  ASSERT_EQ(text.calls().size(), 1u);
  EXPECT_EQ(text.calls()[0].name, "wgmma.fence.sync;");
  EXPECT_TRUE(text.calls()[0].statement);
}

TEST(CudaText, SurvivesBracketsThatDoNotMatch) {
  const CudaText text(") f( ] }} g(x");
  EXPECT_TRUE(text.calls().empty());
}

TEST(CudaText, LeavesOutWhatIsPlanted) {
  EXPECT_EQ(plain_text("a\n#ifdef X_FAULT_1\nb\n#else\nc\n#endif\n// X_FAULT_1 does\n"
                       "#ifndef X_FAULT_2\nd\n#if 1\ne\n#endif\n#endif\n#line 4 \"f\"\ng\n",
                       "X_FAULT_"),
            "a\nc\nd\n#if 1\ne\n#endif\ng\n");
}

}  // namespace
}  // namespace weft::sft
