// SPDX-License-Identifier: Apache-2.0

// The first stage of every network: columns become tokens of one width. Categorical columns are
// looked up, dense groups go through their MLPs, events become tokens that stay ragged.
#pragma once

#include <optional>

#include "lattice/blocks/dense_tokens.h"
#include "lattice/blocks/event_tokens.h"
#include "lattice/blocks/task_heads.h"
#include "lattice/networks/network.h"

namespace weft::lattice {

struct FeatureTokens {
  // [rows, tokens, width]: categorical columns, dense groups, then the teacher's token, which is
  // zero on a miss.
  at::Tensor rows;
  at::Tensor events;  // [events, width]; undefined without a sequence
};

class Features {
 public:
  Features(const Scope& scope, const NetworkInputs& inputs, int64_t width);
  FeatureTokens operator()(const TensorBatch& batch, const EmbeddingTable& tables,
                           Pass& pass) const;
  // Tokens of each row, without events.
  int64_t tokens() const { return tokens_; }
  bool has_events() const { return events_.has_value(); }

  // For networks without a sequence side: the mean of the events as one more token.
  // [rows, pooled_tokens(), width]
  at::Tensor pooled(const TensorBatch& batch, const EmbeddingTable& tables, Pass& pass) const;
  int64_t pooled_tokens() const { return tokens_ + (has_events() ? 1 : 0); }

 private:
  DenseTokens dense_;
  std::optional<EventTokens> events_;
  std::optional<Linear> teacher_;
  int64_t tokens_;
};

// The heads of the network's tasks, on an input of `in` numbers.
TaskHeadsShape heads_shape(const NetworkInputs& inputs, int64_t in, std::vector<int64_t> hidden);

}  // namespace weft::lattice
