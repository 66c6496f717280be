// SPDX-License-Identifier: Apache-2.0

// DWFB: the non-sequence side of a layer, a DHEN frame around Wukong's pair of interactions.
//
//   FM(X)  = X (X^T Y)                 every token against k learned mixtures of tokens
//   FMB(X) = MLP(norm(flat(FM(X))))    as n_F tokens; its last matrix may be untied
//   LCB(X) = W_L X                     n_L tokens
//   cross  = W_C (X * (flat(X) V U))   n_C tokens, DCN-v2 of low rank; optional
//   X'     = norm([FMB | LCB | cross] + W_R X)
//
// Interactions double in order with each layer; both linear paths stay, because Wukong's ablations
// lose most without them.
#pragma once

#include <optional>

#include "lattice/blocks/hidden_layers.h"
#include "lattice/blocks/untied.h"

namespace weft::lattice {

struct FusionShape {
  int64_t tokens = 0;  // of the input
  int64_t width = 64;
  int64_t mixtures = 8;  // k
  int64_t fm_tokens = 16, linear_tokens = 16;
  std::vector<int64_t> hidden = {256};
  int64_t cross_tokens = 0, cross_rank = 32;  // no tokens: no cross
  int64_t groups = 1;                         // of untied weights

  int64_t out() const { return fm_tokens + linear_tokens + cross_tokens; }
};

class FusionBlock {
 public:
  FusionBlock(const Scope& scope, const FusionShape& shape);
  // x [rows, tokens, width] -> [rows, out(), width]; rows in runs of these sizes.
  at::Tensor operator()(const at::Tensor& x, const std::vector<int64_t>& sizes, Pass& pass) const;

 private:
  FusionShape shape_;
  // [tokens, k + n_L + out]: Y, W_L and W_R side by side, so that X is read once.
  at::Tensor mix_;
  RmsNorm flat_norm_;
  UntiedLinear last_;
  std::optional<Linear> cross_down_, cross_up_;
  at::Tensor cross_mix_;  // [tokens, n_C]
  RmsNorm norm_;
  HiddenLayers layers_;
};

}  // namespace weft::lattice
