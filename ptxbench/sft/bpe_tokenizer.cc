// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/bpe_tokenizer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace weft::sft {
namespace {

// Sorted by key: a vocabulary has more entries than a list could be searched for.
using Object = nlohmann::json;

// Bytes as GPT-2 writes them: printable Latin-1 stands for itself, the others follow from U+0100.
std::string written_byte(unsigned byte) {
  static const std::vector<unsigned> kPoints = [] {
    std::vector<unsigned> points(256);
    unsigned next = 256;
    for (unsigned b = 0; b < 256; ++b) {
      const bool itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      points[b] = itself ? b : next++;
    }
    return points;
  }();
  const unsigned point = kPoints[byte];
  if (point < 0x80) return std::string(1, static_cast<char>(point));
  return {static_cast<char>(0xc0 | point >> 6), static_cast<char>(0x80 | (point & 0x3f))};
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (static_cast<unsigned char>(c) & 0x80) != 0 ||
         std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}
bool is_other(char c) {
  return !is_space(c) && !is_digit(c) && !is_letter(c);
}

template <typename Test>
size_t run_of(std::string_view text, size_t from, Test test) {
  while (from < text.size() && test(text[from])) ++from;
  return from;
}

// 's 't 're 've 'm 'll 'd
size_t contraction(std::string_view text, bool any_case) {
  for (const std::string_view end : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.size() < end.size()) continue;
    bool same = true;
    for (size_t i = 0; i < end.size(); ++i) {
      const char c =
          any_case ? static_cast<char>(std::tolower(static_cast<unsigned char>(text[i]))) : text[i];
      same = same && c == end[i];
    }
    if (same) return end.size();
  }
  return 0;
}

// \s+(?!\S)|\s+ : all of it, but the last one when a word follows.
size_t blanks(std::string_view text) {
  const size_t end = run_of(text, 0, is_space);
  return end < text.size() && end > 1 ? end - 1 : end;
}

// The regular expressions of a pre-tokenizer, wherever they are nested.
void find_patterns(const Object& json, std::string& patterns, bool& byte_level) {
  if (json.is_array())
    for (const Object& one : json) find_patterns(one, patterns, byte_level);
  if (!json.is_object()) return;
  const std::string type = json.value("type", "");
  byte_level = byte_level || type == "ByteLevel";
  if (type == "Split" && json.contains("pattern") && json["pattern"].is_object())
    patterns += json["pattern"].value("Regex", "");
  if (json.contains("pretokenizers")) find_patterns(json["pretokenizers"], patterns, byte_level);
}

Error unusable(const std::string& what) {
  return Error("a tokenizer that cannot be used: " + what,
               "give the tokenizer.json of a model with byte-level byte-pair encoding");
}

}  // namespace

Result<BpeTokenizer> BpeTokenizer::read(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    Error error = text.error();
    error.diagnostics.front().hint = "name the model's tokenizer.json with --tokenizer";
    return error;
  }
  Result<BpeTokenizer> tokenizer = from_text(*text);
  if (!tokenizer.ok()) tokenizer.error().diagnostics.front().file = path;
  return tokenizer;
}

Result<BpeTokenizer> BpeTokenizer::from_text(std::string_view text) {
  const Object json = Object::parse(text, nullptr, false);
  if (json.is_discarded()) return unusable("not JSON");
  try {
    const Object& model = json.at("model");
    if (model.value("type", "BPE") != "BPE")
      return unusable("model of type " + model.value("type", ""));
    BpeTokenizer tokenizer;
    std::string patterns;
    bool byte_level = false;
    if (json.contains("pre_tokenizer")) find_patterns(json["pre_tokenizer"], patterns, byte_level);
    if (!byte_level) return unusable("no ByteLevel pre-tokenizer");
    if (!patterns.empty() && patterns.find("\\p{N}") == patterns.npos)
      return unusable("it splits by " + patterns);
    tokenizer.gpt2_ = patterns.empty();
    tokenizer.most_digits_ = patterns.empty()                                ? 0
                             : patterns.find("\\p{N}{1,3}") != patterns.npos ? 3
                             : patterns.find("\\p{N}+") != patterns.npos     ? 0
                                                                             : 1;

    const Object& vocabulary = model.at("vocab");
    const auto id_of = [&](const std::string& token) -> Result<uint32_t> {
      const auto found = vocabulary.find(token);
      if (found == vocabulary.end()) return unusable("not in its vocabulary: " + token);
      return found->get<uint32_t>();
    };
    for (unsigned byte = 0; byte < 256; ++byte)
      tokenizer.byte_ids_[byte] = TRY(id_of(written_byte(byte)));
    uint32_t rank = 0;
    for (const Object& merge : model.at("merges")) {
      std::string left, right;
      if (merge.is_array() && merge.size() == 2) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        const std::string both = merge.get<std::string>();
        const size_t space = both.find(' ');
        if (space == both.npos) return unusable("not a merge: " + both);
        left = both.substr(0, space);
        right = both.substr(space + 1);
      }
      const uint64_t key = uint64_t{TRY(id_of(left))} << 32 | TRY(id_of(right));
      tokenizer.merges_.try_emplace(key, Merge{rank++, TRY(id_of(left + right))});
    }
    if (json.contains("added_tokens"))
      for (const Object& token : json["added_tokens"])
        tokenizer.added_[token.at("content").get<std::string>()] = token.at("id").get<uint32_t>();
    return tokenizer;
  } catch (const nlohmann::json::exception& error) {
    return unusable(error.what());
  }
}

std::vector<uint32_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<uint32_t> ids;
  while (!text.empty()) {
    // The added token that comes first; of two at one place the longer.
    size_t at = text.size();
    std::string_view found;
    for (const auto& [content, id] : added_) {
      const size_t place = content.empty() ? text.npos : text.find(content);
      if (place < at || (place == at && at < text.size() && content.size() > found.size())) {
        at = place;
        found = content;
      }
    }
    for (const std::string_view piece : split(text.substr(0, at))) encode_piece(piece, ids);
    if (!found.empty()) ids.push_back(added_.find(found)->second);
    text.remove_prefix(at + found.size());
  }
  return ids;
}

std::vector<std::string_view> BpeTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t length = piece_length(text);
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return pieces;
}

size_t BpeTokenizer::piece_length(std::string_view text) const {
  if (const size_t length = contraction(text, !gpt2_); length > 0) return length;
  return gpt2_ ? first_length(text) : modern_length(text);
}

// ` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
size_t BpeTokenizer::first_length(std::string_view text) const {
  const size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  for (const auto test : {is_letter, is_digit, is_other})
    if (test(text[start])) return run_of(text, start, test);
  return blanks(text);
}

// `[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
size_t BpeTokenizer::modern_length(std::string_view text) const {
  if (is_letter(text[0])) return run_of(text, 0, is_letter);
  if (!is_line_end(text[0]) && !is_digit(text[0]) && text.size() > 1 && is_letter(text[1]))
    return run_of(text, 1, is_letter);
  if (is_digit(text[0])) {
    const size_t end = run_of(text, 0, is_digit);
    return most_digits_ == 0 ? end : std::min(end, most_digits_);
  }
  const size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  if (is_other(text[start])) return run_of(text, run_of(text, start, is_other), is_line_end);
  const size_t end = run_of(text, 0, is_space);
  const size_t line_end = text.substr(0, end).find_last_of("\r\n");
  return line_end == text.npos ? blanks(text) : line_end + 1;
}

void BpeTokenizer::encode_piece(std::string_view piece, std::vector<uint32_t>& out) const {
  std::vector<uint32_t> ids;
  for (const char byte : piece) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
  while (ids.size() > 1) {
    const Merge* best = nullptr;
    size_t place = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto merge = merges_.find(uint64_t{ids[i]} << 32 | ids[i + 1]);
      if (merge == merges_.end() || (best != nullptr && best->rank <= merge->second.rank)) continue;
      best = &merge->second;
      place = i;
    }
    if (best == nullptr) break;
    ids[place] = best->result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  out.insert(out.end(), ids.begin(), ids.end());
}

}  // namespace weft::sft
