// SPDX-License-Identifier: Apache-2.0

// SeqToDense: how a history of any length enters the non-sequence side as a fixed number of tokens.
//
//   All      every event, the newest last, zeros before the oldest
//   Summary  pooling by attention with learned queries, and the newest events as they are; gated
//   Mean     the mean of the events
//
// Every policy gives zeros for an empty history.
#pragma once

#include <optional>

#include "lattice/blocks/linear.h"
#include "lattice/blocks/segments.h"

namespace weft::lattice {

enum class SequencePolicy : uint8_t { All, Summary, Mean };

struct SummaryShape {
  SequencePolicy policy = SequencePolicy::Summary;
  int64_t width = 64;
  int64_t length = 50;  // the most events of a history
  int64_t heads = 2, queries = 4, recent = 4;

  int64_t tokens() const {
    return policy == SequencePolicy::All    ? length
           : policy == SequencePolicy::Mean ? 1
                                            : queries + recent;
  }
};

class SequenceSummary {
 public:
  SequenceSummary(const Scope& scope, const SummaryShape& shape);
  // events [tokens, width] -> [rows, shape.tokens(), width]
  at::Tensor operator()(const at::Tensor& events, const Segments& segments, Pass& pass) const;

 private:
  at::Tensor pooled(const at::Tensor& events, const Segments& segments, Pass& pass) const;

  SummaryShape shape_;
  at::Tensor queries_;  // [heads, head_width, queries]
  std::optional<Linear> key_value_, gate_;
};

// The newest `count` events of each history, the newest last: [rows, count, width].
at::Tensor newest(const at::Tensor& events, const Segments& segments, int64_t count);

}  // namespace weft::lattice
