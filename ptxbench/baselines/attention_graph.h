// SPDX-License-Identifier: Apache-2.0

// Attention as a graph of cuDNN operations, forward with statistics and backward. The library runs
// the pattern as fused kernels; which operations in which order it recognises is its documented
// support surface for scaled dot-product attention.
#pragma once

#include "ptxbench/baselines/cudnn_graph.h"

namespace weft::baselines {

struct AttentionShape {
  int64_t batch = 0, tokens = 0, heads = 0, head_dim = 0;
  bool causal = false;
};

// The graph's real tensors, in the order in which addresses are given.
struct AttentionGraph {
  CudnnGraph graph;
  std::vector<int64_t> ids;          // forward: q k v o lse; backward: q k v o do lse dq dk dv
  std::vector<int64_t> scratch_ids;  // memory between the kernels
  std::vector<int64_t> scratch_bytes;
};

Result<AttentionGraph> attention_forward_graph(const Cudnn& library, cudnnHandle_t handle,
                                               const AttentionShape& shape);
Result<AttentionGraph> attention_backward_graph(const Cudnn& library, cudnnHandle_t handle,
                                                const AttentionShape& shape);

}  // namespace weft::baselines
