// SPDX-License-Identifier: Apache-2.0

// What a row of the instruction tables can say, and the compile-time reader of rows.
//
// A row's syntax is written as the manual writes it, on one line:
//   "fma.<rnd>{.ftz}{.sat}.f32  d, a, b, c"
//   .word      a modifier that must stand there          {.word}   one that may
//   .a|b|c     one of several words                      <rnd>     a named set of words
//   (modifiers.h) <type>     the words of the row's `types` d, [a]     operands; [ ] takes an
//   address, { , x} is optional, d{|p} is a pair with optional half,
//              (x) a parenthesised list
// Rows are read while the project compiles: a malformed row is a compile error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptxbench/isa/modifiers.h"

namespace weft::isa {

enum class Status : uint8_t {
  Executes,  // the emulator gives it its meaning
  Parses,    // known to the parser only
  Refused,   // removed from the language for every target that is emulated
};

// What the audit counts an instruction as.
enum class InstructionFamily : uint8_t {
  Integer,
  Float,
  Half,
  Comparison,
  Logic,
  Conversion,
  Move,
  LoadStore,
  Prefetch,
  Control,
  Atomic,
  WarpExchange,
  Barrier,
  ClusterBarrier,
  Fence,
  Mbarrier,
  AsyncCopy,
  BulkCopy,
  TensorCopy,
  TensorMap,
  LdMatrix,
  Mma,
  Wmma,
  Wgmma,
  RegisterCount,
  Tcgen05,
  Texture,
  Surface,
  Stack,
  Video,
  Cluster,
  DependentLaunch,
  Hint,
};
std::string_view name(InstructionFamily family);  // "wgmma", "tensor_copy", ...

struct Row {
  std::string_view syntax;
  std::string_view types = {};        // what <type> stands for, separated by spaces
  int since = 10;                     // first PTX version, times ten
  std::string_view target = "sm_10";  // the least target, or the list of targets that alone have it
  Status status = Status::Parses;
  InstructionFamily family{};
};

enum class OperandShape : uint8_t { Value, Address, Pair, OptionalPair, List };

struct Form {
  static constexpr std::size_t kMaxGroups = 20;
  static constexpr std::size_t kMaxOperands = 12;

  // A place for one modifier. Groups with the same nonzero `order` are told apart by their order in
  // the text (types, spaces, overlapping sets); groups with order 0 may stand anywhere.
  struct Group {
    uint16_t begin = 0, length = 0;  // of the words, in `syntax`
    bool optional = false;
    uint8_t order = 0;
  };
  struct OperandPlace {
    uint16_t begin = 0, length = 0;  // of the name, in `syntax`
    OperandShape shape = OperandShape::Value;
    bool optional = false;
  };

  std::string_view syntax;
  std::string_view opcode;
  std::string_view types;
  std::string_view targets;
  uint16_t since = 10;
  Status status = Status::Parses;
  InstructionFamily family = InstructionFamily::Integer;
  uint8_t group_count = 0;
  uint8_t operand_count = 0;
  uint8_t required_operands = 0;
  std::array<Group, kMaxGroups> groups{};
  std::array<OperandPlace, kMaxOperands> operands{};

  constexpr std::string_view words(const Group& group) const {
    return syntax.substr(group.begin, group.length);
  }
  constexpr std::string_view operand_name(std::size_t index) const {
    return syntax.substr(operands[index].begin, operands[index].length);
  }
  // Whether `word` may fill the group.
  constexpr bool accepts(const Group& group, std::string_view word) const {
    return contains_word(words(group), types, word);
  }
};

// Reading rows
// -------------------------------------------------------------------------------------

// Called in a constant expression only when a row is malformed; not constexpr, so that compiling
// stops with the reason in the message.
void malformed_row(const char* reason);

namespace reading {

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Sets Form::Group::order of every group.
constexpr void order_groups(Form& form) {
  constexpr uint8_t kTypes = 1, kSpaces = 2;
  uint8_t next = 3;
  for (std::size_t i = 0; i < form.group_count; ++i) {
    Form::Group& group = form.groups[i];
    const std::string_view first = first_word(form.words(group), form.types);
    if (first.empty())
      malformed_row("a group without words: <type> without types, or an unknown <set>");
    if (is_type_word(first)) {
      group.order = kTypes;
    } else if (is_space_word(first)) {
      group.order = kSpaces;
    }
  }
  for (std::size_t i = 0; i < form.group_count; ++i) {
    Form::Group& late = form.groups[i];
    if (late.order != 0) continue;
    for (std::size_t j = 0; j < i; ++j) {
      Form::Group& early = form.groups[j];
      if (early.order == kTypes || early.order == kSpaces) continue;
      if (!sets_overlap(form.words(early), form.words(late), form.types)) continue;
      if (early.order == 0) early.order = next++;
      late.order = early.order;
    }
  }
}

constexpr std::size_t read_groups(Form& form) {
  const std::string_view text = form.syntax;
  std::size_t at = 0;
  while (at < text.size() && is_name_character(text[at])) ++at;
  if (at == 0) malformed_row("a row starts with its opcode");
  form.opcode = text.substr(0, at);
  while (at < text.size() && text[at] != ' ') {
    const bool optional = text[at] == '{';
    if (optional) ++at;
    if (at >= text.size() || text[at] != '.') malformed_row("a modifier starts with a dot");
    const std::size_t begin = ++at;
    while (at < text.size() && (is_name_character(text[at]) || text[at] == ':' || text[at] == '|' ||
                                text[at] == '<' || text[at] == '>')) {
      ++at;
    }
    if (at == begin) malformed_row("an empty modifier");
    if (form.group_count == Form::kMaxGroups) malformed_row("too many modifiers");
    form.groups[form.group_count++] = {static_cast<uint16_t>(begin),
                                       static_cast<uint16_t>(at - begin), optional, 0};
    if (optional) {
      if (at >= text.size() || text[at] != '}') malformed_row("a modifier group is not closed");
      ++at;
    }
  }
  return at;
}

constexpr void read_operands(Form& form, std::size_t at) {
  const std::string_view text = form.syntax;
  int depth = 0;
  bool expect_name = true, any = false;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ') {
      ++at;
    } else if (c == '{') {
      ++depth, ++at;
    } else if (c == '}') {
      if (depth-- == 0) malformed_row("a closing brace without its opening one");
      ++at;
    } else if (c == ',') {
      if (expect_name && any) malformed_row("two commas in a row");
      expect_name = true, ++at;
    } else if (c == '|') {
      if (!any || expect_name) malformed_row("a bar follows an operand");
      Form::OperandPlace& place = form.operands[form.operand_count - 1];
      place.shape =
          depth > (place.optional ? 1 : 0) ? OperandShape::OptionalPair : OperandShape::Pair;
      ++at;
      while (at < text.size() && is_name_character(text[at])) ++at;
    } else if (c == '[' || c == '(' || is_name_character(c)) {
      if (!expect_name) malformed_row("operands are separated by commas");
      if (form.operand_count == Form::kMaxOperands) malformed_row("too many operands");
      std::size_t begin = at, length = 0;
      OperandShape shape = OperandShape::Value;
      if (c == '[' || c == '(') {
        const char close = c == '[' ? ']' : ')';
        shape = c == '[' ? OperandShape::Address : OperandShape::List;
        begin = ++at;
        while (at < text.size() && text[at] != close) ++at;
        if (at == text.size()) malformed_row("a bracket is not closed");
        length = at++ - begin;
      } else {
        while (at < text.size() && is_name_character(text[at])) ++at;
        length = at - begin;
      }
      form.operands[form.operand_count++] = {static_cast<uint16_t>(begin),
                                             static_cast<uint16_t>(length), shape, depth > 0};
      if (depth == 0) ++form.required_operands;
      expect_name = false, any = true;
    } else {
      malformed_row("an unexpected character among the operands");
    }
  }
  if (depth != 0) malformed_row("an optional operand is not closed");
  if (any && expect_name) malformed_row("a comma ends the operands");
}

constexpr void check_targets(std::string_view targets) {
  if (targets.empty()) malformed_row("a row names its least target");
  for (std::size_t at = 0; at < targets.size();) {
    if (targets.substr(at, 3) != "sm_")
      malformed_row("a target is written sm_NN, sm_NNa or sm_NNf");
    at += 3;
    const std::size_t digits = at;
    while (at < targets.size() && targets[at] >= '0' && targets[at] <= '9') ++at;
    if (at == digits) malformed_row("a target has a number");
    if (at < targets.size() && (targets[at] == 'a' || targets[at] == 'f')) ++at;
    if (at < targets.size() && targets[at++] != ' ')
      malformed_row("targets are separated by a space");
  }
}

}  // namespace reading

constexpr Form read_row(const Row& row) {
  Form form;
  form.syntax = row.syntax;
  form.types = row.types;
  form.targets = row.target;
  form.since = static_cast<uint16_t>(row.since);
  form.status = row.status;
  form.family = row.family;
  reading::check_targets(row.target);
  const std::size_t operands = reading::read_groups(form);
  reading::read_operands(form, operands);
  reading::order_groups(form);
  return form;
}

// Reads a chapter's table.
template <std::size_t N>
consteval std::array<Form, N> read_rows(const Row (&rows)[N]) {
  std::array<Form, N> forms{};
  for (std::size_t i = 0; i < N; ++i) forms[i] = read_row(rows[i]);
  return forms;
}

// How many operands a syntax has at most; for tables that assert facts about their rows.
consteval std::size_t operand_count(std::string_view syntax) {
  return read_row(Row{.syntax = syntax, .types = "b32"}).operand_count;
}

}  // namespace weft::isa
