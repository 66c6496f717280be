// SPDX-License-Identifier: Apache-2.0

// ECS: earlier activations that later layers may read, long residuals in the manner of DenseNet. A
// layer reads all entries at once, as a few tokens that are linear mixtures of all stored tokens.
#pragma once

#include "lattice/blocks/token_mix.h"

namespace weft::lattice {

// Of one forward pass.
class ContextStore {
 public:
  void put(const at::Tensor& tokens) { entries_.push_back(tokens); }  // [rows, n, width]
  const std::vector<at::Tensor>& entries() const { return entries_; }

 private:
  std::vector<at::Tensor> entries_;
};

class ContextReader {
 public:
  // `stored`: tokens of all entries together at the time of reading.
  ContextReader(const Scope& scope, int64_t stored, int64_t tokens)
      : mix_(scope.in("mix"), stored, tokens) {}
  // [rows, tokens, width]
  at::Tensor operator()(const ContextStore& store, Pass& pass) const {
    return mix_(at::cat(store.entries(), 1), pass);
  }

 private:
  TokenMix mix_;
};

}  // namespace weft::lattice
