// SPDX-License-Identifier: Apache-2.0

// The gate is x * (x W) of the whole summary token by token, as InterFormer's text has it with the
// identity for its activation: a zero token stays zero. The plain token is added, so that the gate
// starts from the summary itself.
#include "lattice/blocks/sequence_summary.h"

namespace weft::lattice {

SequenceSummary::SequenceSummary(const Scope& scope, const SummaryShape& shape) : shape_(shape) {
  if (shape.policy != SequencePolicy::Summary) return;
  const int64_t head_width = shape.width / shape.heads;
  queries_ = scope.normal("queries", {shape.heads, head_width, shape.queries},
                          1 / std::sqrt(static_cast<double>(head_width)));
  key_value_.emplace(scope.in("key_value"), shape.width, 2 * shape.width);
  gate_.emplace(scope.in("gate"), shape.width, shape.width, 0.5);
}

at::Tensor newest(const at::Tensor& events, const Segments& segments, int64_t count) {
  // Where each event goes; events that are too old go to a place that is cut off.
  const at::Tensor row = segments.row_of_token();
  const at::Tensor from_end =
      segments.lengths().index_select(0, row) - 1 - segments.position_in_row();
  const at::Tensor place = row * count + (count - 1 - from_end);
  const at::Tensor kept = at::nonzero(from_end.lt(count)).flatten();
  at::Tensor made = at::zeros({segments.rows() * count, events.size(1)}, events.options());
  made = made.index_copy(0, place.index_select(0, kept).to(events.device()),
                         events.index_select(0, kept.to(events.device())));
  return made.view({segments.rows(), count, events.size(1)});
}

at::Tensor SequenceSummary::pooled(const at::Tensor& events, const Segments& segments,
                                   Pass& pass) const {
  const int64_t tokens = events.size(0), width = shape_.width, heads = shape_.heads;
  const int64_t head_width = width / heads, count = shape_.queries;
  const int64_t rows = segments.rows(), longest = segments.longest();
  const std::vector<at::Tensor> parts = (*key_value_)(events, pass).split(width, 1);
  const at::Tensor keys = parts[0].reshape({tokens, heads, head_width}).transpose(0, 1);
  pass.count(4.0 * static_cast<double>(tokens * width * count));
  // [heads, tokens, queries] -> [tokens, heads * queries] -> padded
  const at::Tensor scores = at::matmul(keys, queries_).transpose(0, 1).flatten(1);
  const at::Tensor inside = at::arange(longest, at::kLong)
                                .unsqueeze(0)
                                .lt(segments.lengths().unsqueeze(1))
                                .to(events.device())
                                .unsqueeze(2);
  // An empty history would give equal weights to nothing: they are made zero.
  const at::Tensor weight =
      pad(scores, segments).masked_fill(inside.logical_not(), -1e30).softmax(1) * inside;
  const at::Tensor spread = weight.view({rows, longest, heads, count}).permute({0, 2, 3, 1});
  const at::Tensor values =
      pad(parts[1], segments).view({rows, longest, heads, head_width}).transpose(1, 2);
  // [rows, heads, queries, head_width]
  return at::matmul(spread, values).transpose(1, 2).reshape({rows, count, width});
}

at::Tensor SequenceSummary::operator()(const at::Tensor& events, const Segments& segments,
                                       Pass& pass) const {
  if (segments.tokens() == 0)
    return at::zeros({segments.rows(), shape_.tokens(), shape_.width}, events.options());
  if (shape_.policy == SequencePolicy::All) return newest(events, segments, shape_.length);
  if (shape_.policy == SequencePolicy::Mean) return segment_mean(events, segments).unsqueeze(1);
  const at::Tensor summary =
      at::cat({pooled(events, segments, pass), newest(events, segments, shape_.recent)}, 1);
  return summary + summary * (*gate_)(summary, pass);
}

}  // namespace weft::lattice
