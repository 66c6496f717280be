// SPDX-License-Identifier: Apache-2.0

// DuckDB's types in ours. Seen by the sources of this room only: it includes DuckDB's header.
#pragma once

#include <duckdb.h>

#include <string>

#include "base/table/column_type.h"

namespace weft::table {

inline ColumnType column_type(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
      return ColumnType::Integer;
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
      return ColumnType::Unsigned;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return ColumnType::Real;
    case DUCKDB_TYPE_VARCHAR:
      return ColumnType::Text;
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return ColumnType::Timestamp;
    case DUCKDB_TYPE_BOOLEAN:
      return ColumnType::Boolean;
    default:
      return ColumnType::Other;
  }
}

}  // namespace weft::table
