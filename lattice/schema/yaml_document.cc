// SPDX-License-Identifier: Apache-2.0

// yaml-cpp throws; nothing of that leaves this file.
#include "lattice/schema/yaml_document.h"

#include <algorithm>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/text_file.h"

namespace weft::lattice {
namespace {

SourcePosition position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {.line = static_cast<uint32_t>(mark.line + 1),
          .column = static_cast<uint32_t>(mark.column + 1)};
}

// The library keeps both of two equal keys and finds the first; here that is an error.
Result<YamlNode> convert(const YAML::Node& node, const YamlDocument& document) {
  YamlNode result{.position = position_of(node.Mark())};
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      result.kind = YamlNode::Kind::Scalar;
      result.scalar = node.Scalar();
      result.quoted = node.Tag() == "!";
      if (!result.quoted && (result.scalar == "null" || result.scalar == "~"))
        result.kind = YamlNode::Kind::Null;
      break;
    case YAML::NodeType::Sequence:
      result.kind = YamlNode::Kind::List;
      for (const YAML::Node& element : node) result.list.push_back(TRY(convert(element, document)));
      break;
    case YAML::NodeType::Map:
      result.kind = YamlNode::Kind::Map;
      for (const auto& entry : node) {
        const SourcePosition place = position_of(entry.first.Mark());
        if (!entry.first.IsScalar())
          return document.error_at(place, "a key that is not a plain word");
        const std::string key = entry.first.Scalar();
        if (result.find(key) != nullptr)
          return document.error_at(place, fmt::format("the key \"{}\" appears twice", key),
                                   "keep one of them");
        YamlNode value = TRY(convert(entry.second, document));
        value.position = place;
        result.map.emplace_back(key, std::move(value));
      }
      break;
    default:
      break;
  }
  return result;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char letter : text) {
    if (letter == '\n')
      lines.emplace_back();
    else
      lines.back() += letter;
  }
  return lines;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found =
      std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; });
  return found == map.end() ? nullptr : &found->second;
}

Error YamlDocument::error_at(SourcePosition position, std::string message, std::string hint) const {
  const bool known = position.line >= 1 && position.line <= lines.size();
  return Error(Diagnostic{.message = std::move(message),
                          .hint = std::move(hint),
                          .file = file,
                          .position = known ? position : SourcePosition{},
                          .source_line = known ? lines[position.line - 1] : std::string()});
}

Result<YamlDocument> parse_yaml(std::string_view text, const std::string& file) {
  YamlDocument document{.file = file, .lines = split_lines(text)};
  try {
    document.root = TRY(convert(YAML::Load(std::string(text)), document));
  } catch (const YAML::Exception& error) {
    return document.error_at(position_of(error.mark), "not valid YAML: " + error.msg);
  }
  return document;
}

Result<YamlDocument> read_yaml(const std::string& path) {
  return parse_yaml(TRY(read_file(path)), path);
}

Result<Done> set_value(YamlDocument& document, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error(fmt::format("not an assignment: \"{}\"", assignment), "write name.name=value");
  const YamlDocument value = TRY(parse_yaml(assignment.substr(equals + 1), "--set " + assignment));
  YamlNode* at = &document.root;
  std::string_view path = std::string_view(assignment).substr(0, equals);
  for (;;) {
    const std::string key(path.substr(0, path.find('.')));
    if (at->kind == YamlNode::Kind::Null) at->kind = YamlNode::Kind::Map;
    if (at->kind != YamlNode::Kind::Map)
      return Error(
          fmt::format("\"{}\" is inside a value that is no map: --set {}", key, assignment));
    auto* next = const_cast<YamlNode*>(at->find(key));
    if (next == nullptr) {
      at->map.emplace_back(key, YamlNode{});
      next = &at->map.back().second;
    }
    at = next;
    if (path.find('.') == std::string_view::npos) break;
    path.remove_prefix(path.find('.') + 1);
  }
  const SourcePosition place = at->position;
  *at = value.root;
  at->position = place;  // zero for a new value: it is in no line of the file
  return Done{};
}

}  // namespace weft::lattice
