// SPDX-License-Identifier: Apache-2.0

// Linear maps along the token axis (the LCB of Wukong): each new token is a weighted sum of the old
// ones, the same for all dimensions of a token.
#pragma once

#include "lattice/blocks/parameters.h"
#include "lattice/blocks/pass.h"

namespace weft::lattice {

// x [rows, in, width], weight [in, out] -> [rows, out, width]
at::Tensor token_mix(const at::Tensor& x, const at::Tensor& weight, Pass& pass);

class TokenMix {
 public:
  TokenMix(const Scope& scope, int64_t in, int64_t out)
      : weight_(scope.matrix("weight", in, out)) {}
  at::Tensor operator()(const at::Tensor& x, Pass& pass) const {
    return token_mix(x, weight_, pass);
  }

 private:
  at::Tensor weight_;
};

}  // namespace weft::lattice
