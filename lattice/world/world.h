// SPDX-License-Identifier: Apache-2.0

// Writes a synthetic world into a run folder:
//
//   impressions/part-*.parquet  what was shown, in order of time, with its features
//   events/part-*.parquet       what users did elsewhere, by user and time
//   feedback/part-*.parquet     conversions and refunds with event and arrival time; some are
//                               reported twice, and what arrives after the end is missing
//   truth/part-*.parquet        for each impression the true probabilities and delays
//   truth.json                  Bayes-optimal losses per portfolio and window, overlaps of domains
//   lattice.yaml                a configuration with which the other steps run on this folder
//
// A part depends on the seed and its number alone: a second start makes the missing ones.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/schema/run_folder.h"
#include "lattice/world/configuration.h"

namespace weft::lattice {

struct WorldOptions {
  unsigned workers = 0;  // 0: as many as cores. The files do not depend on it
  // Called after each part with the number of impressions in it; from several threads, not at once.
  std::function<void(uint64_t)> progress = [](uint64_t) {};
};

// The summary that also goes into the manifest.
Result<Json> write_world(const WorldConfiguration& configuration, RunFolder& run,
                         const WorldOptions& options = {});

}  // namespace weft::lattice
