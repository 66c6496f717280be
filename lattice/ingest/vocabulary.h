// SPDX-License-Identifier: Apache-2.0

// The values of a categorical column that have a row of their own in its table, after those that
// lattice/data/shard_index.h names. Kept as JSON lines, [value, count] in the order of their rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lattice/data/shard_index.h"
#include "lattice/ingest/dataset.h"

namespace weft::lattice {

class Vocabulary {
 public:
  Vocabulary(CategoricalColumn column, std::vector<std::pair<std::string, uint64_t>> values);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  // The index points into the values.
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  static Result<Vocabulary> read(const CategoricalColumn& column, const std::string& path);
  Result<Done> write(const std::string& path) const;

  int32_t row(std::string_view value) const;
  // Whether the value has a row of its own.
  bool known(std::string_view value) const { return rows_.find(value) != rows_.end(); }
  // Rows that a table needs: padding, null, unknown buckets and values.
  uint64_t table_rows() const { return kFirstUnknown + column_.unknown_buckets + values_.size(); }
  const std::vector<std::pair<std::string, uint64_t>>& values() const { return values_; }

 private:
  CategoricalColumn column_;
  std::vector<std::pair<std::string, uint64_t>> values_;
  std::unordered_map<std::string_view, int32_t> rows_;  // views into `values_`
};

}  // namespace weft::lattice
