// SPDX-License-Identifier: Apache-2.0

// Tokens of PTX. Values are those that PTX ISA 9.0, section 4.4 and 4.5 give.
#include "ptxbench/ptx/lexer.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace weft::ptx {
namespace {

std::vector<Token> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> all;
  for (Token token = lexer.next(); token.kind != Token::Kind::End; token = lexer.next()) {
    all.push_back(token);
  }
  return all;
}

Token only(std::string_view text) {
  const std::vector<Token> all = tokens(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? Token{} : all.front();
}

TEST(Lexer, ReadsIntegersInEveryBase) {
  EXPECT_EQ(only("1234").value, 1234u);
  EXPECT_EQ(only("0x1F").value, 31u);
  EXPECT_EQ(only("017").value, 15u);
  EXPECT_EQ(only("0b101").value, 5u);
  EXPECT_EQ(only("0").value, 0u);
  EXPECT_EQ(only("18446744073709551615").value, ~uint64_t{0});
  EXPECT_TRUE(only("5U").is_unsigned);
  EXPECT_TRUE(only("0xFFFFFFFFFFFFFFFF").is_unsigned);
  EXPECT_FALSE(only("5").is_unsigned);
}

TEST(Lexer, ReadsFloatsByPatternAndByValue) {
  EXPECT_EQ(only("0f3F800000").kind, Token::Kind::Float32);
  EXPECT_EQ(only("0f3F800000").value, 0x3F800000u);
  EXPECT_EQ(only("0d3FF0000000000000").kind, Token::Kind::Float64);
  EXPECT_EQ(only("0d3FF0000000000000").value, std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(only("2.5e3").value, std::bit_cast<uint64_t>(2500.0));
  EXPECT_EQ(only("1e-2").value, std::bit_cast<uint64_t>(0.01));
}

TEST(Lexer, RefusesNumbersThatAreNone) {
  for (const char* text : {"18446744073709551616", "0f3F80000", "0f3F8000000", "0dGG00000000000000",
                           "09", "0x", "12ab", "0b2", "1e", "1e999"}) {
    EXPECT_EQ(only(text).kind, Token::Kind::Bad) << text;
    EXPECT_NE(only(text).reason, nullptr) << text;
  }
}

TEST(Lexer, KeepsModifiersWithColonsAndLeadingDigitsWhole) {
  const auto all = tokens("cp.mbarrier::complete_tx::bytes.2d.32x32b.L2::128B");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1].text, "mbarrier::complete_tx::bytes");
  EXPECT_EQ(all[2].text, "2d");
  EXPECT_EQ(all[3].text, "32x32b");
  EXPECT_EQ(all[4].text, "L2::128B");
  EXPECT_EQ(all[2].kind, Token::Kind::Dotted);
}

TEST(Lexer, TellsRegistersFromTheRemainderOperator) {
  const auto all = tokens("%r1 % 7 %%");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].text, "%r1");
  EXPECT_EQ(all[0].kind, Token::Kind::Identifier);
  EXPECT_TRUE(all[1].is('%'));
}

TEST(Lexer, SkipsCommentsAndCountsLines) {
  const auto all = tokens("a // ` ' \" \\\n/* b\n\n */ c\r\n\td");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].position, (SourcePosition{1, 1}));
  EXPECT_EQ(all[1].position, (SourcePosition{4, 5}));
  EXPECT_EQ(all[2].position, (SourcePosition{5, 2}));
}

TEST(Lexer, EndsOpenCommentsAndStringsWithTheText) {
  EXPECT_TRUE(tokens("/* never closed").empty());
  EXPECT_EQ(only("\"never closed").kind, Token::Kind::Bad);
  EXPECT_EQ(only("\"back\\\"slash\"").text, "back\\\"slash");
  EXPECT_EQ(tokens("\"a\nb").size(), 2u);
}

}  // namespace
}  // namespace weft::ptx
