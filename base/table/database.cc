// SPDX-License-Identifier: Apache-2.0

// Queries are prepared and run streaming, so that an answer larger than memory passes through.
#include "base/table/database.h"

#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/table/database_state.h"
#include "base/table/duckdb_types.h"
#include "base/table/sql_text.h"

namespace weft::table {
namespace {

Error failed(const char* message) {
  return Error(message == nullptr ? "DuckDB failed without a message" : message);
}

std::string type_name(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_HUGEINT:
      return "HUGEINT";
    case DUCKDB_TYPE_UHUGEINT:
      return "UHUGEINT";
    case DUCKDB_TYPE_DECIMAL:
      return "DECIMAL";
    case DUCKDB_TYPE_DATE:
      return "DATE";
    case DUCKDB_TYPE_TIME:
      return "TIME";
    case DUCKDB_TYPE_BLOB:
      return "BLOB";
    case DUCKDB_TYPE_LIST:
      return "LIST";
    case DUCKDB_TYPE_STRUCT:
      return "STRUCT";
    case DUCKDB_TYPE_MAP:
      return "MAP";
    case DUCKDB_TYPE_ENUM:
      return "ENUM";
    case DUCKDB_TYPE_TIMESTAMP:
      return "TIMESTAMP";
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return "TIMESTAMP WITH TIME ZONE";
    case DUCKDB_TYPE_TIMESTAMP_S:
      return "TIMESTAMP_S";
    case DUCKDB_TYPE_TIMESTAMP_MS:
      return "TIMESTAMP_MS";
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return "TIMESTAMP_NS";
    case DUCKDB_TYPE_BOOLEAN:
      return "BOOLEAN";
    case DUCKDB_TYPE_VARCHAR:
      return "VARCHAR";
    case DUCKDB_TYPE_FLOAT:
      return "FLOAT";
    case DUCKDB_TYPE_DOUBLE:
      return "DOUBLE";
    case DUCKDB_TYPE_TINYINT:
      return "TINYINT";
    case DUCKDB_TYPE_SMALLINT:
      return "SMALLINT";
    case DUCKDB_TYPE_INTEGER:
      return "INTEGER";
    case DUCKDB_TYPE_BIGINT:
      return "BIGINT";
    case DUCKDB_TYPE_UTINYINT:
      return "UTINYINT";
    case DUCKDB_TYPE_USMALLINT:
      return "USMALLINT";
    case DUCKDB_TYPE_UINTEGER:
      return "UINTEGER";
    case DUCKDB_TYPE_UBIGINT:
      return "UBIGINT";
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

}  // namespace

struct Rows::State {
  duckdb_prepared_statement statement = nullptr;
  duckdb_result result{};
  ~State() {
    duckdb_destroy_result(&result);
    duckdb_destroy_prepare(&statement);
  }
};

Rows::Rows(Rows&& other) noexcept = default;
Rows::~Rows() = default;

Result<bool> Rows::next(Chunk& chunk) {
  duckdb_data_chunk fetched = duckdb_fetch_chunk(state_->result);
  if (fetched == nullptr) {
    const char* message = duckdb_result_error(&state_->result);
    if (message != nullptr && *message != '\0') return failed(message);
    return false;
  }
  chunk.take(fetched, columns_);
  return chunk.size() > 0;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&& other) noexcept = default;
Database& Database::operator=(Database&& other) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const DatabaseOptions& options) {
  auto state = std::make_unique<State>();
  if (duckdb_open(nullptr, &state->database) == DuckDBError ||
      duckdb_connect(state->database, &state->connection) == DuckDBError)
    return Error("cannot start DuckDB");
  Database database(std::move(state));
  TRY(database.execute("SET TimeZone = 'UTC'"));
  if (options.threads != 0) TRY(database.execute(fmt::format("SET threads = {}", options.threads)));
  if (options.memory_bytes != 0)
    TRY(database.execute(fmt::format("SET memory_limit = '{}B'", options.memory_bytes)));
  // Without a folder of its own DuckDB would spill into the current one.
  TRY(database.execute("SET temp_directory = " + quoted_text(options.spill_directory)));
  return database;
}

Result<Done> Database::execute(const std::string& sql) {
  duckdb_result result{};
  const duckdb_state ran = duckdb_query(state_->connection, sql.c_str(), &result);
  std::string message;
  if (ran == DuckDBError) {
    const char* text = duckdb_result_error(&result);
    message = text == nullptr ? "DuckDB failed without a message" : text;
  }
  duckdb_destroy_result(&result);
  if (ran == DuckDBError) return Error(message);
  return Done{};
}

Result<Rows> Database::query(const std::string& sql) {
  Rows rows;
  rows.state_ = std::make_unique<Rows::State>();
  Rows::State& state = *rows.state_;
  if (duckdb_prepare(state_->connection, sql.c_str(), &state.statement) == DuckDBError)
    return failed(duckdb_prepare_error(state.statement));
  duckdb_pending_result pending = nullptr;
  Result<Done> ran = Done{};
  if (duckdb_pending_prepared_streaming(state.statement, &pending) == DuckDBError ||
      duckdb_execute_pending(pending, &state.result) == DuckDBError) {
    const char* text = duckdb_result_error(&state.result);
    ran = failed(text != nullptr ? text : duckdb_pending_error(pending));
  }
  duckdb_destroy_pending(&pending);
  TRY(std::move(ran));
  for (idx_t i = 0; i < duckdb_column_count(&state.result); ++i) {
    const duckdb_type type = duckdb_column_type(&state.result, i);
    rows.columns_.push_back({.name = duckdb_column_name(&state.result, i),
                             .type = column_type(type),
                             .sql_type = type_name(type)});
  }
  return rows;
}

Result<std::vector<std::string>> Database::row(const std::string& sql) {
  Rows rows = TRY(query("SELECT COLUMNS(*)::VARCHAR FROM (" + sql + ")"));
  std::vector<std::string> values(rows.columns().size());
  Chunk chunk;
  if (!TRY(rows.next(chunk))) return Error("the query has no answer: " + sql);
  for (size_t i = 0; i < values.size(); ++i)
    if (!chunk.is_null(i, 0)) values[i] = chunk.text(i, 0);
  return values;
}

Result<std::vector<int64_t>> Database::counts(const std::string& sql) {
  Rows rows = TRY(query("SELECT COLUMNS(*)::BIGINT FROM (" + sql + ")"));
  std::vector<int64_t> values(rows.columns().size());
  Chunk chunk;
  if (!TRY(rows.next(chunk))) return Error("the query has no answer: " + sql);
  for (size_t i = 0; i < values.size(); ++i)
    if (!chunk.is_null(i, 0)) values[i] = chunk.integers(i)[0];
  return values;
}

std::string engine_version() {
  return duckdb_library_version();
}

}  // namespace weft::table
