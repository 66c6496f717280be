// SPDX-License-Identifier: Apache-2.0

// Rows of batches taken out and put together: for sources in memory, for models that see some of
// the rows, for permuting one feature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lattice/data/reader.h"

namespace weft::lattice {

// The rows, in the order given; they may repeat.
Batch take_rows(const Batch& from, std::span<const uint32_t> rows);
// One after the other. All have the same columns.
Batch join(std::span<const Batch> parts);

}  // namespace weft::lattice
