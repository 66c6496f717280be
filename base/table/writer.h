// SPDX-License-Identifier: Apache-2.0

// Columns of ours into a table of a Database, and from there into a Parquet file that appears whole
// or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table/database.h"

namespace weft::table {

// Rows of one column; `valid` is empty when no value is null. Exactly one of the others is filled.
struct ColumnValues {
  std::span<const int64_t> integers;  // also for timestamps, in microseconds
  std::span<const uint64_t> unsigneds;
  std::span<const float> reals;
  std::span<const uint8_t> bytes;  // a UTINYINT column
  std::span<const std::string_view> texts;
  std::span<const uint8_t> valid;  // 1: there is a value
  size_t size() const;
};

// Creates the table when it is made.
class Writer {
 public:
  // Columns are SQL: name and type, such as {"user", "UBIGINT"}. A column's values come as its type
  // says: BIGINT and TIMESTAMP as integers, UBIGINT, FLOAT, UTINYINT, VARCHAR.
  static Result<Writer> create(Database& database, const std::string& table,
                               const std::vector<std::pair<std::string, std::string>>& columns);
  Writer(Writer&& other) noexcept;
  Writer& operator=(Writer&&) = delete;
  ~Writer();

  // As many values in each column as in the first.
  Result<Done> append(std::span<const ColumnValues> columns);
  Result<Done> finish();

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Runs COPY (query) to `path` as Parquet (Zstandard) by way of a draft file beside it.
Result<Done> copy_to_parquet(Database& database, const std::string& query, const std::string& path);

}  // namespace weft::table
