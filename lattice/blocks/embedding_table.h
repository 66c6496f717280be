// SPDX-License-Identifier: Apache-2.0

// All embedding tables as one matrix [rows of all tables, width] without a gradient of its own: a
// batch touches a few thousand of millions of rows, so derivatives are kept for what was read.
// Each look-up makes a leaf tensor and is noted in `Lookups`; after backward() its gradient() and
// rows are what a row-wise optimiser needs. A row may appear many times in one look-up.
//
//   row 0      padding of every table: zero for ever
//   first(t)   row 0 of table t, which is not used, then its rows
#pragma once

#include "lattice/blocks/tensors.h"

namespace weft::lattice {

struct Lookup {
  at::Tensor rows;    // int64 [...]
  at::Tensor values;  // [..., width], a leaf

  // [number of rows, width]; zero where padding was read.
  at::Tensor gradient() const;
};
using Lookups = std::vector<Lookup>;

class EmbeddingTable {
 public:
  EmbeddingTable(const std::vector<int64_t>& sizes, int64_t width, uint64_t seed,
                 at::ScalarType type = at::kFloat);

  int64_t width() const { return weight_.size(1); }
  int64_t first(size_t table) const { return first_[table]; }
  // The optimiser writes into it, in place.
  at::Tensor& weight() { return weight_; }
  const at::Tensor& weight() const { return weight_; }

  at::Tensor look_up(const at::Tensor& rows, Lookups& lookups) const;

 private:
  std::vector<int64_t> first_;
  at::Tensor weight_;
};

}  // namespace weft::lattice
