// SPDX-License-Identifier: Apache-2.0

// Multi-head self-attention of each history with itself, over tokens laid end to end. Queries and
// keys are normed per head (their products cannot blow up) and then rotated by their position
// (RoPE). No causal mask: a history is all past. An empty history has no tokens and gets none.
#pragma once

#include "lattice/blocks/parameters.h"
#include "lattice/blocks/pass.h"
#include "lattice/blocks/segments.h"

namespace weft::lattice {

struct AttentionGains {
  at::Tensor q, k;  // [width]
};

// qkv [tokens, 3 * width]: queries, keys, values, each head by head -> [tokens, width]
at::Tensor attention(const at::Tensor& qkv, const AttentionGains& gains, int64_t heads,
                     const Segments& segments, Pass& pass);

}  // namespace weft::lattice
