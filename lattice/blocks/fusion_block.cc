// SPDX-License-Identifier: Apache-2.0

// X^T Y comes out of the token mix transposed, [rows, k, width], which is what the second product
// of the FM wants.
#include "lattice/blocks/fusion_block.h"

#include "lattice/blocks/token_mix.h"

namespace weft::lattice {

FusionBlock::FusionBlock(const Scope& scope, const FusionShape& shape)
    : shape_(shape),
      mix_(scope.matrix("mix", shape.tokens, shape.mixtures + shape.linear_tokens + shape.out())),
      flat_norm_(scope.in("flat_norm"), shape.tokens * shape.mixtures),
      last_(scope.in("last"), shape.groups,
            shape.hidden.empty() ? shape.tokens * shape.mixtures : shape.hidden.back(),
            shape.fm_tokens * shape.width),
      norm_(scope.in("norm"), shape.width),
      layers_(scope, shape.tokens * shape.mixtures, shape.hidden) {
  if (shape.cross_tokens > 0) {
    cross_down_.emplace(scope.in("cross_down"), shape.tokens * shape.width, shape.cross_rank);
    cross_up_.emplace(scope.in("cross_up"), shape.cross_rank, shape.tokens * shape.width);
    cross_mix_ = scope.matrix("cross_mix", shape.tokens, shape.cross_tokens);
  }
}

at::Tensor FusionBlock::operator()(const at::Tensor& x, const std::vector<int64_t>& sizes,
                                   Pass& pass) const {
  const int64_t rows = x.size(0), k = shape_.mixtures;
  const std::vector<at::Tensor> parts =
      token_mix(x, mix_, pass).split_with_sizes({k, shape_.linear_tokens, shape_.out()}, 1);
  pass.count(2.0 * static_cast<double>(x.numel() * k));
  const at::Tensor hidden =
      layers_(flat_norm_(at::bmm(x, parts[0].transpose(1, 2)).flatten(1)), pass);
  std::vector<at::Tensor> members = {
      last_(hidden, sizes, pass).view({rows, shape_.fm_tokens, shape_.width}), parts[1]};
  if (cross_down_) {
    const at::Tensor flat = x.flatten(1);
    const at::Tensor crossed = flat * (*cross_up_)((*cross_down_)(flat, pass), pass);
    members.push_back(token_mix(crossed.view_as(x), cross_mix_, pass));
  }
  return norm_(at::cat(members, 1) + parts[2]);
}

}  // namespace weft::lattice
