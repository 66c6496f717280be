// SPDX-License-Identifier: Apache-2.0

// Reading JSON with located errors: a small scanner finds where a path lies in text that is known
// to be valid, which keeps positions out of the parsed values.
#include "ptxbench/problems/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/near_match.h"

namespace weft::problems {
namespace {

// Walks valid JSON text. Every method leaves `at` behind what it names.
struct Scanner {
  std::string_view text;
  size_t at = 0;

  void blanks() { at = std::min(text.find_first_not_of(" \t\r\n", at), text.size()); }
  std::string key() {
    const size_t start = ++at;
    while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return std::string(text.substr(start, at++ - start));
  }
  void value() {
    blanks();
    if (text[at] == '"') {
      key();
    } else if (text[at] == '{' || text[at] == '[') {
      int depth = 0;
      do {
        if (text[at] == '"') {
          key();
          continue;
        }
        depth += (text[at] == '{' || text[at] == '[') - (text[at] == '}' || text[at] == ']');
        ++at;
      } while (depth > 0);
    } else {
      at = std::min(text.find_first_of(",]} \t\r\n", at), text.size());
    }
  }
  // From the start of an object or array to the start of the child's value.
  bool enter(const std::string& name) {
    blanks();
    const bool object = text[at] == '{';
    ++at;
    for (size_t index = 0; at < text.size(); ++index) {
      blanks();
      if (text[at] == '}' || text[at] == ']') return false;
      bool found = false;
      if (object) {
        found = key() == name;
        blanks();
        ++at;  // the colon
        blanks();
      } else {
        found = std::to_string(index) == name;
      }
      if (found) return true;
      value();
      blanks();
      if (text[at] == ',') ++at;
    }
    return false;
  }
};

Diagnostic locate(std::string_view text, size_t offset, const std::string& file,
                  uint32_t first_line) {
  offset = std::min(offset, text.size());
  const size_t line_start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
  const size_t line_end = std::min(text.find('\n', offset), text.size());
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.position.line =
      first_line + static_cast<uint32_t>(std::count(text.begin(), text.begin() + line_start, '\n'));
  diagnostic.position.column = static_cast<uint32_t>(offset - line_start + 1);
  diagnostic.source_line = std::string(text.substr(line_start, line_end - line_start));
  return diagnostic;
}

}  // namespace

Result<Document> Document::parse(std::string text, std::string file, uint32_t first_line) {
  Document document;
  document.text_ = std::move(text);
  document.file_ = std::move(file);
  document.first_line_ = first_line;
  Result<Json> root = parse_json(document.text_, document.file_);
  if (!root.ok()) {
    Error error = std::move(root).error();
    for (Diagnostic& diagnostic : error.diagnostics) diagnostic.position.line += first_line - 1;
    return error;
  }
  document.root_ = std::move(root).value();
  return document;
}

Error Document::error_at(const std::vector<std::string>& path, std::string message,
                         std::string hint) const {
  Scanner scanner{text_};
  scanner.blanks();
  for (const std::string& step : path) {
    const size_t before = scanner.at;
    if (!scanner.enter(step)) {
      scanner.at = before;
      break;
    }
    scanner.blanks();
  }
  Diagnostic diagnostic = locate(text_, scanner.at, file_, first_line_);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return Error(std::move(diagnostic));
}

Node Node::child(std::string_view name, const Json& json) const {
  Node node = *this;
  node.json_ = &json;
  node.path_.emplace_back(name);
  return node;
}

Result<Done> Node::only(std::initializer_list<std::string_view> names) const {
  if (!json_->is_object()) return error(fmt::format("an object is expected: {}", name()));
  for (const auto& [key, value] : json_->items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      const std::vector<std::string> known(names.begin(), names.end());
      return child(key, value)
          .error(fmt::format("unknown field: \"{}\"", key), suggestion(key, known, "fields here"));
    }
  }
  return Done{};
}

bool Node::has(std::string_view name) const {
  const auto found = json_->is_object() ? json_->find(std::string(name)) : json_->end();
  return found != json_->end() && !found->is_null();
}

Result<Node> Node::member(std::string_view name) const {
  if (!json_->is_object()) return error(fmt::format("an object is expected: {}", this->name()));
  const auto found = json_->find(std::string(name));
  if (found == json_->end()) {
    return error(fmt::format("missing field: \"{}\"", name),
                 fmt::format("add \"{}\" to {}", name, this->name()));
  }
  return child(name, *found);
}

Result<std::vector<Node>> Node::members() const {
  if (!json_->is_object()) return error(fmt::format("an object is expected: {}", name()));
  std::vector<Node> nodes;
  for (const auto& [key, value] : json_->items()) nodes.push_back(child(key, value));
  return nodes;
}

Result<std::vector<Node>> Node::elements() const {
  if (!json_->is_array()) return error(fmt::format("an array is expected: {}", name()));
  std::vector<Node> nodes;
  for (size_t i = 0; i < json_->size(); ++i) nodes.push_back(child(std::to_string(i), (*json_)[i]));
  return nodes;
}

Result<std::string> Node::text() const {
  if (!json_->is_string()) return error(fmt::format("a string is expected: {}", name()));
  return json_->get<std::string>();
}

Result<std::string> Node::text(std::string_view member_name) const {
  const Node node = TRY(member(member_name));
  return node.text();
}

Result<int64_t> Node::integer() const {
  if (!json_->is_number_integer()) return error(fmt::format("an integer is expected: {}", name()));
  if (json_->is_number_unsigned() && json_->get<uint64_t>() > uint64_t{INT64_MAX}) {
    return error(fmt::format("integer out of range: {}", json_->dump()));
  }
  return json_->get<int64_t>();
}

Result<double> Node::number() const {
  if (!json_->is_number()) return error(fmt::format("a number is expected: {}", name()));
  return json_->get<double>();
}

}  // namespace weft::problems
