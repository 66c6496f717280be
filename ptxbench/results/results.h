// SPDX-License-Identifier: Apache-2.0

// The CSV files of a report as tables of one DuckDB file and as Parquet, for those who ask more of
// a run than its report answers.
#pragma once

#include <string>

#include "base/result.h"

namespace weft::results {

// Every *.csv of `folder` becomes a table of results.duckdb and a .parquet file beside it. What was
// there before is replaced.
Result<Done> store(const std::string& folder);

}  // namespace weft::results
