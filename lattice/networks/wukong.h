// SPDX-License-Identifier: Apache-2.0

// Wukong: a stack of FMB and LCB side by side with a residual (Zhang et al. 2024), on the tokens of
// the columns and the mean of the history.
#pragma once

#include <optional>

#include "lattice/blocks/fusion_block.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct WukongOptions {
  int64_t width = 32, layers = 3;
  int64_t mixtures = 8, fm_tokens = 16, linear_tokens = 16;
  std::vector<int64_t> fm_hidden = {256};
  std::vector<int64_t> head = {64};
};

Result<WukongOptions> read_wukong(Fields& fields);

class Wukong final : public Network {
 public:
  Wukong(const MakeNetwork& make, const WukongOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  Features features_;
  RmsNorm token_norm_;
  std::vector<FusionBlock> layers_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
