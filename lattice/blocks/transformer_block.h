// SPDX-License-Identifier: Apache-2.0

// TB: the sequence side of a layer, over events laid end to end.
//
//   x += attention(norm(x) W_qkv) W_o
//   x += swish_norm(norm(x) W_1) W_2         W_1 and W_2 of the row's group of domains
#pragma once

#include "lattice/blocks/attention.h"
#include "lattice/blocks/linear.h"
#include "lattice/blocks/norm.h"
#include "lattice/blocks/untied.h"

namespace weft::lattice {

struct TransformerShape {
  int64_t width = 64, heads = 2, hidden = 256;
  int64_t groups = 1;  // of untied weights
};

class TransformerBlock {
 public:
  TransformerBlock(const Scope& scope, const TransformerShape& shape);
  // x [tokens, width]; tokens in runs of these sizes.
  at::Tensor operator()(const at::Tensor& x, const Segments& segments,
                        const std::vector<int64_t>& sizes, Pass& pass) const;

 private:
  int64_t heads_;
  RmsNorm before_attention_;
  Linear qkv_;
  AttentionGains gains_;
  Linear out_;
  RmsNorm before_feed_;
  UntiedLinear first_;
  SwishRmsNorm feed_norm_;
  UntiedLinear second_;
};

}  // namespace weft::lattice
