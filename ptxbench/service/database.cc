// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/database.h"

#include <sqlite3.h>

#include <utility>

namespace weft::service {
namespace {

constexpr int kBusyMilliseconds = 5000;

void bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    sqlite3_bind_int64(statement, index, *integer);
  else if (const auto* number = std::get_if<double>(&value))
    sqlite3_bind_double(statement, index, *number);
  else if (const auto* text = std::get_if<std::string>(&value))
    sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
}

SqlRow current_row(sqlite3_stmt* statement) {
  std::vector<SqlValue> values;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER:
        values.emplace_back(int64_t{sqlite3_column_int64(statement, i)});
        break;
      case SQLITE_FLOAT:
        values.emplace_back(sqlite3_column_double(statement, i));
        break;
      case SQLITE_NULL:
        values.emplace_back(std::string());
        break;
      default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        values.emplace_back(
            std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, i))));
      }
    }
  }
  return SqlRow(std::move(values));
}

}  // namespace

int64_t SqlRow::integer(size_t column) const {
  const auto* value = std::get_if<int64_t>(&values_.at(column));
  return value != nullptr ? *value : 0;
}

double SqlRow::number(size_t column) const {
  const auto* value = std::get_if<double>(&values_.at(column));
  return value != nullptr ? *value : static_cast<double>(integer(column));
}

std::string SqlRow::text(size_t column) const {
  const auto* value = std::get_if<std::string>(&values_.at(column));
  return value != nullptr ? *value : std::string();
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &connection,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection);
  if (code != SQLITE_OK)
    return Error("cannot open the database " + path + ": " + sqlite3_errstr(code),
                 "the folder must be writable");
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  return database;
}

Database::Database(Database&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      statements_(std::exchange(other.statements_, {})) {}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(connection_);
}

Error Database::error(std::string_view what) const {
  return Error("the database refused a step: " + std::string(sqlite3_errmsg(connection_)) + " (" +
               std::string(what.substr(0, 60)) + ")");
}

Result<std::vector<SqlRow>> Database::query(std::string_view sql,
                                            const std::vector<SqlValue>& values) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
      return error(sql);
    found = statements_.emplace(sql, statement).first;
  }
  sqlite3_stmt* statement = found->second;
  for (size_t i = 0; i < values.size(); ++i) bind(statement, static_cast<int>(i + 1), values[i]);
  std::vector<SqlRow> rows;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(current_row(statement));
  if (code != SQLITE_DONE) {
    Error failure = error(sql);
    sqlite3_reset(statement);
    return failure;
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return rows;
}

int64_t Database::changed() const {
  return sqlite3_changes64(connection_);
}

}  // namespace weft::service
