// SPDX-License-Identifier: Apache-2.0

// Rows start as normal numbers of deviation 1 / sqrt(width): a dot product of two rows is then of
// that size, too small to decide anything before training has.
#include "lattice/blocks/embedding_table.h"

#include "base/invariant.h"

namespace weft::lattice {

at::Tensor Lookup::gradient() const {
  const int64_t width = values.size(-1);
  INVARIANT(values.grad().defined());
  return values.grad().reshape({-1, width}).masked_fill(rows.reshape({-1, 1}).eq(0), 0);
}

EmbeddingTable::EmbeddingTable(const std::vector<int64_t>& sizes, int64_t width, uint64_t seed,
                               at::ScalarType type) {
  int64_t rows = 1;
  for (const int64_t size : sizes) {
    first_.push_back(rows);
    rows += size;
  }
  at::Generator generator = at::detail::createCPUGenerator(seed);
  weight_ = at::empty({rows, width}, type);
  weight_.normal_(0, 1 / std::sqrt(static_cast<double>(width)), generator);
  weight_[0].zero_();
}

at::Tensor EmbeddingTable::look_up(const at::Tensor& rows, Lookups& lookups) const {
  std::vector<int64_t> shape = rows.sizes().vec();
  shape.push_back(width());
  at::Tensor values = weight_.index_select(0, rows.reshape({-1})).view(shape);
  if (at::GradMode::is_enabled()) {
    values.requires_grad_(true);
    lookups.push_back({rows, values});
  }
  return values;
}

}  // namespace weft::lattice
