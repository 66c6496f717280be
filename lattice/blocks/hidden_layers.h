// SPDX-License-Identifier: Apache-2.0

// Hidden layers of an MLP, each SwishRMSNorm(x W).
#pragma once

#include <vector>

#include "lattice/blocks/linear.h"
#include "lattice/blocks/norm.h"

namespace weft::lattice {

class HiddenLayers {
 public:
  // No widths: what comes in goes out.
  HiddenLayers(const Scope& scope, int64_t in, const std::vector<int64_t>& widths);

  // x [..., in] -> [..., out()].
  at::Tensor operator()(at::Tensor x, Pass& pass) const;
  int64_t out() const { return out_; }
  bool empty() const { return layers_.empty(); }

 private:
  std::vector<Linear> layers_;
  std::vector<SwishRmsNorm> norms_;
  int64_t out_;
};

}  // namespace weft::lattice
