// SPDX-License-Identifier: Apache-2.0

// Matrix products of the networks. There is no additive bias: a bias drifts without bound when
// domains share a space, and a zero token (a feature that a domain lacks) has to stay zero.
#pragma once

#include "lattice/blocks/parameters.h"
#include "lattice/blocks/pass.h"

namespace weft::lattice {

// x [..., in] times weight [in, out].
at::Tensor product(const at::Tensor& x, const at::Tensor& weight, Pass& pass);

// x [rows, in] in runs of `size` rows, weights [runs, in, out]: a matrix for each run.
at::Tensor grouped_product(const at::Tensor& x, const at::Tensor& weights,
                           const std::vector<int64_t>& size, Pass& pass);

class Linear {
 public:
  Linear(const Scope& scope, int64_t in, int64_t out, double gain = 1)
      : weight_(scope.matrix("weight", in, out, gain)) {}
  at::Tensor operator()(const at::Tensor& x, Pass& pass) const { return product(x, weight_, pass); }

 private:
  at::Tensor weight_;
};

}  // namespace weft::lattice
