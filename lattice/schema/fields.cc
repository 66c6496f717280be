// SPDX-License-Identifier: Apache-2.0

// Numbers are read with from_chars: no locale, no partial match, no sign where none belongs.
#include "lattice/schema/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/near_match.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Fields> Fields::open(const YamlDocument& document, const YamlNode& node, std::string what) {
  if (node.kind != YamlNode::Kind::Map && node.kind != YamlNode::Kind::Null)
    return document.error_at(node.position, fmt::format("{} is not a map of keys", what));
  return Fields(document, node, std::move(what));
}

Error Fields::error(std::string_view key, std::string message, std::string hint) const {
  const YamlNode* value = node_->find(key);
  return document_->error_at(value == nullptr ? node_->position : value->position,
                             fmt::format("{} of {} {}", key, what_, message), std::move(hint));
}

const YamlNode* Fields::node(std::string_view key) {
  asked_.emplace_back(key);
  const YamlNode* value = node_->find(key);
  return value == nullptr || value->kind == YamlNode::Kind::Null ? nullptr : value;
}

Result<const YamlNode*> Fields::required(std::string_view key) {
  const YamlNode* value = node(key);
  if (value == nullptr) return error(key, "is missing");
  return value;
}

Result<const YamlNode*> Fields::scalar(std::string_view key) {
  const YamlNode* value = node(key);
  if (value != nullptr && value->kind != YamlNode::Kind::Scalar)
    return error(key, "is not a single value");
  return value;
}

Result<Done> Fields::read(std::string_view key, bool& value) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  if (found->scalar != "true" && found->scalar != "false")
    return error(key, "is neither true nor false: " + found->scalar);
  value = found->scalar == "true";
  return Done{};
}

Result<Done> Fields::read(std::string_view key, int64_t& value, int64_t least, int64_t most) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  int64_t number = 0;
  if (!parse_number(found->scalar, number))
    return error(key, "is no whole number: " + found->scalar);
  if (number < least || number > most)
    return error(key, fmt::format("is outside {} to {}: {}", least, most, number));
  value = number;
  return Done{};
}

Result<Done> Fields::read(std::string_view key, uint64_t& value, uint64_t least) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  uint64_t number = 0;
  if (!parse_number(found->scalar, number))
    return error(key, "is no whole number from 0: " + found->scalar);
  if (number < least) return error(key, fmt::format("is less than {}: {}", least, number));
  value = number;
  return Done{};
}

Result<Done> Fields::read(std::string_view key, double& value, double least, double most) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  double number = 0;
  if (!parse_number(found->scalar, number) || !std::isfinite(number))
    return error(key, "is no number: " + found->scalar);
  if (number < least || number > most)
    return error(key, fmt::format("is outside {} to {}: {}", least, most, number));
  value = number;
  return Done{};
}

Result<Done> Fields::read(std::string_view key, std::string& value) {
  const YamlNode* found = TRY(scalar(key));
  if (found != nullptr) value = found->scalar;
  return Done{};
}

Result<Done> Fields::read(std::string_view key, std::vector<std::string>& value) {
  const YamlNode* found = node(key);
  if (found == nullptr) return Done{};
  value.clear();
  if (found->kind == YamlNode::Kind::Scalar) value.push_back(found->scalar);
  if (found->kind == YamlNode::Kind::Map) return error(key, "is a map, not a list");
  for (const YamlNode& element : found->list) {
    if (element.kind != YamlNode::Kind::Scalar)
      return document_->error_at(
          element.position, fmt::format("{} of {} is not a list of single values", key, what_));
    value.push_back(element.scalar);
  }
  return Done{};
}

Result<Done> Fields::read_duration(std::string_view key, double& seconds) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  const std::optional<double> parsed = parse_duration(found->scalar);
  if (!parsed)
    return error(key, "is no duration: " + found->scalar, "write a number and s, m, h or d: 90m");
  seconds = *parsed;
  return Done{};
}

Result<Done> Fields::read_durations(std::string_view key, std::vector<double>& seconds) {
  std::vector<std::string> texts;
  TRY(read(key, texts));
  if (!texts.empty()) seconds.clear();
  for (const std::string& text : texts) {
    const auto one = parse_duration(text);
    if (!one) return error(key, "has a value that is no duration: " + text);
    seconds.push_back(*one);
  }
  return Done{};
}

Result<Done> Fields::read_word_index(std::string_view key, size_t& index,
                                     const std::vector<std::string>& words) {
  const YamlNode* found = TRY(scalar(key));
  if (found == nullptr) return Done{};
  const auto word = std::find(words.begin(), words.end(), found->scalar);
  if (word == words.end())
    return error(key, fmt::format("is an unknown word: \"{}\"", found->scalar),
                 suggestion(found->scalar, words, "words here"));
  index = static_cast<size_t>(word - words.begin());
  return Done{};
}

Result<Done> Fields::each(
    std::string_view key,
    const std::function<Result<Done>(const std::string&, const YamlNode&)>& read_one) {
  const YamlNode* found = node(key);
  if (found == nullptr) return Done{};
  if (found->kind != YamlNode::Kind::Map) return error(key, "is not a map of names");
  for (const auto& [name, value] : found->map) TRY(read_one(name, value));
  return Done{};
}

Result<Done> Fields::finish() const {
  Error unknown;
  for (const auto& [key, value] : node_->map) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const Error one =
        document_->error_at(value.position, fmt::format("unknown key in {}: \"{}\"", what_, key),
                            suggestion(key, asked_, "keys here"));
    unknown.diagnostics.push_back(one.diagnostics.front());
  }
  if (!unknown.diagnostics.empty()) return unknown;
  return Done{};
}

}  // namespace weft::lattice
