// SPDX-License-Identifier: Apache-2.0

// DLRM: dot products of all pairs of tokens, beside the dense tokens themselves, into a top MLP.
// (Naumov et al. 2019.) Histories enter as their mean.
#pragma once

#include <optional>

#include "lattice/blocks/hidden_layers.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct DlrmOptions {
  int64_t width = 32;
  std::vector<int64_t> hidden = {256, 128};
  std::vector<int64_t> head = {64};
};

Result<DlrmOptions> read_dlrm(Fields& fields);

// x [rows, n, width] -> [rows, n (n - 1) / 2]: row by row of the lower triangle.
at::Tensor pairwise_products(const at::Tensor& x, Pass& pass);

class Dlrm final : public Network {
 public:
  Dlrm(const MakeNetwork& make, const DlrmOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  Features features_;
  int64_t categorical_;
  HiddenLayers layers_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
