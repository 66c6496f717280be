// SPDX-License-Identifier: Apache-2.0

// Rows of a synthetic world as batches in memory, with the truth beside them: what claims train on,
// without tables and files in between. A label says whether the row ever converts; its delay is
// kept, so that any window's label can be made. Row numbers of users, items, categories and
// countries are ids: there is no unknown value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "lattice/data/reader.h"
#include "lattice/data/shard_index.h"
#include "lattice/world/configuration.h"

namespace weft::lattice {

struct WorldRows {
  ShardIndex schema;
  Batch train, valid, test;  // in order of time: 70, 10 and 20 %
  // Of all rows in order of time, [rows, objectives].
  std::vector<float> probability;
  std::vector<double> delay_seconds;  // negative: never converts
  std::vector<double> shown_seconds;  // [rows], since the start

  uint64_t rows() const { return train.rows + valid.rows + test.rows; }
};

// The domain is also a categorical column, of this name.
constexpr const char* kDomainFeature = "domain";

// The preset ads-small with fewer users and items, no drift and two objectives: what claims vary.
WorldConfiguration small_world(uint64_t seed, uint64_t impressions);

Result<WorldRows> draw_rows(const WorldConfiguration& world);

// The best possible NE on the rows from `first` on, of one objective in one domain (-1: all), over
// the entropy of the rate that was drawn there.
double best_ne(const WorldRows& rows, uint64_t first, size_t objective, int32_t domain);

}  // namespace weft::lattice
