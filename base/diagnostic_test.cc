// SPDX-License-Identifier: Apache-2.0

// What a person sees of an error. The expected texts are written by hand.
#include "base/diagnostic.h"

#include <gtest/gtest.h>

#include <string>

#include "base/printable.h"

namespace weft {
namespace {

TEST(Printable, KeepsTextAndShowsWhatSteersATerminal) {
  EXPECT_EQ(printable("a\tb"), "a\tb");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("two\nlines"), "two\\x0alines");
  EXPECT_EQ(printable("two\nlines", true), "two\nlines");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
}

TEST(Printable, KeepsOnlyWellFormedCharacters) {
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");  // U+00FC, U+00DF
  EXPECT_EQ(printable("\xe2\x82\xac"), "\xe2\x82\xac");              // U+20AC
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");      // U+1F600
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");                    // C1: the one-character CSI
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut short
}

Diagnostic located(std::string line, uint32_t column) {
  return {.message = "bad",
          .hint = {},
          .file = "a.ptx",
          .position = {3, column},
          .source_line = std::move(line)};
}

TEST(Diagnostic, PutsTheCaretUnderTheColumn) {
  EXPECT_EQ(format(located("add.s32 %r1;", 9)),
            "a.ptx:3:9: error: bad\n  add.s32 %r1;\n          ^");
  EXPECT_EQ(format(located("\tadd x;", 6)), "a.ptx:3:6: error: bad\n  \tadd x;\n  \t    ^");
}

TEST(Diagnostic, PutsTheCaretUnderWhatIsShownOfBytesThatAreNoText) {
  EXPECT_EQ(format(located("\x01x", 2)), "a.ptx:3:2: error: bad\n  \\x01x\n      ^");
}

TEST(Diagnostic, ShowsThePartOfALongLineThatMatters) {
  std::string line(401, 'b');
  line.replace(0, 201, std::string(200, 'a').append("!"));
  std::string expected = "a.ptx:3:201: error: bad\n  ...";
  expected.append(60, 'a').append("!").append(59, 'b').append("...\n  ").append(63, ' ').append(
      "^");
  EXPECT_EQ(format(located(line, 201)), expected);
}

TEST(Diagnostic, SurvivesAColumnPastTheEnd) {
  EXPECT_EQ(format(located("ab", 9)), "a.ptx:3:9: error: bad\n  ab\n    ^");
}

}  // namespace
}  // namespace weft
