// SPDX-License-Identifier: Apache-2.0

// The splits of a data set as queries: by time out of one table, or each from files of its own,
// with the labels of a zip joined where there is one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/table/database.h"
#include "lattice/ingest/dataset.h"
#include "lattice/ingest/row_layout.h"
#include "lattice/ingest/source.h"

namespace weft::lattice {

struct Split {
  std::string name;
  Source source;
  std::string query;  // its rows, with the zip's columns after its own, in any order
  std::string order;  // " ORDER BY ...", or none for the order of the files
};

// What the zip under data.zipped was made with.
struct ZipFacts {
  std::vector<double> windows;  // seconds
  std::vector<bool> windowed;   // for each of data.zip_labels: by those windows, or one of its own
};

// Nothing without labels of a zip. The zip must have been finished.
Result<ZipFacts> read_zip_facts(const DataConfiguration& configuration);

// Training is the first.
Result<std::vector<Split>> open_splits(table::Database& database,
                                       const DataConfiguration& configuration,
                                       const RowLayout& layout);

}  // namespace weft::lattice
