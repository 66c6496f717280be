// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/baselines/attention_graph.h"

#include <cmath>
#include <limits>

namespace weft::baselines {
namespace {

// The extents and strides of the tensors of one shape: [batch, heads, tokens, head_dim].
struct Layout {
  explicit Layout(const AttentionShape& s)
      : full{s.batch, s.heads, s.tokens, s.head_dim},
        full_strides{s.heads * s.tokens * s.head_dim, s.tokens * s.head_dim, s.head_dim, 1},
        turned{s.batch, s.heads, s.head_dim, s.tokens},
        turned_strides{full_strides[0], full_strides[1], 1, full_strides[2]},
        scores{s.batch, s.heads, s.tokens, s.tokens},
        scores_turned_strides{s.heads * s.tokens * s.tokens, s.tokens * s.tokens, 1, s.tokens},
        rows{s.batch, s.heads, s.tokens, 1},
        row_strides{s.heads * s.tokens, s.tokens, 1, 1} {}
  Extents full, full_strides, turned, turned_strides, scores, scores_turned_strides, rows,
      row_strides;
};

float scale_of(const AttentionShape& shape) {
  return 1 / std::sqrt(static_cast<float>(shape.head_dim));
}

// Scores that a query must not see become the lowest number.
Result<GraphTensor> mask(CudnnGraph& graph, const GraphTensor& scores, const Layout& layout) {
  const GraphTensor row = TRY(graph.inner(CUDNN_DATA_INT32, layout.scores));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_GEN_INDEX, .x = &scores, .axis = 2}, row));
  const GraphTensor column = TRY(graph.inner(CUDNN_DATA_INT32, layout.scores));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_GEN_INDEX, .x = &scores, .axis = 3}, column));
  const GraphTensor visible = TRY(graph.inner(CUDNN_DATA_BOOLEAN, layout.scores));
  TRY(graph.pointwise(
      {.mode = CUDNN_POINTWISE_CMP_GE, .x = &row, .b = &column, .math = CUDNN_DATA_BOOLEAN},
      visible));
  const GraphTensor lowest = TRY(graph.number(std::numeric_limits<float>::lowest()));
  const GraphTensor masked = TRY(graph.inner(CUDNN_DATA_FLOAT, layout.scores));
  TRY(graph.pointwise(
      {.mode = CUDNN_POINTWISE_BINARY_SELECT, .x = &scores, .b = &lowest, .t = &visible}, masked));
  return masked;
}

// The inner result of one operation on tensors of the scores' extents.
Result<GraphTensor> on_scores(CudnnGraph& graph, const Layout& layout, cudnnPointwiseMode_t mode,
                              const GraphTensor& x, const GraphTensor* b,
                              cudnnDataType_t type = CUDNN_DATA_FLOAT) {
  const GraphTensor made = TRY(graph.inner(type, layout.scores));
  TRY(graph.pointwise({.mode = mode, .x = &x, .b = b}, made));
  return made;
}

}  // namespace

Result<AttentionGraph> attention_forward_graph(const Cudnn& library, cudnnHandle_t handle,
                                               const AttentionShape& shape) {
  const Layout layout(shape);
  AttentionGraph made{TRY(CudnnGraph::create(library, handle)), {}, {}, {}};
  CudnnGraph& graph = made.graph;
  constexpr cudnnDataType_t kType = CUDNN_DATA_BFLOAT16, kSums = CUDNN_DATA_FLOAT;
  const GraphTensor q = TRY(graph.real(kType, layout.full, layout.full_strides));
  const GraphTensor k = TRY(graph.real(kType, layout.turned, layout.turned_strides));
  const GraphTensor v = TRY(graph.real(kType, layout.full, layout.full_strides));
  const GraphTensor o = TRY(graph.real(kType, layout.full, layout.full_strides));
  const GraphTensor lse = TRY(graph.real(kSums, layout.rows, layout.row_strides));
  const GraphTensor scale = TRY(graph.number(scale_of(shape)));

  const GraphTensor raw = TRY(graph.inner(kSums, layout.scores));
  TRY(graph.product(q, k, raw));
  GraphTensor scores = TRY(on_scores(graph, layout, CUDNN_POINTWISE_MUL, raw, &scale));
  if (shape.causal) scores = TRY(mask(graph, scores, layout));
  const GraphTensor largest = TRY(graph.inner(kSums, layout.rows, layout.row_strides));
  TRY(graph.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, largest));
  const GraphTensor shifted = TRY(on_scores(graph, layout, CUDNN_POINTWISE_SUB, scores, &largest));
  const GraphTensor powers = TRY(on_scores(graph, layout, CUDNN_POINTWISE_EXP, shifted, nullptr));
  const GraphTensor sum = TRY(graph.inner(kSums, layout.rows, layout.row_strides));
  TRY(graph.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum));
  const GraphTensor logarithm = TRY(graph.inner(kSums, layout.rows, layout.row_strides));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_LOG, .x = &sum}, logarithm));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_ADD, .x = &largest, .b = &logarithm}, lse));
  const GraphTensor p = TRY(on_scores(graph, layout, CUDNN_POINTWISE_DIV, powers, &sum, kType));
  TRY(graph.product(p, v, o));
  made.ids = {q.id, k.id, v.id, o.id, lse.id};
  return made;
}

Result<AttentionGraph> attention_backward_graph(const Cudnn& library, cudnnHandle_t handle,
                                                const AttentionShape& shape) {
  const Layout layout(shape);
  AttentionGraph made{TRY(CudnnGraph::create(library, handle)), {}, {}, {}};
  CudnnGraph& graph = made.graph;
  constexpr cudnnDataType_t kType = CUDNN_DATA_BFLOAT16, kSums = CUDNN_DATA_FLOAT;
  const auto full = [&] { return graph.real(kType, layout.full, layout.full_strides); };
  const auto turned = [&] { return graph.real(kType, layout.turned, layout.turned_strides); };
  const GraphTensor q = TRY(full()), k = TRY(turned()), v = TRY(turned());
  const GraphTensor o = TRY(full()), d_o = TRY(full());
  const GraphTensor lse = TRY(graph.real(kSums, layout.rows, layout.row_strides));
  const GraphTensor dq = TRY(full()), dk = TRY(full()), dv = TRY(full());
  const GraphTensor one = TRY(graph.number(1)), scale = TRY(graph.number(scale_of(shape)));

  // delta = rowsum(dO * O), which the library wants to compute itself.
  const Extents interleaved = {shape.heads * shape.tokens * shape.head_dim,
                               shape.tokens * shape.head_dim, shape.heads * shape.head_dim, 1};
  const GraphTensor weighted = TRY(graph.inner(kSums, layout.full, interleaved));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_MUL, .x = &d_o, .b = &o}, weighted));
  const GraphTensor summed = TRY(graph.inner(kSums, layout.rows, layout.row_strides));
  TRY(graph.reduce(CUDNN_REDUCE_TENSOR_ADD, weighted, summed));
  const GraphTensor delta = TRY(graph.real(kSums, layout.rows, layout.row_strides));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_MUL, .x = &summed, .b = &one}, delta));

  // P = exp(Q K^T scale - lse); dV = P^T dO.
  const GraphTensor raw = TRY(graph.inner(kSums, layout.scores));
  TRY(graph.product(q, k, raw));
  const GraphTensor scaled = TRY(on_scores(graph, layout, CUDNN_POINTWISE_MUL, raw, &scale));
  GraphTensor shifted = TRY(on_scores(graph, layout, CUDNN_POINTWISE_SUB, scaled, &lse));
  if (shape.causal) shifted = TRY(mask(graph, shifted, layout));
  const GraphTensor p = TRY(on_scores(graph, layout, CUDNN_POINTWISE_EXP, shifted, nullptr));
  const GraphTensor p_turned = TRY(graph.inner(kType, layout.scores, layout.scores_turned_strides));
  TRY(graph.reshape(p, p_turned));
  TRY(graph.product(p_turned, d_o, dv));

  // dS = P * (dO V^T - delta) * scale; dK = dS^T Q; dQ = dS K.
  const GraphTensor dp = TRY(graph.inner(kSums, layout.scores));
  TRY(graph.product(d_o, v, dp));
  const GraphTensor centred = TRY(on_scores(graph, layout, CUDNN_POINTWISE_SUB, dp, &delta));
  const GraphTensor weighed = TRY(on_scores(graph, layout, CUDNN_POINTWISE_MUL, centred, &p));
  const GraphTensor ds = TRY(on_scores(graph, layout, CUDNN_POINTWISE_MUL, weighed, &scale, kType));
  const GraphTensor ds_turned =
      TRY(graph.inner(kType, layout.scores, layout.scores_turned_strides));
  TRY(graph.reshape(ds, ds_turned));
  TRY(graph.product(ds_turned, q, dk));
  const GraphTensor k_back = TRY(graph.inner(kType, layout.full, layout.full_strides));
  TRY(graph.reshape(k, k_back));
  const GraphTensor dq_sums = TRY(graph.real(kSums, layout.full, layout.full_strides));
  TRY(graph.product(ds, k_back, dq_sums));
  TRY(graph.pointwise({.mode = CUDNN_POINTWISE_IDENTITY, .x = &dq_sums}, dq));

  made.ids = {q.id, k.id, v.id, o.id, d_o.id, lse.id, dq.id, dk.id, dv.id};
  made.scratch_ids = {delta.id, dq_sums.id};
  const int64_t rows = shape.batch * shape.heads * shape.tokens;
  made.scratch_bytes = {rows * 4, rows * shape.head_dim * 4};
  return made;
}

}  // namespace weft::baselines
