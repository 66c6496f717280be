// SPDX-License-Identifier: Apache-2.0

// CUDA C++ as a list of tokens with their places: enough to find a call, its arguments and the
// statement round it, and to compare two kernels without their comments and spaces. It is no
// parser: what it does not understand, it passes over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sft {

enum class TokenKind : uint8_t { Word, Number, Text, Sign, Directive };

struct Token {
  TokenKind kind = TokenKind::Sign;
  std::string_view text;  // of a directive: its line, with what continues it
  size_t offset = 0;
  uint32_t line = 1;

  bool is(std::string_view sign) const { return text == sign; }
};

// Comments are no tokens. Whatever follows an open string or comment belongs to it.
std::vector<Token> tokens_of(std::string_view source);

// name<template arguments>(arguments). Of inline assembly the name is its text: what is to be
// found is an instruction.
struct Call {
  std::string name;            // last part: "barrier_init" of weft::barrier_init
  size_t first = 0, last = 0;  // tokens, from the qualifying name to ")"
  std::vector<std::pair<size_t, size_t>> arguments;  // tokens [from, to) of each
  bool statement = false;                            // nothing is done with what it yields
};

// The text with its tokens; both live as long as this object, which does not move.
class CudaText {
 public:
  explicit CudaText(std::string source);
  CudaText(const CudaText&) = delete;
  CudaText& operator=(const CudaText&) = delete;

  const std::string& source() const { return source_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  const std::vector<Call>& calls() const { return calls_; }
  // The bracket that belongs to this one; its own place when there is none.
  size_t partner(size_t token) const { return partners_[token]; }
  // The innermost "(", "[" or "{" round a token; tokens().size() outside of all.
  size_t enclosing(size_t token) const { return enclosing_[token]; }
  std::string_view between(size_t from, size_t to) const;  // text of tokens [from, to)

 private:
  void pair_brackets();
  void find_calls();
  bool starts_statement(size_t token) const;

  const std::string source_;
  std::vector<Token> tokens_;
  std::vector<size_t> partners_, enclosing_;
  std::vector<Call> calls_;
};

// A candidate's bundled text as one file: without the places of its parts, and with every
// conditional on a macro whose name begins with `prefix` decided as if it were not defined, so that
// what is planted for the judge to find is in no training text.
std::string plain_text(std::string_view source, std::string_view prefix);

}  // namespace weft::sft
