// SPDX-License-Identifier: Apache-2.0

// Weights of which conflicting domains have copies of their own. Rows are sorted by their group of
// domains once, at the start of a forward pass; from then on a group is a run of rows, and a
// product with untied weights is one product a group, without moving anything.
#pragma once

#include "lattice/blocks/linear.h"
#include "lattice/blocks/segments.h"

namespace weft::lattice {

// A stable counting sort of rows by group.
struct GroupOrder {
  at::Tensor order;           // int64 [rows]: which row comes at each place
  at::Tensor place;           // int64 [rows]: the place of each row
  std::vector<int64_t> size;  // rows of each group
};
GroupOrder order_by_group(const at::Tensor& group, int64_t groups);

// How many tokens each run of rows has.
std::vector<int64_t> token_sizes(const std::vector<int64_t>& row_sizes, const Segments& segments);

// Copies start equal. With one group it is a plain product.
class UntiedLinear {
 public:
  UntiedLinear(const Scope& scope, int64_t groups, int64_t in, int64_t out, double gain = 1)
      : weights_(scope.matrices("weight", groups, in, out, gain)) {}
  at::Tensor operator()(const at::Tensor& x, const std::vector<int64_t>& size, Pass& pass) const {
    return weights_.size(0) == 1 ? product(x, weights_[0], pass)
                                 : grouped_product(x, weights_, size, pass);
  }

 private:
  at::Tensor weights_;
};

}  // namespace weft::lattice
