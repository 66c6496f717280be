// SPDX-License-Identifier: Apache-2.0

// DuckDB behind a narrow door: a database in memory (tables larger than the limit spill to disk),
// SQL in, chunks of typed columns out. CSV and Parquet are read and written by SQL (read_csv,
// read_parquet, COPY). Nothing of DuckDB's header is visible here, so including this costs little.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table/chunk.h"
#include "base/table/column_type.h"

namespace weft::table {

struct DatabaseOptions {
  unsigned threads = 0;         // 0: as many as cores. Row order never depends on it
  uint64_t memory_bytes = 0;    // 0: DuckDB's own choice, most of the machine
  std::string spill_directory;  // where tables go that do not fit; empty: nowhere
};

// The answer of a query, fetched chunk by chunk; it is never in memory as a whole.
class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  const std::vector<ColumnInfo>& columns() const { return columns_; }
  // Fetches the next rows into `chunk`; false when there are none left.
  Result<bool> next(Chunk& chunk);

 private:
  friend class Database;
  Rows() = default;

  struct State;
  std::unique_ptr<State> state_;
  std::vector<ColumnInfo> columns_;
};

// One database with one connection. Not for several threads at once; open one each instead.
class Database {
 public:
  static Result<Database> open(const DatabaseOptions& options = {});
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  // The statement is run to its end. DuckDB's message becomes the error.
  Result<Done> execute(const std::string& sql);
  // Rows in the order of the query; without ORDER BY, in the order of the files it reads.
  Result<Rows> query(const std::string& sql);
  // For answers of one row: its values as text, "" for null.
  Result<std::vector<std::string>> row(const std::string& sql);
  // For answers of one row of whole numbers; null counts as 0, as sums over nothing do.
  Result<std::vector<int64_t>> counts(const std::string& sql);

 private:
  friend class Writer;
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// DuckDB's version, such as "v1.4.4".
std::string engine_version();

}  // namespace weft::table
