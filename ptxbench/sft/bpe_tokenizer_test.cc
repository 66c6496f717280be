// SPDX-License-Identifier: Apache-2.0

// A vocabulary of the 256 bytes and five merges, whose results are worked out by hand.
#include "ptxbench/sft/bpe_tokenizer.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/json.h"

namespace weft::sft {
namespace {

// UTF-8 of a code point below U+0800.
std::string utf8(unsigned point) {
  if (point < 0x80) return std::string(1, static_cast<char>(point));
  return {static_cast<char>(0xc0 | point >> 6), static_cast<char>(0x80 | (point & 0x3f))};
}

// GPT-2's table, written the other way round than in the reader: the 188 printable characters of
// Latin-1 in order, then the other bytes as U+0100, U+0101 ... Ids are the bytes themselves.
Json vocabulary() {
  Json vocab = Json::object();
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    vocab[utf8(printable ? byte : next++)] = byte;
  }
  return vocab;
}

Json tokenizer_json(const std::string& pattern) {
  Json vocab = vocabulary();
  vocab["he"] = 300;
  vocab["ll"] = 301;
  vocab["hell"] = 302;
  vocab["hello"] = 303;
  vocab["\u0120w"] = 304;  // U+0120 stands for the space
  const Json end = {{"id", 400}, {"content", "<|im_end|>"}};
  Json parts = Json::array();
  if (!pattern.empty()) parts.push_back({{"type", "Split"}, {"pattern", {{"Regex", pattern}}}});
  parts.push_back({{"type", "ByteLevel"}});
  return {{"model",
           {{"type", "BPE"},
            {"vocab", vocab},
            {"merges", {"h e", "l l", "he ll", Json::array({"hell", "o"}), "\u0120 w"}}}},
          {"added_tokens", Json::array({end})},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", parts}}}};
}

using Ids = std::vector<uint32_t>;
using Pieces = std::vector<std::string_view>;

TEST(BpeTokenizer, MergesByRank) {
  const auto tokenizer = BpeTokenizer::from_text(tokenizer_json("").dump());
  ASSERT_TRUE(tokenizer.ok()) << format(tokenizer.error());
  EXPECT_EQ(tokenizer->encode("hello"), (Ids{303}));
  EXPECT_EQ(tokenizer->encode("hell"), (Ids{302}));
  EXPECT_EQ(tokenizer->encode("helol"), (Ids{300, 'l', 'o', 'l'}));
  // "l l" ranks above "he ll": of three l the first two join.
  EXPECT_EQ(tokenizer->encode("helll"), (Ids{302, 'l'}));
  EXPECT_EQ(tokenizer->encode("hello world"), (Ids{303, 304, 'o', 'r', 'l', 'd'}));
  EXPECT_EQ(tokenizer->encode("\xc3\xa9\n"), (Ids{0xc3, 0xa9, '\n'}));
  EXPECT_TRUE(tokenizer->encode("").empty());
}

TEST(BpeTokenizer, KeepsAddedTokensWhole) {
  const auto tokenizer = BpeTokenizer::from_text(tokenizer_json("").dump());
  EXPECT_EQ(tokenizer->encode("he<|im_end|>\n<|im_end"),
            (Ids{300, 400, '\n', '<', '|', 'i', 'm', '_', 'e', 'n', 'd'}));
}

TEST(BpeTokenizer, SplitsAsItsFileSays) {
  const auto first = BpeTokenizer::from_text(tokenizer_json("").dump());
  EXPECT_EQ(first->split("a1 b22  c\n x'll=="),
            (Pieces{"a", "1", " b", "22", " ", " c", "\n", " x", "'ll", "=="}));
  // Qwen: single digits, a leading sign joins a word, line ends join signs.
  const auto qwen = BpeTokenizer::from_text(
      tokenizer_json(
          R"((?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)")
          .dump());
  EXPECT_EQ(qwen->split("a 12;\n\n   _x(b);  \n y"),
            (Pieces{"a", " ", "1", "2", ";\n\n", "  ", " _", "x", "(b", ");", "  \n", " y"}));
  const auto llama = BpeTokenizer::from_text(tokenizer_json(R"(\p{L}+|\p{N}{1,3})").dump());
  EXPECT_EQ(llama->split("12345"), (Pieces{"123", "45"}));
}

TEST(BpeTokenizer, SaysWhatItCannotUse) {
  const auto message = [](const Json& json) {
    const auto tokenizer = BpeTokenizer::from_text(json.dump());
    return tokenizer.ok() ? std::string("accepted") : format(tokenizer.error());
  };
  EXPECT_NE(message(Json::object()).find("model"), std::string::npos);
  Json json = tokenizer_json("");
  json["model"]["type"] = "Unigram";
  EXPECT_NE(message(json).find("Unigram"), std::string::npos);
  json = tokenizer_json("");
  json["model"]["merges"].push_back("x zz");
  EXPECT_NE(message(json).find("zz"), std::string::npos);
  json["model"]["merges"].back() = "alone";
  EXPECT_NE(message(json).find("alone"), std::string::npos);
  json["model"]["merges"].back() = 7;
  EXPECT_NE(message(json).find("cannot be used"), std::string::npos);
  json = tokenizer_json("");
  json.erase("pre_tokenizer");
  EXPECT_NE(message(json).find("ByteLevel"), std::string::npos);
  EXPECT_NE(message(tokenizer_json("[a-z]+")).find("[a-z]+"), std::string::npos);
  const auto missing = BpeTokenizer::read("no/such/tokenizer.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(format(missing.error()).find("no/such/tokenizer.json"), std::string::npos);
  EXPECT_NE(format(missing.error()).find("--tokenizer"), std::string::npos);
}

}  // namespace
}  // namespace weft::sft
