// SPDX-License-Identifier: Apache-2.0

// DCN of 2021 ("v2"): cross layers x' = x0 * (x W) + x beside a deep MLP, joined before the heads.
// (Wang et al. 2021, equation 1 without its bias.) A rank makes W a product of two thin matrices.
#pragma once

#include <optional>

#include "lattice/blocks/hidden_layers.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct DcnOptions {
  int64_t width = 32, crosses = 3;
  int64_t rank = 64;  // 0: full matrices
  std::vector<int64_t> hidden = {256, 128};
  std::vector<int64_t> head = {64};
};

Result<DcnOptions> read_dcn(Fields& fields);

class CrossLayer {
 public:
  CrossLayer(const Scope& scope, int64_t width, int64_t rank);
  at::Tensor operator()(const at::Tensor& first, const at::Tensor& x, Pass& pass) const;

 private:
  std::vector<Linear> factors_;  // one or two
};

class Dcn final : public Network {
 public:
  Dcn(const MakeNetwork& make, const DcnOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  Features features_;
  std::vector<CrossLayer> crosses_;
  HiddenLayers layers_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
