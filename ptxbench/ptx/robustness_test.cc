// SPDX-License-Identifier: Apache-2.0

// Broken text: mutated, truncated, nested without end. Nothing may crash, take long or use much
// memory; what still parses must survive printing. The seed of the mutations is printed with a
// failure.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "ptxbench/ptx/parse.h"
#include "ptxbench/ptx/print.h"

namespace weft::ptx {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/ptx_parse")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

void check(const std::string& text) {
  const auto first = parse(text, "mutated.ptx");
  if (!first.ok()) {
    ASSERT_FALSE(first.error().diagnostics.empty());
    ASSERT_LE(first.error().diagnostics.size(), 20u);
    ASSERT_FALSE(format(first.error()).empty());
    return;
  }
  const std::string printed = print(**first);
  const auto second = parse(printed, "printed.ptx");
  ASSERT_TRUE(second.ok()) << format(second.error()) << printed;
  ASSERT_EQ(print(**second), printed);
}

std::string mutate(std::string text, std::mt19937_64& random,
                   const std::vector<std::string>& others) {
  static constexpr std::string_view kPieces[] = {"{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "(",
                                                 ")",
                                                 ";",
                                                 ",",
                                                 ":",
                                                 "|",
                                                 "%",
                                                 "%r1",
                                                 ".",
                                                 ".reg .b32 %x<4294967295>;",
                                                 "0f",
                                                 "0x",
                                                 "-",
                                                 "999999999999999999999999",
                                                 "\"",
                                                 "/*",
                                                 "//",
                                                 "@",
                                                 "@!",
                                                 "$L",
                                                 "_",
                                                 "::",
                                                 "WARP_SZ",
                                                 "?",
                                                 ".param .b32 p;",
                                                 ".section .debug_x {",
                                                 "\n",
                                                 " ",
                                                 ".v4",
                                                 ".align 3",
                                                 ".loc 1",
                                                 "(.u64)"};
  const int edits = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 6) {
      case 0:
        text.erase(at, 1 + random() % 12);
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(random() % text.size(), random() % 80));
        break;
      default: {
        const std::string& other = others[random() % others.size()];
        text.insert(at, other.substr(random() % other.size(), random() % 200));
      }
    }
  }
  return text;
}

TEST(Robustness, MutatedSeedsAreParsedOrRefused) {
  const std::vector<std::string> texts = seeds();
  ASSERT_GE(texts.size(), 5u);
  constexpr uint64_t kSeed = 20260930;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::mt19937_64 random(kSeed + static_cast<uint64_t>(round));
    const std::string text = mutate(texts[random() % texts.size()], random, texts);
    SCOPED_TRACE("seed " + std::to_string(kSeed + static_cast<uint64_t>(round)));
    check(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Robustness, EveryPrefixOfAModuleIsParsedOrRefused) {
  for (const std::string& text : seeds()) {
    for (std::size_t length = 0; length < text.size(); length += 7) {
      check(text.substr(0, length));
      if (HasFatalFailure()) return;
    }
  }
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

const std::string kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";
const std::string kKernel = kHeader + ".entry k() {\n.reg .b32 %r<4>;\n";

TEST(Robustness, DeepNestingIsRefusedNotFollowed) {
  constexpr std::size_t kDeep = 100000;
  for (const std::string& text :
       {kKernel + repeated("{", kDeep), kKernel + "mov.b32 %r1, " + repeated("(", kDeep),
        kKernel + "mov.b32 %r1, " + repeated("-", kDeep) + "1;}",
        kKernel + "mov.b32 %r1, " + repeated("1?", kDeep),
        kKernel + "mov.b32 %r1, " + repeated("{", kDeep),
        kKernel + "ld.b32 %r1, " + repeated("[", kDeep),
        kHeader + ".global .b8 x[] = " + repeated("{", kDeep),
        kHeader + ".section .debug_x " + repeated("{", kDeep), kKernel + repeated("{}", kDeep),
        kKernel + "mov.b32 %r1, 1" + repeated("+1", kDeep) + ";}"}) {
    check(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Robustness, GiganticDeclarationsAreRefused) {
  for (const std::string& text :
       {kKernel + ".reg .b32 %x<4294967295>;}",
        kKernel + ".reg .b32 %y<1000000>, %z<1000000>, %w<1000000>;" + "}",
        kHeader + ".global .b8 x[99999999999999][99999999999999];",
        kHeader + ".global .b8 x[1000000][1000000] = {{1}, {2}};",
        kHeader + ".global .b8 x" + repeated("[2]", 1000) + ";",
        kKernel + ".param .b32 p<4294967295>;}"}) {
    EXPECT_FALSE(parse(text, "gigantic.ptx").ok());
  }
}

TEST(Robustness, NulAndHighBytesAreErrorsWithPositions) {
  const std::string text = kHeader + std::string("\0\xff", 2);
  const auto parsed = parse(text, "bytes.ptx");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().diagnostics[0].position, (SourcePosition{4, 1}));
}

// Three megabytes; the bound on processor time is ten times what a slow machine needs, and
// quadratic behaviour would take hours.
TEST(Robustness, LargeModulesTakeTimeInProportion) {
  std::string text = kKernel + ".reg .b32 %v<70000>;\n.reg .pred %p;\n";
  for (int i = 0; text.size() < 3'000'000; ++i) {
    const std::string number = std::to_string(i % 70000);
    text += "$L" + std::to_string(i) + ":\nadd.s32 %v" + number + ", %v" + number +
            ", 4;\n@!%p bra $L" + std::to_string(i + 1) + ";\n";
  }
  text += "ret; }";
  const std::clock_t start = std::clock();
  const auto parsed = parse(std::move(text), "large.ptx");
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_FALSE(parsed.ok());  // the last branch has no label
  EXPECT_LT(seconds, 20);
}

}  // namespace
}  // namespace weft::ptx
