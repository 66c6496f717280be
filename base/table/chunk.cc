// SPDX-License-Identifier: Apache-2.0

// Columns that are 64 bits wide already are read where DuckDB put them; narrower ones are copied.
#include "base/table/chunk.h"

#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "base/table/duckdb_types.h"

namespace weft::table {
namespace {

template <typename Narrow, typename Wide>
void widen(const void* data, size_t count, std::vector<uint64_t>& storage) {
  static_assert(sizeof(Wide) == sizeof(uint64_t));
  storage.resize(count);
  const auto* from = static_cast<const Narrow*>(data);
  for (size_t i = 0; i < count; ++i) {
    // A narrow type is a number here, never a character.
    const Wide wide = static_cast<Wide>(from[i]);  // NOLINT(bugprone-signed-char-misuse)
    std::memcpy(&storage[i], &wide, sizeof wide);
  }
}

// Fills `storage` when the type is narrower than ours; says whether it did.
bool widen_column(duckdb_type type, const void* data, size_t count,
                  std::vector<uint64_t>& storage) {
  switch (type) {
    case DUCKDB_TYPE_TINYINT:
      widen<int8_t, int64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_SMALLINT:
      widen<int16_t, int64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_INTEGER:
      widen<int32_t, int64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_UTINYINT:
      widen<uint8_t, uint64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_USMALLINT:
      widen<uint16_t, uint64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_UINTEGER:
      widen<uint32_t, uint64_t>(data, count, storage);
      return true;
    case DUCKDB_TYPE_FLOAT:
      widen<float, double>(data, count, storage);
      return true;
    default:
      return false;
  }
}

}  // namespace

Chunk::Chunk(Chunk&& other) noexcept
    : chunk_(std::exchange(other.chunk_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      columns_(std::move(other.columns_)) {}

Chunk& Chunk::operator=(Chunk&& other) noexcept {
  std::swap(chunk_, other.chunk_);
  std::swap(size_, other.size_);
  std::swap(columns_, other.columns_);
  return *this;
}

Chunk::~Chunk() {
  release();
}

void Chunk::release() {
  if (chunk_ == nullptr) return;
  auto chunk = static_cast<duckdb_data_chunk>(chunk_);
  duckdb_destroy_data_chunk(&chunk);
  chunk_ = nullptr;
  size_ = 0;
}

void Chunk::take(void* chunk, const std::vector<ColumnInfo>& columns) {
  release();
  chunk_ = chunk;
  auto handle = static_cast<duckdb_data_chunk>(chunk);
  size_ = duckdb_data_chunk_get_size(handle);
  columns_.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    duckdb_vector vector = duckdb_data_chunk_get_vector(handle, i);
    Column& column = columns_[i];
    column.type = columns[i].type;
    column.validity = duckdb_vector_get_validity(vector);
    column.data = duckdb_vector_get_data(vector);
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    if (widen_column(duckdb_get_type_id(type), column.data, size_, column.widened))
      column.data = column.widened.data();
    duckdb_destroy_logical_type(&type);
  }
}

std::span<const int64_t> Chunk::integers(size_t column) const {
  const Column& from = columns_[column];
  INVARIANT(from.type == ColumnType::Integer || from.type == ColumnType::Timestamp ||
            from.type == ColumnType::Boolean);
  return {static_cast<const int64_t*>(from.data), size_};
}

std::span<const uint64_t> Chunk::unsigneds(size_t column) const {
  INVARIANT(columns_[column].type == ColumnType::Unsigned);
  return {static_cast<const uint64_t*>(columns_[column].data), size_};
}

std::span<const double> Chunk::reals(size_t column) const {
  INVARIANT(columns_[column].type == ColumnType::Real);
  return {static_cast<const double*>(columns_[column].data), size_};
}

std::string_view Chunk::text(size_t column, size_t row) const {
  INVARIANT(columns_[column].type == ColumnType::Text);
  // The struct is const here, but short texts lie inside it, so the function wants its address.
  auto* strings = static_cast<duckdb_string_t*>(const_cast<void*>(columns_[column].data));
  return {duckdb_string_t_data(&strings[row]), duckdb_string_t_length(strings[row])};
}

}  // namespace weft::table
