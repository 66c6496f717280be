// SPDX-License-Identifier: Apache-2.0

// The plainest baselines: all tokens laid side by side and hidden layers. `mlp` reads the logits
// off the last layer; in `shared_bottom` each task has a tower of its own on it (Caruana 1997).
#pragma once

#include <optional>

#include "lattice/blocks/hidden_layers.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct MlpOptions {
  int64_t width = 32;
  std::vector<int64_t> hidden = {256, 128};
  std::vector<int64_t> head;
};

Result<MlpOptions> read_mlp(Fields& fields);
Result<MlpOptions> read_shared_bottom(Fields& fields);

class Mlp final : public Network {
 public:
  Mlp(const MakeNetwork& make, const MlpOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  Features features_;
  HiddenLayers layers_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
