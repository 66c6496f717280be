// SPDX-License-Identifier: Apache-2.0

// Strict reading of one map of a configuration. Each key that a reader asks for is remembered; at
// the end, finish() refuses the keys that nobody asked for, with the line and the nearest known
// name. A wrong value is an error at its line. Missing keys keep the value that the variable has.
//
//   Fields fields = TRY(Fields::open(document, node, "world"));
//   TRY(fields.read("seed", config.seed));
//   TRY(fields.finish());
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lattice/schema/yaml_document.h"

namespace weft::lattice {

class Fields {
 public:
  // `what` names the map in messages: "world", "domain feed". A null node reads as an empty map.
  static Result<Fields> open(const YamlDocument& document, const YamlNode& node, std::string what);

  Result<Done> read(std::string_view key, bool& value);
  Result<Done> read(std::string_view key, int64_t& value, int64_t least = INT64_MIN,
                    int64_t most = INT64_MAX);
  Result<Done> read(std::string_view key, uint64_t& value, uint64_t least = 0);
  Result<Done> read(std::string_view key, double& value, double least, double most);
  Result<Done> read(std::string_view key, std::string& value);
  Result<Done> read(std::string_view key, std::vector<std::string>& value);  // one text or a list
  // "90m", "1d": seconds. See duration.h.
  Result<Done> read_duration(std::string_view key, double& seconds);
  // One or a list; an empty list keeps what is there.
  Result<Done> read_durations(std::string_view key, std::vector<double>& seconds);
  // The index of the word in `words`, as an enumeration.
  template <typename Enumeration>
  Result<Done> read_word(std::string_view key, Enumeration& value,
                         const std::vector<std::string>& words) {
    size_t index = static_cast<size_t>(value);
    TRY(read_word_index(key, index, words));
    value = static_cast<Enumeration>(index);
    return Done{};
  }

  // The node behind a key, or nullptr; the reader takes over what is inside.
  const YamlNode* node(std::string_view key);
  // The same, as an error when it is missing.
  Result<const YamlNode*> required(std::string_view key);
  // Calls `read_one(name, node)` for each entry of a map of named things; missing reads as none.
  Result<Done> each(
      std::string_view key,
      const std::function<Result<Done>(const std::string&, const YamlNode&)>& read_one);

  // Unknown keys are errors from here on.
  Result<Done> finish() const;

  const YamlDocument& document() const { return *document_; }
  Error error(std::string_view key, std::string message, std::string hint = {}) const;

 private:
  Fields(const YamlDocument& document, const YamlNode& node, std::string what)
      : document_(&document), node_(&node), what_(std::move(what)) {}
  Result<const YamlNode*> scalar(std::string_view key);
  Result<Done> read_word_index(std::string_view key, size_t& index,
                               const std::vector<std::string>& words);

  const YamlDocument* document_;
  const YamlNode* node_;
  std::string what_;
  std::vector<std::string> asked_;
};

}  // namespace weft::lattice
