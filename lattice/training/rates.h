// SPDX-License-Identifier: Apache-2.0

// How often labels are positive in a split, by domain, task and window: where the offsets of a
// network start, and the background of normalized entropy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "lattice/data/shard_index.h"
#include "lattice/training/batch_source.h"

namespace weft::lattice {

class Rates {
 public:
  Rates(size_t domains, size_t tasks, size_t windows)
      : domains_(domains), tasks_(tasks), windows_(windows), cells_(domains * tasks * windows) {}

  void add(const Batch& batch, const std::vector<ShardIndex::Label>& labels);
  // None without a row. Domain -1: all domains together.
  std::optional<double> rate(int32_t domain, size_t task, size_t window) const;
  // Of a label under each window (one without windows), kept away from 0 and 1.
  std::vector<double> starting_rates(int32_t domain, size_t task, bool windowed) const;
  double share(int32_t domain) const;  // of the rows

  Json to_json() const;
  static Rates from_json(const Json& json);

 private:
  struct Cell {
    uint64_t rows = 0;
    double positives = 0;
  };
  Cell sum(int32_t domain, size_t task, size_t window) const;

  size_t domains_, tasks_, windows_;
  std::vector<Cell> cells_;  // [domains, tasks, windows]
  std::vector<uint64_t> domain_rows_ = std::vector<uint64_t>(domains_);
};

// One pass. Domains and windows that the data does not have count as one.
Rates count_rates(const BatchSource& source, const ShardIndex& schema);

}  // namespace weft::lattice
