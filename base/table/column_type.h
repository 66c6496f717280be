// SPDX-License-Identifier: Apache-2.0

// What a column can hold here. DuckDB's many widths are widened to these, so that readers have one
// case a kind.
#pragma once

#include <cstdint>
#include <string>

namespace weft::table {

enum class ColumnType : uint8_t {
  Integer,    // int64_t
  Unsigned,   // uint64_t; ids use all 64 bits
  Real,       // double
  Text,       // UTF-8
  Timestamp,  // int64_t microseconds since 1970-01-01 UTC
  Boolean,    // int64_t 0 or 1
  Other,      // nested or exotic: only its SQL name is known here
};

struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::Other;
  std::string sql_type;  // "DECIMAL", "HUGEINT", ... as DuckDB calls it
};

}  // namespace weft::table
