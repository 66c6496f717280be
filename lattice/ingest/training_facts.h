// SPDX-License-Identifier: Apache-2.0

// What is learnt from the training split before any row is written: the vocabularies, the domains,
// means and deviations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table/database.h"
#include "lattice/ingest/dataset.h"
#include "lattice/ingest/splits.h"
#include "lattice/ingest/vocabulary.h"

namespace weft::lattice {

struct CountedVocabulary {
  Vocabulary vocabulary;
  uint64_t distinct = 0;     // values of the split, those without a row of their own included
  double unknown_share = 0;  // of the split's rows that have a value
};

// The error names a column whose vocabulary leaves more unknown than it may.
Result<std::vector<CountedVocabulary>> count_vocabularies(table::Database& database,
                                                          const DataConfiguration& configuration,
                                                          const Split& train);

// In the order of their names; none when the data has no column of domains.
Result<std::vector<std::string>> find_domains(table::Database& database,
                                              const DataConfiguration& configuration,
                                              const Split& train);

struct DenseStatistics {
  float mean = 0, scale = 1;
  uint64_t values = 0, outside = 0;
};

// One for each dense column. Summed by one thread, since sums depend on the order of threads;
// `workers` is what the database has afterwards (0: its own choice).
Result<std::vector<DenseStatistics>> measure_dense(table::Database& database,
                                                   const DataConfiguration& configuration,
                                                   const Split& train, unsigned workers);

}  // namespace weft::lattice
