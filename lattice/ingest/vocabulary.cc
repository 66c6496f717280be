// SPDX-License-Identifier: Apache-2.0

// Unknown values are spread by a hash that does not depend on the library's, so that a value meets
// the same bucket in training and in serving.
#include "lattice/ingest/vocabulary.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/mix.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

uint64_t text_hash(std::string_view text) {
  uint64_t hash = text.size();
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t piece = 0;
    std::memcpy(&piece, text.data() + at, std::min<size_t>(8, text.size() - at));
    hash = mix(hash, piece);
  }
  return hash;
}

}  // namespace

Vocabulary::Vocabulary(CategoricalColumn column,
                       std::vector<std::pair<std::string, uint64_t>> values)
    : column_(std::move(column)), values_(std::move(values)) {
  const int32_t first = kFirstUnknown + static_cast<int32_t>(column_.unknown_buckets);
  for (size_t i = 0; i < values_.size(); ++i)
    rows_.emplace(values_[i].first, first + static_cast<int32_t>(i));
}

int32_t Vocabulary::row(std::string_view value) const {
  const auto found = rows_.find(value);
  if (found != rows_.end()) return found->second;
  return kFirstUnknown + static_cast<int32_t>(text_hash(value) % column_.unknown_buckets);
}

Result<Done> Vocabulary::write(const std::string& path) const {
  std::string text;
  for (const auto& [value, count] : values_) text += to_line({value, count}) + "\n";
  return write_file(path, text);
}

Result<Vocabulary> Vocabulary::read(const CategoricalColumn& column, const std::string& path) {
  const std::string text = TRY(read_file(path));
  std::vector<std::pair<std::string, uint64_t>> values;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const Json line = TRY(parse_json(std::string_view(text).substr(start, end - start), path));
    if (!line.is_array() || line.size() != 2 || !line[0].is_string() ||
        !line[1].is_number_unsigned())
      return Error(Diagnostic{.message = "not a line of a vocabulary",
                              .file = path,
                              .position = {.line = static_cast<uint32_t>(values.size() + 1)}});
    values.emplace_back(line[0].get<std::string>(), line[1].get<uint64_t>());
    start = end + 1;
  }
  return Vocabulary(column, std::move(values));
}

}  // namespace weft::lattice
