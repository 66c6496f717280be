// SPDX-License-Identifier: Apache-2.0

// A table in CSV or Parquet files whose columns have the types that a step needs. Values are cast
// in SQL on the way; when one does not fit, locate() finds the first of them, so that every error
// names file, column and row. Rows count from 1 and leave out a header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table/database.h"

namespace weft::lattice {

enum class FieldType : uint8_t {
  Id,     // 0 to 2^64 - 1
  Time,   // an instant; UTC microseconds from here on
  Real,   // finite
  Share,  // from 0 to 1: labels
  Text,
};
enum class TimeUnit : uint8_t { None, Seconds, Milliseconds, Microseconds };  // of whole numbers
enum class Presence : uint8_t { Required, Optional };

struct Field {
  std::string name;
  FieldType type = FieldType::Text;
  Presence presence = Presence::Required;  // whether a null is an error
  TimeUnit unit = TimeUnit::None;
  bool assume_utc = false;  // texts without a zone are UTC; otherwise they are refused
};

struct SourceFiles {
  std::vector<std::string> files;  // patterns such as "events/*.parquet", in order
  std::string delimiter = ",";
  std::string null_text;           // how CSV writes a missing value, besides an empty field
  std::vector<std::string> names;  // of the columns, for CSV without a header
  uint64_t skip = 0;               // lines before the data or the header
};

class Source {
 public:
  // Finds the files and the columns. `base` is the folder that relative patterns start from; `what`
  // names the table in messages.
  static Result<Source> open(table::Database& database, const std::string& what,
                             const std::string& base, const SourceFiles& files,
                             const std::vector<Field>& fields);

  const std::vector<std::string>& paths() const { return paths_; }
  const std::vector<Field>& fields() const { return fields_; }
  // "SELECT <casts> FROM <files>": one column a field, by the field's name; ids as UBIGINT, times
  // as TIMESTAMP, reals as DOUBLE.
  std::string select() const;
  // The error for the first value that does not fit its field; `otherwise` when all fit.
  Error locate(const Error& otherwise) const;
  // The error for the first value of a field for which an SQL condition on `v` holds; `what` says
  // what is wrong with it.
  Error locate_value(size_t field, const std::string& condition, const std::string& what,
                     const std::string& hint) const;
  // The SQL type in the files of a field.
  const std::string& stored_type(size_t field) const { return stored_types_[field]; }
  // What reads the files, for queries of their own: read_parquet([...]).
  std::string relation() const { return relation(paths_); }

  // The bounds of times that are believed: 2000-01-01 to 2100-01-01.
  static constexpr int64_t kEarliest = 946684800000000, kLatest = 4102444800000000;

 private:
  std::string relation(const std::vector<std::string>& paths) const;
  std::string value(size_t field) const;  // SQL: the cast value, null when it does not fit
  std::string cast(size_t field) const;   // SQL: the cast value, an error when it does not fit

  std::string what_;
  SourceFiles files_;
  bool csv_ = false;
  std::vector<std::string> paths_;
  std::vector<Field> fields_;
  std::vector<std::string> stored_types_;
};

}  // namespace weft::lattice
