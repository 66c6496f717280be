// SPDX-License-Identifier: Apache-2.0

// Matrices that write to the residual stream start at half their size, so that two of them a layer
// do not drown it.
#include "lattice/blocks/transformer_block.h"

#include "base/invariant.h"

namespace weft::lattice {

TransformerBlock::TransformerBlock(const Scope& scope, const TransformerShape& shape)
    : heads_(shape.heads),
      before_attention_(scope.in("before_attention"), shape.width),
      qkv_(scope.in("qkv"), shape.width, 3 * shape.width),
      gains_{scope.constant("gain_q", {shape.width}, 1),
             scope.constant("gain_k", {shape.width}, 1)},
      out_(scope.in("out"), shape.width, shape.width, 0.5),
      before_feed_(scope.in("before_feed"), shape.width),
      first_(scope.in("first"), shape.groups, shape.width, shape.hidden),
      feed_norm_(scope.in("feed_norm"), shape.hidden),
      second_(scope.in("second"), shape.groups, shape.hidden, shape.width, 0.5) {
  INVARIANT(shape.width % (2 * shape.heads) == 0);
}

at::Tensor TransformerBlock::operator()(const at::Tensor& x, const Segments& segments,
                                        const std::vector<int64_t>& sizes, Pass& pass) const {
  const at::Tensor mixed =
      attention(qkv_(before_attention_(x), pass), gains_, heads_, segments, pass);
  const at::Tensor y = x + out_(mixed, pass);
  return y + second_(feed_norm_(first_(before_feed_(y), sizes, pass)), sizes, pass);
}

}  // namespace weft::lattice
