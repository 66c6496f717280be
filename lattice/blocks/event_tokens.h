// SPDX-License-Identifier: Apache-2.0

// Events of a history as tokens: the embeddings of an event's columns and the bucket of the time
// since then, joined and mapped to the common width. Buckets double: 0-1 s, 1-3 s, 3-7 s, ... The
// matrix rows behind the bucket's one-hot code are the embedding of the time gap.
#pragma once

#include "lattice/blocks/linear.h"

namespace weft::lattice {

constexpr int64_t kGapBuckets = 32;

// floor(log2(age + 1)), at most 31; an age below zero counts as zero.
at::Tensor gap_bucket(const at::Tensor& age_seconds);

class EventTokens {
 public:
  EventTokens(const Scope& scope, int64_t columns, int64_t width)
      : map_(scope.in("map"), columns * width + kGapBuckets, width) {}
  // values [events, columns, width], age [events] -> [events, width]
  at::Tensor operator()(const at::Tensor& values, const at::Tensor& age, Pass& pass) const;

 private:
  Linear map_;
};

}  // namespace weft::lattice
