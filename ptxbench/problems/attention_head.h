// SPDX-License-Identifier: Apache-2.0

// One head of attention on dense matrices, in float32 or float64: what dense, ragged, paged and
// latent attention have in common once their rows are gathered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::problems {

template <typename Real>
struct AttentionHead {
  int64_t queries = 0, keys = 0;
  int64_t dim = 0, value_dim = 0;  // columns of q and k, and of v
  Real scale = 1;
  bool causal = false;  // aligned at the end: query i sees keys 0 ... i + keys - queries
  const Real* q = nullptr;
  const Real* k = nullptr;
  const Real* v = nullptr;

  // Keys that a query sees: 0 ... visible - 1.
  int64_t visible(int64_t query) const {
    return causal ? std::clamp<int64_t>(query + 1 + keys - queries, 0, keys) : keys;
  }
};

// o (queries, value_dim) and lse (queries). A row without keys gets zeros and minus infinity.
template <typename Real>
void attend(const AttentionHead<Real>& head, Real* o, Real* lse);

template <typename Real>
struct HeadGradients {
  std::vector<Real> dq, dk, dv;
};

// `grad` is the gradient of o, `lse` and `delta` have one value a query.
template <typename Real>
HeadGradients<Real> attend_backward(const AttentionHead<Real>& head, const Real* grad,
                                    const Real* lse, const Real* delta);

}  // namespace weft::problems
