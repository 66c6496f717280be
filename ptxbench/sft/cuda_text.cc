// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/cuda_text.h"

#include <algorithm>
#include <cctype>

namespace weft::sft {
namespace {

// Longest first. ">>" is two signs, since it closes two template lists as often as it shifts.
constexpr std::string_view kSigns[] = {
    "<<<", ">>>", "...", "<<=", "->", "::", "==", "!=", "<=", ">=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "<<"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  std::vector<Token> all() {
    while (skip_blank()) {
      const size_t start = at_;
      const TokenKind kind = one();
      tokens_.push_back({kind, source_.substr(start, at_ - start), start, line_});
      line_ +=
          static_cast<uint32_t>(std::count(source_.begin() + start, source_.begin() + at_, '\n'));
    }
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  // False at the end.
  bool skip_blank() {
    while (at_ < source_.size()) {
      const size_t start = at_;
      if (std::isspace(static_cast<unsigned char>(peek()))) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const size_t end = source_.find("*/", at_ + 2);
        at_ = end == source_.npos ? source_.size() : end + 2;
      } else {
        return true;
      }
      line_ +=
          static_cast<uint32_t>(std::count(source_.begin() + start, source_.begin() + at_, '\n'));
    }
    return false;
  }

  bool first_of_its_line() const {
    const size_t before = at_ == 0 ? source_.npos : source_.find_last_not_of(" \t", at_ - 1);
    return before == source_.npos || source_[before] == '\n';
  }

  TokenKind one() {
    const char c = peek();
    if (c == '#' && first_of_its_line()) return directive();
    if (c == 'R' && peek(1) == '"') return raw_text();
    if (c == '"' || c == '\'') return text(c);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_word(c)) {
      while (is_word(peek())) ++at_;
      return TokenKind::Word;
    }
    for (const std::string_view sign : kSigns) {
      if (!source_.substr(at_).starts_with(sign)) continue;
      // Three in a row close a launch only where one is open.
      if (sign == ">>>" && open_launches_ == 0) continue;
      open_launches_ += sign == "<<<" ? 1 : sign == ">>>" ? -1 : 0;
      at_ += sign.size();
      return TokenKind::Sign;
    }
    ++at_;
    return TokenKind::Sign;
  }

  TokenKind directive() {
    while (at_ < source_.size() && !(peek() == '\n' && source_[at_ - 1] != '\\')) ++at_;
    return TokenKind::Directive;
  }

  TokenKind text(char quote) {
    for (++at_; at_ < source_.size() && peek() != quote; ++at_)
      if (peek() == '\\') ++at_;
    at_ = std::min(at_ + 1, source_.size());
    return TokenKind::Text;
  }

  TokenKind raw_text() {
    const size_t open = std::min(source_.find('(', at_), source_.size());
    const std::string end = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const size_t found = source_.find(end, open);
    at_ = found == source_.npos ? source_.size() : found + end.size();
    return TokenKind::Text;
  }

  // 1'000, 0x1f, 1.5e-3f.
  TokenKind number() {
    const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1))) ||
           (!hexadecimal && (peek() == '+' || peek() == '-') &&
            (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E')))
      ++at_;
    return TokenKind::Number;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  int open_launches_ = 0;
};

bool is_keyword(std::string_view word) {
  constexpr std::string_view kKeywords[] = {
      "if",       "for",           "while", "switch",   "return",       "sizeof",   "alignof",
      "decltype", "static_assert", "catch", "volatile", "__volatile__", "constexpr"};
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

}  // namespace

std::vector<Token> tokens_of(std::string_view source) {
  return Reader(source).all();
}

CudaText::CudaText(std::string source) : source_(std::move(source)), tokens_(tokens_of(source_)) {
  pair_brackets();
  find_calls();
}

std::string_view CudaText::between(size_t from, size_t to) const {
  if (from >= to) return {};
  const Token& last = tokens_[to - 1];
  return std::string_view(source_).substr(tokens_[from].offset,
                                          last.offset + last.text.size() - tokens_[from].offset);
}

void CudaText::pair_brackets() {
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    partners_.push_back(i);
    const Token& token = tokens_[i];
    // A bracket of another kind than the open one closes nothing.
    const size_t kind = std::string_view(")]}").find(token.text);
    if (kind != std::string_view::npos && !token.text.empty() && !open.empty() &&
        tokens_[open.back()].text[0] == "([{"[kind]) {
      partners_[i] = open.back();
      partners_[open.back()] = i;
      open.pop_back();
    }
    enclosing_.push_back(open.empty() ? tokens_.size() : open.back());
    if (token.is("(") || token.is("[") || token.is("{")) open.push_back(i);
  }
}

void CudaText::find_calls() {
  const size_t count = tokens_.size();
  for (size_t i = 0; i < count; ++i) {
    if (tokens_[i].kind != TokenKind::Word || is_keyword(tokens_[i].text)) continue;
    Call call{.name = std::string(tokens_[i].text), .first = i};
    const bool assembly = call.name == "asm" || call.name == "__asm__";
    size_t open = i + 1;
    if (assembly && open < count &&
        (tokens_[open].is("volatile") || tokens_[open].is("__volatile__")))
      ++open;
    // Template arguments: names, numbers and signs without a statement's end.
    if (!assembly && open < count && tokens_[open].is("<")) {
      size_t end = open + 1;
      while (end < count && end < open + 24 && !tokens_[end].is(">") && !tokens_[end].is(";") &&
             !tokens_[end].is("{"))
        ++end;
      if (end < count && tokens_[end].is(">")) open = end + 1;
    }
    if (open >= count || !tokens_[open].is("(") || partners_[open] == open) continue;
    call.last = partners_[open];
    size_t from = open + 1;
    for (size_t j = from; j <= call.last; ++j) {
      const bool ends = j == call.last || (enclosing_[j] == open && tokens_[j].is(","));
      if (!ends) continue;
      if (j > from) call.arguments.emplace_back(from, j);
      from = j + 1;
    }
    if (assembly) {
      call.name.clear();
      for (size_t j = open + 1; j < call.last && tokens_[j].kind == TokenKind::Text; ++j)
        call.name += tokens_[j].text.substr(1, tokens_[j].text.size() - 2);
    }
    while (call.first >= 2 && tokens_[call.first - 1].is("::") &&
           tokens_[call.first - 2].kind == TokenKind::Word)
      call.first -= 2;
    call.statement =
        starts_statement(call.first) && call.last + 1 < count && tokens_[call.last + 1].is(";");
    calls_.push_back(std::move(call));
  }
}

bool CudaText::starts_statement(size_t token) const {
  if (token == 0) return true;
  const Token& before = tokens_[token - 1];
  if (before.is(")")) {
    const size_t open = partners_[token - 1];
    return open > 0 && open != token - 1 && is_keyword(tokens_[open - 1].text);
  }
  return before.kind == TokenKind::Directive || before.is(";") || before.is("{") ||
         before.is("}") || before.is("else");
}

std::string plain_text(std::string_view source, std::string_view prefix) {
  // One entry an open conditional: whether it is one of ours, and whether its lines are kept.
  struct Conditional {
    bool ours = false, kept = true;
  };
  std::vector<Conditional> open;
  std::string text;
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    const size_t start = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string_view content = line.substr(start);
    const bool names_prefix = content.find(prefix) != content.npos;
    bool drop = content.starts_with("#line") || (names_prefix && content.starts_with("//"));
    if (content.starts_with("#if")) {
      open.push_back({.ours = names_prefix, .kept = content.starts_with("#ifndef")});
      if (!names_prefix) open.back().kept = true;
      drop |= names_prefix;
    } else if (content.starts_with("#else") && !open.empty() && open.back().ours) {
      open.back().kept = !open.back().kept;
      drop = true;
    } else if (content.starts_with("#endif") && !open.empty()) {
      drop |= open.back().ours;
      open.pop_back();
    }
    for (const Conditional& one : open) drop |= !one.kept;
    if (drop) continue;
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace weft::sft
