// SPDX-License-Identifier: Apache-2.0

// The parser's front door, its tokens and its way of failing.
#include "ptxbench/ptx/parse.h"

#include <algorithm>

#include "ptxbench/ptx/parser.h"

namespace weft::ptx {

Result<std::shared_ptr<const Module>> parse(std::string text, std::string file_name) {
  return Parser(std::move(text), std::move(file_name)).run();
}

Parser::Parser(std::string text, std::string file_name)
    : text_(std::make_shared<const std::string>(std::move(text))),
      module_(std::make_shared<Module>()),
      lexer_(*text_) {
  module_->text = text_;
  module_->file = std::move(file_name);
  last_end_ = text_->data();
  token_ = lexer_.next();
}

Result<std::shared_ptr<const Module>> Parser::run() {
  parse_header();
  while (peek().kind != Token::Kind::End && !too_many_errors()) parse_module_item();
  resolve_globals();
  if (!errors_.diagnostics.empty()) return std::move(errors_);
  return std::shared_ptr<const Module>(module_);
}

Token Parser::take() {
  Token taken = token_;
  last_end_ = taken.end();
  token_ = lexer_.next();
  return taken;
}

bool Parser::accept(char punctuation) {
  if (!peek().is(punctuation)) return false;
  take();
  return true;
}

bool Parser::accept_directive(std::string_view word) {
  if (!peek().is_directive(word)) return false;
  take();
  return true;
}

bool Parser::expect(char punctuation, const char* where) {
  if (accept(punctuation)) return true;
  return fail_here(std::string("'") + punctuation + "' " + where);
}

bool Parser::expect_name(std::string_view& name, const char* what) {
  if (peek().kind != Token::Kind::Identifier) return fail_here(what);
  name = take().text;
  return true;
}

bool Parser::expect_string(std::string_view& text, const char* what) {
  if (peek().kind != Token::Kind::String) return fail_here(what);
  text = take().text;
  return true;
}

bool Parser::expect_u32(uint32_t& value, const char* what) {
  if (peek().kind != Token::Kind::Integer) return fail_here(what);
  if (peek().value > UINT32_MAX) {
    return fail(peek().position, "number too large: " + std::string(peek().text));
  }
  value = static_cast<uint32_t>(take().value);
  return true;
}

bool Parser::fail(SourcePosition at, std::string message, std::string hint) {
  if (too_many_errors()) return false;
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.file = module_->file;
  diagnostic.position = at;
  // Lines are found again from the start: errors are few, and tokens stay small.
  std::size_t begin = 0;
  for (uint32_t line = 1; line < at.line; ++line) begin = text_->find('\n', begin) + 1;
  constexpr std::size_t kLongest = 400;
  const std::size_t end = std::min(text_->find('\n', begin), text_->size());
  diagnostic.source_line = text_->substr(begin, std::min(end - begin, kLongest));
  while (!diagnostic.source_line.empty() && diagnostic.source_line.back() == '\r') {
    diagnostic.source_line.pop_back();
  }
  for (char& c : diagnostic.source_line) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\t') c = '?';
  }
  errors_.diagnostics.push_back(std::move(diagnostic));
  return false;
}

bool Parser::fail_here(std::string expected, std::string hint) {
  const Token& token = peek();
  std::string found;
  switch (token.kind) {
    case Token::Kind::End:
      found = "the end of the file";
      break;
    case Token::Kind::Dotted:
      found = "." + std::string(token.text.substr(0, 60));
      break;
    case Token::Kind::String:
      found = "a string";
      break;
    case Token::Kind::Bad:
      if (hint.empty()) hint = token.reason;
      found = std::string(token.text.substr(0, 60));
      break;
    default:
      found = std::string(token.text.substr(0, 60));
  }
  return fail(token.position, "expected " + std::move(expected) + ", found: " + found,
              std::move(hint));
}

// Skips past the next `;`, but not over the brace that ends the enclosing scope.
void Parser::skip_statement() {
  while (peek().kind != Token::Kind::End) {
    if (peek().is('}')) {
      if (open_braces_ == 0) return;
      --open_braces_;
    } else if (peek().is('{')) {
      ++open_braces_;
    } else if (peek().is(';') && open_braces_ == 0) {
      take();
      return;
    }
    take();
  }
  open_braces_ = 0;
}

// Skips a brace and everything up to the one that closes it.
void Parser::skip_block() {
  int depth = 0;
  do {
    if (peek().is('{')) ++depth;
    if (peek().is('}')) --depth;
    take();
  } while (depth > 0 && peek().kind != Token::Kind::End);
}

}  // namespace weft::ptx
