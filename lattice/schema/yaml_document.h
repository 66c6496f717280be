// SPDX-License-Identifier: Apache-2.0

// A YAML text as a tree that remembers lines. JSON is YAML, so resolved configurations, which are
// written as JSON, are read back the same way. The YAML library itself stays inside the source.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weft::lattice {

struct YamlNode {
  enum class Kind : uint8_t { Null, Scalar, List, Map };

  Kind kind = Kind::Null;
  std::string scalar;
  bool quoted = false;  // "12" is a text, 12 a number
  std::vector<YamlNode> list;
  std::vector<std::pair<std::string, YamlNode>> map;  // in the order of the file
  SourcePosition position;

  const YamlNode* find(std::string_view key) const;
};

struct YamlDocument {
  YamlNode root;
  std::string file;
  std::vector<std::string> lines;

  // An error at a position of this document, with the line for the caret.
  Error error_at(SourcePosition position, std::string message, std::string hint = {}) const;
};

// A key that appears twice in one map is an error.
Result<YamlDocument> parse_yaml(std::string_view text, const std::string& file);
Result<YamlDocument> read_yaml(const std::string& path);

// Sets a value from the command line: "world.seed=7". The value is YAML itself ("a.b=[1, 2]").
// Missing maps on the way are made; the readers find out whether the name means anything.
Result<Done> set_value(YamlDocument& document, const std::string& assignment);

}  // namespace weft::lattice
