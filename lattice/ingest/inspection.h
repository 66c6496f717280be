// SPDX-License-Identifier: Apache-2.0

// What is in the tables before anything is made of them: rows, types, ranges, missing values,
// labels by domain, what domains share, and the leaks that a table can show by itself. Uses the
// same configuration as ingest.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "lattice/ingest/dataset.h"

namespace weft::lattice {

// {"tables": [{"name", "rows", "columns": [...], "labels": [...], "overlaps": [...]}], "audit":
// [{"check", "count", "passed"}]}. A value that does not fit its role is an error, as it is for
// ingest.
Result<Json> inspect(const DataConfiguration& configuration);

}  // namespace weft::lattice
