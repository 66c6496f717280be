// SPDX-License-Identifier: Apache-2.0

// SQLite as Results: a connection that keeps its prepared statements. Not safe from several threads
// at once; its owner has the lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft::service {

// Values are bound to the question marks of a statement and read from its columns.
using SqlValue = std::variant<int64_t, double, std::string>;

class SqlRow {
 public:
  explicit SqlRow(std::vector<SqlValue> values) : values_(std::move(values)) {}
  int64_t integer(size_t column) const;  // of an integer column; 0 for NULL
  double number(size_t column) const;    // of an integer or real column
  std::string text(size_t column) const;

 private:
  std::vector<SqlValue> values_;
};

class Database {
 public:
  static Result<Database> open(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  // All rows. `sql` is one statement; it is prepared once and kept.
  Result<std::vector<SqlRow>> query(std::string_view sql, const std::vector<SqlValue>& values = {});
  // Rows that the last statement changed.
  int64_t changed() const;

 private:
  explicit Database(sqlite3* connection) : connection_(connection) {}
  Error error(std::string_view what) const;

  sqlite3* connection_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace weft::service
