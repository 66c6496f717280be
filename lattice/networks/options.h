// SPDX-License-Identifier: Apache-2.0

// Options that several networks read in the same way. Sizes are positive; a list of sizes may be
// one number.
#pragma once

#include "lattice/schema/fields.h"

namespace weft::lattice {

Result<Done> read_size(Fields& fields, std::string_view key, int64_t& value);
Result<Done> read_sizes(Fields& fields, std::string_view key, std::vector<int64_t>& values);

}  // namespace weft::lattice
