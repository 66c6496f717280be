// SPDX-License-Identifier: Apache-2.0

// Values go into DuckDB's vectors of 2048 rows and from there into the table.
#include "base/table/writer.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/table/database_state.h"
#include "base/table/sql_text.h"

namespace weft::table {
namespace {

// Copies rows [first, first + count) of a column into a vector.
void fill(duckdb_vector vector, const ColumnValues& values, size_t first, size_t count) {
  void* data = duckdb_vector_get_data(vector);
  const auto copy = [&](const auto& from) {
    std::memcpy(data, from.data() + first, count * sizeof from[0]);
  };
  if (!values.integers.empty()) copy(values.integers);
  if (!values.unsigneds.empty()) copy(values.unsigneds);
  if (!values.reals.empty()) copy(values.reals);
  if (!values.bytes.empty()) copy(values.bytes);
  for (size_t i = 0; i < count && !values.texts.empty(); ++i) {
    const std::string_view text = values.texts[first + i];
    duckdb_vector_assign_string_element_len(vector, i, text.data(), text.size());
  }
  if (values.valid.empty()) return;
  duckdb_vector_ensure_validity_writable(vector);
  uint64_t* bits = duckdb_vector_get_validity(vector);
  for (size_t i = 0; i < count; ++i)
    duckdb_validity_set_row_validity(bits, i, values.valid[first + i] != 0);
}

}  // namespace

size_t ColumnValues::size() const {
  return integers.size() + unsigneds.size() + reals.size() + bytes.size() + texts.size();
}

struct Writer::State {
  duckdb_appender appender = nullptr;
  std::vector<duckdb_logical_type> types;
  duckdb_data_chunk chunk = nullptr;
  ~State() {
    duckdb_destroy_data_chunk(&chunk);
    for (duckdb_logical_type& type : types) duckdb_destroy_logical_type(&type);
    duckdb_appender_destroy(&appender);
  }
  Error error() const {
    const char* message = duckdb_appender_error(appender);
    return Error(message == nullptr ? "DuckDB cannot append rows" : message);
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&& other) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(Database& database, const std::string& table,
                              const std::vector<std::pair<std::string, std::string>>& columns) {
  std::string definition;
  for (const auto& [name, type] : columns)
    definition += (definition.empty() ? "" : ", ") + quoted_name(name) + " " + type;
  TRY(database.execute(
      fmt::format("CREATE OR REPLACE TABLE {} ({})", quoted_name(table), definition)));
  auto state = std::make_unique<State>();
  if (duckdb_appender_create(database.state_->connection, nullptr, table.c_str(),
                             &state->appender) == DuckDBError)
    return state->error();
  for (idx_t i = 0; i < duckdb_appender_column_count(state->appender); ++i)
    state->types.push_back(duckdb_appender_column_type(state->appender, i));
  state->chunk = duckdb_create_data_chunk(state->types.data(), state->types.size());
  return Writer(std::move(state));
}

Result<Done> Writer::append(std::span<const ColumnValues> columns) {
  INVARIANT(columns.size() == state_->types.size());
  const size_t rows = columns.front().size();
  for (const ColumnValues& column : columns)
    INVARIANT(column.size() == rows && (column.valid.empty() || column.valid.size() == rows));
  const size_t step = duckdb_vector_size();
  for (size_t first = 0; first < rows; first += step) {
    const size_t count = std::min(step, rows - first);
    duckdb_data_chunk_reset(state_->chunk);
    for (size_t i = 0; i < columns.size(); ++i)
      fill(duckdb_data_chunk_get_vector(state_->chunk, i), columns[i], first, count);
    duckdb_data_chunk_set_size(state_->chunk, count);
    if (duckdb_append_data_chunk(state_->appender, state_->chunk) == DuckDBError)
      return state_->error();
  }
  return Done{};
}

Result<Done> Writer::finish() {
  if (duckdb_appender_close(state_->appender) == DuckDBError) return state_->error();
  return Done{};
}

Result<Done> copy_to_parquet(Database& database, const std::string& query,
                             const std::string& path) {
  const std::string draft = path + ".draft";
  std::error_code ignored;
  const Result<Done> written = database.execute(
      fmt::format("COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)",
                  query, quoted_text(draft)));
  if (!written.ok()) {
    std::filesystem::remove(draft, ignored);
    return Error(Diagnostic{.message = "cannot write the file: " + written.error().message(),
                            .hint = "is the disk full, or the folder not writable?",
                            .file = path});
  }
  std::error_code renamed;
  std::filesystem::rename(draft, path, renamed);
  if (renamed)
    return Error(
        Diagnostic{.message = "cannot write the file: " + renamed.message(), .file = path});
  return Done{};
}

}  // namespace weft::table
