// SPDX-License-Identifier: Apache-2.0

// PTX text to tokens, one at a time (PTX ISA 9.0, sections 4.1 to 4.5). Any byte sequence gives a
// finite sequence of tokens: what is no token comes out as Bad with the reason.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/diagnostic.h"

namespace weft::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Identifier,  // a name, with its % or $
    Dotted,      // .word: a directive, modifier or component; text is without the dot
    Integer,     // value; `is_unsigned` when written with U or too large for s64
    Float32,     // value: IEEE pattern
    Float64,
    String,       // text is without the quotes
    Punctuation,  // text is the character or the pair
    Bad,          // text is the offending input, `reason` says why
  };
  Kind kind = Kind::End;
  bool is_unsigned = false;
  std::string_view text;
  uint64_t value = 0;
  const char* reason = nullptr;
  SourcePosition position;

  bool is(char c) const {
    return kind == Kind::Punctuation && text.size() == 1 && text.front() == c;
  }
  bool is_pair(std::string_view pair) const { return kind == Kind::Punctuation && text == pair; }
  bool is_directive(std::string_view word) const { return kind == Kind::Dotted && text == word; }
  const char* begin() const { return text.data(); }
  const char* end() const { return text.data() + text.size(); }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);
  Token next();
  // Moves to the end of the current line, for directives that are kept as written.
  std::string_view rest_of_line();

 private:
  void skip_blanks();
  Token token(Token::Kind kind, const char* begin) const;
  Token number();
  Token hexadecimal_float(const char* begin, int digits, Token::Kind kind);
  Token string();
  SourcePosition position(const char* at) const;

  const char* at_;
  const char* end_;
  const char* line_begin_;
  uint32_t line_ = 1;
};

}  // namespace weft::ptx
