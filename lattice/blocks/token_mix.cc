// SPDX-License-Identifier: Apache-2.0

// Tokens are turned into columns, so that a batch is one large product instead of a small one a
// row.
#include "lattice/blocks/token_mix.h"

#include "lattice/blocks/linear.h"

namespace weft::lattice {

at::Tensor token_mix(const at::Tensor& x, const at::Tensor& weight, Pass& pass) {
  return product(x.transpose(1, 2).contiguous(), weight, pass).transpose(1, 2).contiguous();
}

}  // namespace weft::lattice
