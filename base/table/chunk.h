// SPDX-License-Identifier: Apache-2.0

// Up to 2048 rows of a query's answer, column by column. Spans and texts live until the next chunk
// is fetched into the same object.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/table/column_type.h"

namespace weft::table {

class Chunk {
 public:
  Chunk() = default;
  Chunk(Chunk&& other) noexcept;
  Chunk& operator=(Chunk&& other) noexcept;
  ~Chunk();

  size_t size() const { return size_; }
  bool is_null(size_t column, size_t row) const {
    const uint64_t* bits = columns_[column].validity;
    return bits != nullptr && (bits[row / 64] >> (row % 64) & 1) == 0;
  }
  // Whether any row of the column may be null.
  bool has_nulls(size_t column) const { return columns_[column].validity != nullptr; }
  // Of columns of type Integer, Timestamp and Boolean. Values under a null mean nothing.
  std::span<const int64_t> integers(size_t column) const;
  std::span<const uint64_t> unsigneds(size_t column) const;
  std::span<const double> reals(size_t column) const;
  std::string_view text(size_t column, size_t row) const;

 private:
  friend class Rows;

  struct Column {
    ColumnType type = ColumnType::Other;
    const void* data = nullptr;          // as wide as `type` says
    const uint64_t* validity = nullptr;  // one bit a row; nullptr when no row is null
    std::vector<uint64_t> widened;       // storage when DuckDB's own was narrower
  };

  // Takes the chunk (a duckdb_data_chunk) over; the columns have these types.
  void take(void* chunk, const std::vector<ColumnInfo>& columns);
  void release();

  void* chunk_ = nullptr;
  size_t size_ = 0;
  std::vector<Column> columns_;
};

}  // namespace weft::table
