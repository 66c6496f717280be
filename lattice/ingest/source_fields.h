// SPDX-License-Identifier: Apache-2.0

// How a configuration names a table, and how it is written down again.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/ingest/source.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

// The words for TimeUnit, in its order.
extern const std::vector<std::string> kTimeUnitWords;

// The map under `key`; a missing one leaves `files` as it is.
Result<Done> read_source(Fields& fields, const std::string& key, SourceFiles& files);
Json to_json(const SourceFiles& files);

}  // namespace weft::lattice
