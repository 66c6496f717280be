// SPDX-License-Identifier: Apache-2.0

// The scanner. A table of character classes decides where words end; numbers have their own rules.
#include "ptxbench/ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace weft::ptx {
namespace {

enum : uint8_t { kDigit = 1, kLetter = 2, kNameExtra = 4, kBlank = 8 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kLetter;
  classes['_'] = classes['$'] = kNameExtra;
  classes[' '] = classes['\t'] = classes['\r'] = classes['\n'] = classes['\f'] = classes['\v'] =
      kBlank;
  return classes;
}();

uint8_t classify(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool is_digit(char c) {
  return classify(c) == kDigit;
}
bool is_name(char c) {
  return (classify(c) & (kDigit | kLetter | kNameExtra)) != 0;
}
bool is_name_start(char c) {
  return (classify(c) & (kLetter | kNameExtra)) != 0 || c == '%';
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

Lexer::Lexer(std::string_view text)
    : at_(text.data()), end_(text.data() + text.size()), line_begin_(text.data()) {}

SourcePosition Lexer::position(const char* at) const {
  return {line_, static_cast<uint32_t>(at - line_begin_) + 1};
}

Token Lexer::token(Token::Kind kind, const char* begin) const {
  Token result;
  result.kind = kind;
  result.text = {begin, static_cast<std::size_t>(at_ - begin)};
  result.position = position(begin);
  return result;
}

void Lexer::skip_blanks() {
  while (at_ != end_) {
    const char c = *at_;
    if (classify(c) == kBlank) {
      ++at_;
      if (c == '\n') ++line_, line_begin_ = at_;
    } else if (c == '/' && end_ - at_ > 1 && at_[1] == '/') {
      const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      at_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
    } else if (c == '/' && end_ - at_ > 1 && at_[1] == '*') {
      at_ += 2;
      while (at_ != end_ && !(*at_ == '*' && end_ - at_ > 1 && at_[1] == '/')) {
        if (*at_++ == '\n') ++line_, line_begin_ = at_;
      }
      if (at_ != end_) at_ += 2;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  const char* begin = at_;
  if (at_ == end_) return token(Token::Kind::End, begin);
  const char c = *at_;
  const bool more = end_ - at_ > 1;
  if (is_name_start(c) && (c != '%' || (more && is_name(at_[1])))) {
    ++at_;
    while (at_ != end_ && is_name(*at_)) ++at_;
    return token(Token::Kind::Identifier, begin);
  }
  if (c == '.' && more && is_name(at_[1])) {
    begin = ++at_;
    while (at_ != end_ && (is_name(*at_) || (*at_ == ':' && end_ - at_ > 2 && at_[1] == ':' &&
                                             is_name(at_[2]) && ++at_ != end_))) {
      ++at_;
    }
    Token result = token(Token::Kind::Dotted, begin);
    --result.position.column;
    return result;
  }
  if (is_digit(c)) return number();
  if (c == '"') return string();
  static constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  if (more) {
    for (std::string_view pair : kPairs) {
      if (c == pair[0] && at_[1] == pair[1]) {
        at_ += 2;
        return token(Token::Kind::Punctuation, begin);
      }
    }
  }
  ++at_;
  if (std::memchr(",;:(){}[]<>+-*/%&|^!~=@?.", c, 25) != nullptr && c != '\0') {
    return token(Token::Kind::Punctuation, begin);
  }
  Token bad = token(Token::Kind::Bad, begin);
  bad.reason = "a character that PTX does not use";
  return bad;
}

Token Lexer::hexadecimal_float(const char* begin, int digits, Token::Kind kind) {
  at_ = begin + 2;
  uint64_t value = 0;
  int count = 0;
  while (at_ != end_ && is_name(*at_)) {
    const int digit = digit_value(*at_++);
    if (digit > 15) count = std::numeric_limits<int>::min();
    value = value << 4 | static_cast<uint64_t>(digit & 15);
    ++count;
    if (count > digits) count = digits + 1;
  }
  Token result = token(count == digits ? kind : Token::Kind::Bad, begin);
  result.value = value;
  result.reason = kind == Token::Kind::Float32 ? "0f is followed by exactly 8 hexadecimal digits"
                                               : "0d is followed by exactly 16 hexadecimal digits";
  return result;
}

Token Lexer::number() {
  const char* begin = at_;
  const char second = end_ - at_ > 1 ? at_[1] : '\0';
  int base = 10;
  if (*at_ == '0') {
    if (second == 'f' || second == 'F') return hexadecimal_float(begin, 8, Token::Kind::Float32);
    if (second == 'd' || second == 'D') return hexadecimal_float(begin, 16, Token::Kind::Float64);
    if (second == 'x' || second == 'X')
      base = 16, at_ += 2;
    else if (second == 'b' || second == 'B')
      base = 2, at_ += 2;
    else
      base = 8;
  }
  const char* digits = at_;
  while (at_ != end_ && (is_digit(*at_) || (base == 16 && digit_value(*at_) < 16))) ++at_;
  const bool fraction = at_ != end_ && *at_ == '.' && (end_ - at_ == 1 || !is_name_start(at_[1]));
  const bool exponent = at_ != end_ && (*at_ == 'e' || *at_ == 'E');
  if (base != 16 && base != 2 && (fraction || exponent)) {
    double value = 0;
    const auto parsed = std::from_chars(begin, end_, value);
    at_ = parsed.ptr;
    const bool good = parsed.ec == std::errc() && (at_ == end_ || !is_name(*at_));
    while (at_ != end_ && is_name(*at_)) ++at_;
    Token result = token(good ? Token::Kind::Float64 : Token::Kind::Bad, begin);
    result.value = std::bit_cast<uint64_t>(value);
    result.reason = "not a number that fits an f64";
    return result;
  }
  uint64_t value = 0;
  const auto parsed = std::from_chars(digits, at_, value, base);
  bool good = parsed.ec == std::errc() && parsed.ptr == at_;
  bool suffix = false;
  if (at_ != end_ && *at_ == 'U') suffix = true, ++at_;
  if (at_ != end_ && is_name(*at_)) {
    good = false;
    while (at_ != end_ && is_name(*at_)) ++at_;
  }
  Token result = token(good ? Token::Kind::Integer : Token::Kind::Bad, begin);
  result.value = value;
  result.is_unsigned = suffix || value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  result.reason = parsed.ec == std::errc::result_out_of_range ? "an integer takes at most 64 bits"
                                                              : "not a number";
  return result;
}

Token Lexer::string() {
  const char* begin = ++at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\n') {
    at_ += *at_ == '\\' && end_ - at_ > 1 && at_[1] != '\n' ? 2 : 1;
  }
  const bool closed = at_ != end_ && *at_ == '"';
  Token result = token(closed ? Token::Kind::String : Token::Kind::Bad, begin);
  --result.position.column;
  result.reason = "a string ends on its line with a quote";
  if (closed) ++at_;
  return result;
}

std::string_view Lexer::rest_of_line() {
  const char* begin = at_;
  const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
  at_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

}  // namespace weft::ptx
