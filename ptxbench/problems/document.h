// SPDX-License-Identifier: Apache-2.0

// A JSON document whose errors know their line. Readers walk it with Node, which carries the path
// from the root; only when something is wrong is the text searched for the position of that path.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"

namespace weft::problems {

class Document {
 public:
  // `first_line` is the line of `file` at which `text` starts (JSON Lines: one document a line).
  static Result<Document> parse(std::string text, std::string file, uint32_t first_line = 1);

  const Json& root() const { return root_; }
  // An error at the value that `path` names, with the source line for the caret.
  Error error_at(const std::vector<std::string>& path, std::string message, std::string hint) const;

 private:
  Json root_;
  std::string text_;
  std::string file_;
  uint32_t first_line_ = 1;
};

// One value of a document. Valid while the document lives.
class Node {
 public:
  explicit Node(const Document& document) : document_(&document), json_(&document.root()) {}

  const Json& json() const { return *json_; }
  std::string name() const { return path_.empty() ? "the document" : path_.back(); }
  Error error(std::string message, std::string hint = {}) const {
    return document_->error_at(path_, std::move(message), std::move(hint));
  }

  // The value must be an object with no other members than these.
  Result<Done> only(std::initializer_list<std::string_view> names) const;
  bool has(std::string_view name) const;  // present and not null
  Result<Node> member(std::string_view name) const;
  Result<std::vector<Node>> members() const;   // of an object, in order
  Result<std::vector<Node>> elements() const;  // of an array

  Result<std::string> text() const;
  Result<std::string> text(std::string_view member_name) const;  // of a member that must be there
  Result<int64_t> integer() const;
  Result<double> number() const;

 private:
  Node child(std::string_view name, const Json& json) const;

  const Document* document_;
  const Json* json_;
  std::vector<std::string> path_;
};

}  // namespace weft::problems
