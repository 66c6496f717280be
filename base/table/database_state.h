// SPDX-License-Identifier: Apache-2.0

// What a Database owns. Seen by the sources of this room only: it includes DuckDB's header.
#pragma once

#include <duckdb.h>

#include "base/table/database.h"

namespace weft::table {

struct Database::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    duckdb_disconnect(&connection);
    duckdb_close(&database);
  }

  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
};

}  // namespace weft::table
