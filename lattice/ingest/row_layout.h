// SPDX-License-Identifier: Apache-2.0

// Where each column of a data set is in a row that is read from its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lattice/ingest/dataset.h"
#include "lattice/ingest/source.h"

namespace weft::lattice {

// SIZE_MAX: there is none.
struct RowLayout {
  size_t id = SIZE_MAX, time = SIZE_MAX, domain = SIZE_MAX;
  size_t categorical = 0, dense = 0, labels = 0;  // the first of each
  size_t window = SIZE_MAX, zip_labels = 0;       // behind the table's own fields
  std::vector<Field> fields;                      // of the table
};

RowLayout row_layout(const DataConfiguration& configuration);

}  // namespace weft::lattice
