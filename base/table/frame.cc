// SPDX-License-Identifier: Apache-2.0

// A file is written by a database of its own with one thread: the same bytes on every machine, and
// several files can be written at once.
#include "base/table/frame.h"

#include <utility>

#include "base/table/writer.h"

namespace weft::table {

size_t Frame::add(std::string name, FrameType type, Nulls nulls) {
  FrameColumn column{.name = std::move(name), .type = type};
  switch (type) {
    case FrameType::Integer:
    case FrameType::Timestamp:
      column.integers.resize(rows_);
      break;
    case FrameType::Unsigned:
      column.unsigneds.resize(rows_);
      break;
    case FrameType::Real:
      column.reals.resize(rows_);
      break;
    case FrameType::Byte:
      column.bytes.resize(rows_);
      break;
    case FrameType::Text:
      column.texts.resize(rows_);
      break;
  }
  if (nulls == Nulls::Possible) column.valid.resize(rows_);
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

Result<Done> Frame::write_parquet(const std::string& path) const {
  static constexpr const char* kSqlTypes[] = {"BIGINT", "TIMESTAMP", "UBIGINT",
                                              "FLOAT",  "UTINYINT",  "VARCHAR"};
  Database database = TRY(Database::open({.threads = 1}));
  std::vector<std::pair<std::string, std::string>> definition;
  std::vector<ColumnValues> values;
  for (const FrameColumn& column : columns_) {
    definition.emplace_back(column.name, kSqlTypes[static_cast<size_t>(column.type)]);
    values.push_back({.integers = column.integers,
                      .unsigneds = column.unsigneds,
                      .reals = column.reals,
                      .bytes = column.bytes,
                      .texts = column.texts,
                      .valid = column.valid});
  }
  Writer writer = TRY(Writer::create(database, "frame", definition));
  if (rows_ != 0) TRY(writer.append(values));
  TRY(writer.finish());
  return copy_to_parquet(database, "SELECT * FROM frame", path);
}

}  // namespace weft::table
