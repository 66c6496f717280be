// SPDX-License-Identifier: Apache-2.0

// Dense features as tokens: each group of columns goes through a small MLP of its own and becomes
// tokens of the common width. The MLP sees the values and which of them are known, so an unknown
// value differs from a zero, and a group of which nothing is known is a zero token.
#pragma once

#include "lattice/blocks/linear.h"
#include "lattice/blocks/norm.h"

namespace weft::lattice {

struct DenseTokensShape {
  std::vector<std::vector<int64_t>> groups;  // columns of each
  int64_t width = 64;
  int64_t hidden = 64;
  int64_t tokens = 1;  // of each group
};

class DenseTokens {
 public:
  DenseTokens(const Scope& scope, const DenseTokensShape& shape);
  int64_t count() const { return static_cast<int64_t>(groups_.size()) * shape_.tokens; }
  // values and present [rows, columns] -> [rows, count(), width]
  at::Tensor operator()(const at::Tensor& values, const at::Tensor& present, Pass& pass) const;

 private:
  struct Group {
    at::Tensor columns;
    Linear first;
    SwishRmsNorm norm;
    Linear second;
  };
  DenseTokensShape shape_;
  std::vector<Group> groups_;
};

}  // namespace weft::lattice
