// SPDX-License-Identifier: Apache-2.0

// Ingest: tables become training shards, whose layout is in lattice/data/shard_index.h.
//
//   vocabulary/<column>.jsonl       values of the training split with their counts
//   <split>/shard-*.safetensors     in the order of the rows (time, then id, when there is a time)
//   index.json                      written last: columns, table sizes, statistics, shards
//
// Vocabularies, means and deviations come from the training split alone.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/ingest/dataset.h"
#include "lattice/schema/run_folder.h"

namespace weft::lattice {

struct IngestOptions {
  unsigned workers = 0;
  std::function<void(const std::string& stage, uint64_t rows)> progress = [](const std::string&,
                                                                             uint64_t) {};
};

// The index is the summary.
Result<Json> ingest(const DataConfiguration& configuration, RunFolder& run,
                    const IngestOptions& options = {});

// The files that it reads, for the run folder's record.
Result<std::vector<std::string>> ingest_inputs(const DataConfiguration& configuration);

}  // namespace weft::lattice
