// SPDX-License-Identifier: Apache-2.0

// A unit is cut into its module-scope statements; each says whether it defines or declares a name
// and with which linkage. The output holds variables first, then declarations of functions, then
// bodies, so that every name is known where it is used.
#include "ptxbench/fatbin/link.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace weft::fatbin {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// Length of the token at the front: a word with its leading dot, a string, a comment, white space,
// or one other character.
size_t token_length(std::string_view text) {
  if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
  if (text.starts_with("/*")) {
    const size_t end = text.find("*/", 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text[0] == '"') {
    const size_t end = text.find('"', 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (!is_word(text[0])) return 1;
  size_t length = 1;
  while (length < text.size() && is_word(text[length])) ++length;
  return length;
}

bool is_comment(std::string_view token) {
  return token.starts_with("//") || token.starts_with("/*");
}

struct Statement {
  enum class Kind { Header, File, Section, Variable, Declaration, Function };
  enum class Linkage { Internal, Visible, Extern, Weak };
  Kind kind = Kind::Variable;
  Linkage linkage = Linkage::Internal;
  std::string_view text;
  std::string_view name;
  size_t unit = 0;
};

// Fills kind, linkage and name from the words of a statement.
void classify(Statement& statement) {
  using Kind = Statement::Kind;
  using Linkage = Statement::Linkage;
  bool function = false, body = false, initialised = false;
  int parentheses = 0;
  std::string_view name, last;
  for (std::string_view rest = statement.text; !rest.empty();) {
    const std::string_view token = rest.substr(0, token_length(rest));
    rest.remove_prefix(token.size());
    if (is_comment(token)) continue;
    if (token == ".extern") statement.linkage = Linkage::Extern;
    if (token == ".visible") statement.linkage = Linkage::Visible;
    if (token == ".weak" || token == ".common") statement.linkage = Linkage::Weak;
    if (token == ".func" || token == ".entry") function = true;
    if (token == "=") initialised = true;
    if (token == "(") ++parentheses;
    if (token == ")") --parentheses;
    if (token == "{" && !initialised) body = true;
    if (body && function) break;
    if (!is_word(token[0]) || token[0] == '.') continue;
    // A function's name is the first word outside parentheses; a variable's the last before [ or =.
    if (function && parentheses == 0 && name.empty()) name = token;
    const bool number = token[0] >= '0' && token[0] <= '9';
    if (!function && !initialised && !number) name = token;
  }
  statement.kind = !function ? Kind::Variable : body ? Kind::Function : Kind::Declaration;
  statement.name = name;
}

Result<std::vector<Statement>> cut(std::string_view text, size_t unit) {
  std::vector<Statement> statements;
  while (true) {
    // White space and comments between statements go.
    while (!text.empty()) {
      const std::string_view token = text.substr(0, token_length(text));
      if (!is_comment(token) && is_word(token[0])) break;
      text.remove_prefix(token.size());
    }
    if (text.empty()) return statements;

    Statement statement;
    statement.unit = unit;
    const std::string_view first = text.substr(0, token_length(text));
    size_t end = 0;
    if (first == ".version" || first == ".target" || first == ".address_size" || first == ".file") {
      end = std::min(text.find('\n'), text.size());
      statement.kind = first == ".file" ? Statement::Kind::File : Statement::Kind::Header;
      statement.name = first;
    } else {
      int depth = 0;
      bool braces_end = false, initialised = false, ended = false;
      while (end < text.size() && !ended) {
        const std::string_view token = text.substr(end, token_length(text.substr(end)));
        end += token.size();
        if (token == "=") initialised = true;
        if (token == "{") ++depth;
        if (token == "{" && !initialised) braces_end = true;
        if (token == "}") --depth;
        ended = depth <= 0 && (token == ";" || (token == "}" && braces_end));
      }
      if (!ended) return Error(fmt::format("PTX unit {} ends inside a statement", unit + 1));
      statement.text = text.substr(0, end);
      if (first == ".section")
        statement.kind = Statement::Kind::Section;
      else
        classify(statement);
    }
    statement.text = text.substr(0, end);
    statements.push_back(statement);
    text.remove_prefix(end);
  }
}

struct Renaming {
  std::map<std::string_view, std::string> names;
  uint32_t file_offset = 0;  // added to the numbers of .file and .loc
};

// Copies a statement: new names for what is internal, new file numbers, and .loc without its
// inlining part, whose names live in the debug sections that are left out. A declaration that meets
// its definition stops being external.
std::string rewrite(const Statement& statement, const Renaming& renaming, bool defined = false) {
  std::string out;
  enum class Place { Elsewhere, FileNumber, LocationTail } place = Place::Elsewhere;
  for (std::string_view rest = statement.text; !rest.empty();) {
    const std::string_view token = rest.substr(0, token_length(rest));
    rest.remove_prefix(token.size());
    if (place == Place::LocationTail && token != "\n") {
      if (token == ",") {
        rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
        place = Place::Elsewhere;
        continue;
      }
    } else if (place == Place::LocationTail) {
      place = Place::Elsewhere;
    }
    if (place == Place::FileNumber && is_word(token[0])) {
      const auto number =
          static_cast<uint32_t>(std::strtoul(std::string(token).c_str(), nullptr, 10));
      out += std::to_string(number + renaming.file_offset);
      place = Place::LocationTail;
      continue;
    }
    if (token == ".loc" || token == ".file") place = Place::FileNumber;
    const auto renamed = is_word(token[0]) ? renaming.names.find(token) : renaming.names.end();
    if (renamed != renaming.names.end())
      out += renamed->second;
    else if (token == ".extern" && defined)
      out += ".visible";
    else
      out += token;
  }
  return out;
}

}  // namespace

Result<std::string> link_ptx(std::span<const std::string> units) {
  using Kind = Statement::Kind;
  using Linkage = Statement::Linkage;
  std::vector<Statement> all;
  for (size_t unit = 0; unit < units.size(); ++unit)
    for (const Statement& statement : TRY(cut(units[unit], unit))) all.push_back(statement);

  // Who defines a name for the others, and which names several units use for themselves.
  std::map<std::string_view, const Statement*> definitions;
  std::map<std::string_view, std::set<size_t>> internal;
  for (const Statement& statement : all) {
    if (statement.kind != Kind::Variable && statement.kind != Kind::Function) continue;
    if (statement.linkage == Linkage::Internal) internal[statement.name].insert(statement.unit);
    if (statement.linkage == Linkage::Internal || statement.linkage == Linkage::Extern) continue;
    const Statement*& known = definitions[statement.name];
    if (known != nullptr && known->linkage == Linkage::Visible &&
        statement.linkage == Linkage::Visible)
      return Error(fmt::format("two PTX units define the same name: {}", statement.name));
    if (known == nullptr || known->linkage == Linkage::Weak) {
      if (known == nullptr || statement.linkage == Linkage::Visible) known = &statement;
    }
  }

  std::vector<Renaming> renamings(units.size());
  for (const auto& [name, users] : internal)
    for (const size_t unit : users)
      if (users.size() > 1 || definitions.contains(name))
        renamings[unit].names[name] = fmt::format("{}$unit{}", name, unit + 1);

  std::string header, files, variables, declarations, functions;
  std::set<std::string_view> declared;
  uint32_t file_count = 0;
  for (size_t unit = 0; unit < units.size(); ++unit) {
    renamings[unit].file_offset = file_count;
    for (const Statement& statement : all)
      file_count += statement.unit == unit && statement.kind == Kind::File;
  }
  for (const Statement& statement : all) {
    const Renaming& renaming = renamings[statement.unit];
    const auto definition = definitions.find(statement.name);
    const bool defined = definition != definitions.end();
    const bool replaced =
        defined && definition->second != &statement && statement.linkage != Linkage::Internal;
    switch (statement.kind) {
      case Kind::Header:
        if (statement.unit == 0) header += std::string(statement.text) + '\n';
        break;
      case Kind::File:
        files += rewrite(statement, renaming) + '\n';
        break;
      case Kind::Section:
        break;
      case Kind::Variable:
        if (replaced) break;
        if (statement.linkage == Linkage::Extern && !declared.insert(statement.name).second) break;
        variables += rewrite(statement, renaming) + '\n';
        break;
      case Kind::Declaration:
        if (statement.linkage != Linkage::Internal && !declared.insert(statement.name).second)
          break;
        declarations += rewrite(statement, renaming, defined) + '\n';
        break;
      case Kind::Function:
        if (!replaced) functions += rewrite(statement, renaming) + '\n';
        break;
    }
  }
  return header + variables + declarations + functions + files;
}

}  // namespace weft::fatbin
