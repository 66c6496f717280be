// SPDX-License-Identifier: Apache-2.0

// Self-attention inside short histories, fp32, a history at a time: its queries, keys and values
// stay in the nearest cache and no score leaves it. Nothing is kept for the way back but the input;
// scores are computed again, which costs less than writing them out.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::lattice {

struct AttentionShape {
  int64_t heads = 1, head_width = 16;  // head_width is even
  float epsilon = 0;                   // of the norms of queries and keys
  // cos and sin of position times frequency, [longest, head_width / 2].
  const float* cosine = nullptr;
  const float* sine = nullptr;
  const float* gain_q = nullptr;  // [heads * head_width]
  const float* gain_k = nullptr;

  int64_t width() const { return heads * head_width; }
};

// Memory of one worker, reused from history to history.
struct AttentionScratch {
  std::vector<float> memory;
};

// qkv [length, 3 * width], out [length, width].
void attention_forward(const AttentionShape& shape, int64_t length, const float* qkv, float* out,
                       AttentionScratch& scratch);
// dqkv is written; dgain_q and dgain_k [width] are added to.
void attention_backward(const AttentionShape& shape, int64_t length, const float* qkv,
                        const float* dout, float* dqkv, float* dgain_q, float* dgain_k,
                        AttentionScratch& scratch);

}  // namespace weft::lattice
