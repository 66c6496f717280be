// SPDX-License-Identifier: Apache-2.0

// Directives outside functions (PTX ISA 9.0, sections 11.1 to 11.7).
#include <algorithm>

#include "ptxbench/ptx/parser.h"

namespace weft::ptx {
namespace {

std::optional<Linkage> linkage_of(std::string_view word) {
  if (word == "visible") return Linkage::Visible;
  if (word == "extern") return Linkage::Extern;
  if (word == "weak") return Linkage::Weak;
  if (word == "common") return Linkage::Common;
  return std::nullopt;
}

}  // namespace

// `.version 9.0`, `.target sm_90a`, `.address_size 64`: in this order, the last optional.
void Parser::parse_header() {
  if (!accept_directive("version")) {
    fail_here(".version", "a PTX module starts with its version, as in: .version 9.0");
    return;
  }
  const Token version = peek();
  const std::size_t dot = version.text.find('.');
  if (version.kind != Token::Kind::Float64 || dot == std::string_view::npos || dot > 2 ||
      version.text.size() > dot + 3 || version.text.size() == dot + 1) {
    fail_here("a version number such as 9.0");
  } else {
    for (char c : version.text.substr(0, dot)) {
      module_->version_major = module_->version_major * 10 + static_cast<uint32_t>(c - '0');
    }
    for (char c : version.text.substr(dot + 1)) {
      module_->version_minor = module_->version_minor * 10 + static_cast<uint32_t>(c - '0');
    }
    take();
  }
  if (!accept_directive("target")) {
    fail_here(".target", "the version is followed by the target, as in: .target sm_90a");
    return;
  }
  parse_target();
  if (accept_directive("address_size")) {
    const SourcePosition at = peek().position;
    if (expect_u32(module_->address_size, "32 or 64") && module_->address_size != 32 &&
        module_->address_size != 64) {
      fail(at, "address size is neither 32 nor 64: " + std::to_string(module_->address_size));
    }
  }
}

bool Parser::parse_target() {
  const SourcePosition at = peek().position;
  do {
    std::string_view word;
    if (!expect_name(word, "a target such as sm_90a")) return false;
    if (word.starts_with("sm_") || word.starts_with("compute_")) {
      module_->target = word;
    } else {
      module_->target_options.emplace_back(word);
    }
  } while (accept(','));
  if (!module_->target.empty()) return true;
  return fail(at, "target without an architecture", "write one such as sm_90a first");
}

void Parser::parse_module_item() {
  open_braces_ = 0;
  nesting_ = 0;
  if (accept(';')) return;
  if (peek().is('@')) {  // `@@DWARF ...`: debug data of old compilers, one line each
    take();
    const bool twice = accept('@');
    if (twice && peek().kind == Token::Kind::Identifier && peek().text == "DWARF") {
      lexer_.rest_of_line();
      take();
      return;
    }
    fail_here("a directive");
    return skip_statement();
  }
  if (peek().kind != Token::Kind::Dotted) {
    fail_here("a directive");
    if (peek().is('{')) return skip_block();
    if (accept('}')) return;
    return skip_statement();
  }
  bool good = true;
  Linkage linkage = Linkage::Internal;
  while (peek().kind == Token::Kind::Dotted) {
    const std::optional<Linkage> found = linkage_of(peek().text);
    if (!found) break;
    linkage = *found;
    take();
  }
  const Token directive = peek();
  const std::string_view word = directive.text;
  if (directive.kind != Token::Kind::Dotted) {
    good = fail_here("a function or a variable after its linkage");
  } else if (word == "entry" || word == "func") {
    take();
    good =
        parse_function(linkage, word == "entry" ? Function::Kind::Entry : Function::Kind::Device);
  } else if (word == "global" || word == "const" || word == "shared" || word == "tex" ||
             word == "local" || word == "param") {
    take();
    good = parse_variables(linkage, *isa::parse_space(word), module_->variables, false);
  } else if (word == "file") {
    take();
    good = parse_file();
  } else if (word == "section") {
    take();
    good = parse_section();
  } else if (word == "loc") {
    take();
    LocStatement loc;
    good = parse_loc(loc);
  } else if (word == "alias") {
    take();
    good = parse_alias();
  } else if (word == "pragma") {
    take();
    std::string_view text;
    good = expect_string(text, "a string after .pragma");
    while (good && accept(',')) good = expect_string(text, "a string");
    good = good && expect(';', "at the end of .pragma");
  } else if (word == "target") {
    take();
    good = parse_target();
  } else {
    good = fail_here("a directive that stands outside functions",
                     ".entry, .func, .global, .const, .shared, .file, .section, .alias or .pragma");
    take();
  }
  if (!good) skip_statement();
  if (!good) accept('}');
}

// `.file 1 "name"`, followed by an optional time stamp and size.
bool Parser::parse_file() {
  SourceFile file;
  std::string_view path;
  if (!expect_u32(file.index, "the number of the file") ||
      !expect_string(path, "the file's name")) {
    return false;
  }
  file.path = path;
  module_->files.push_back(std::move(file));
  while (accept(',')) {
    if (peek().kind != Token::Kind::Integer) return fail_here("the file's time stamp or size");
    take();
  }
  return true;
}

// Debug sections are data for debuggers; they are kept as text, and nothing here reads them.
bool Parser::parse_section() {
  const std::string_view name = peek().text;
  const char* begin = name.data() - (peek().kind == Token::Kind::Dotted ? 1 : 0);
  if (peek().kind == Token::Kind::Dotted || peek().kind == Token::Kind::Identifier) take();
  if (!peek().is('{')) return fail_here("'{' after the section's name");
  skip_block();
  module_->sections.emplace_back(begin, static_cast<std::size_t>(last_end_ - begin));
  return true;
}

bool Parser::parse_alias() {
  std::string_view alias, target;
  if (!expect_name(alias, "the new name") || !expect(',', "between alias and function") ||
      !expect_name(target, "the function that the alias stands for") ||
      !expect(';', "at the end of .alias")) {
    return false;
  }
  module_->aliases.emplace_back(alias, target);
  return true;
}

// `.loc file line column`, then perhaps `, function_name label, inlined_at file line column`.
bool Parser::parse_loc(LocStatement& loc) {
  if (!expect_u32(loc.line.file, "the file of .loc") ||
      !expect_u32(loc.line.line, "the line of .loc") ||
      !expect_u32(loc.line.column, "the column of .loc")) {
    return false;
  }
  line_ = loc.line;
  const char* begin = nullptr;
  while (accept(',')) {
    const Token word = peek();
    if (word.kind != Token::Kind::Identifier ||
        (word.text != "function_name" && word.text != "inlined_at")) {
      return fail_here("function_name or inlined_at");
    }
    if (begin == nullptr) begin = word.begin();
    take();
    if (word.text == "function_name") {
      std::string_view label;
      if (!expect_name(label, "the label of the function's name")) return false;
      uint32_t offset = 0;
      if (accept('+') && !expect_u32(offset, "an offset")) return false;
    } else {
      uint32_t ignored = 0;
      for (int i = 0; i < 3; ++i) {
        if (!expect_u32(ignored, "file, line and column of the call")) return false;
      }
    }
  }
  if (begin != nullptr) {
    for (const char* c = begin; c != last_end_; ++c) loc.inlined_at += *c == '\n' ? ' ' : *c;
  }
  accept(';');
  return true;
}

}  // namespace weft::ptx
