// SPDX-License-Identifier: Apache-2.0

// One training step of one rank, event by event: a stream that computes and one that communicates,
// each in order. A gather is started when at most `prefetch` others wait for their block. Gradients
// are reduced when their block's backward pass has ended, behind the gather that is prefetched for
// the next one. The tables' exchanges come before the first block and after the last.
#pragma once

#include <vector>

#include "lattice/sharding/profile.h"
#include "lattice/sharding/strategy.h"

namespace weft::lattice {

struct Simulated {
  double seconds = 0, peak_bytes = 0;
};

struct SimulatedTables {
  double seconds = 0, bytes = 0;
};

// `batch` is an index of Profile::batch_rows.
Simulated simulate(const Profile& profile, size_t batch, const std::vector<Strategy>& plan,
                   const SimulatedTables& tables, int64_t prefetch = 1);

}  // namespace weft::lattice
