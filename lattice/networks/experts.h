// SPDX-License-Identifier: Apache-2.0

// Mixtures of experts for several tasks, MMoE and PLE.
//
//   MMoE (Ma et al. 2018): all experts are shared; each task mixes them by a gate of its own.
//   PLE (Tang et al. 2020): tasks also have experts of their own. The gate of a task sees those and
//   the shared ones; between levels a gate of the shared side sees all.
#pragma once

#include <optional>

#include "lattice/blocks/hidden_layers.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct ExpertsOptions {
  int64_t width = 32;
  int64_t shared = 4;  // experts
  int64_t own = 0;     // experts of each task; none in MMoE
  int64_t levels = 1;
  std::vector<int64_t> hidden = {128, 64};  // of an expert
  std::vector<int64_t> head = {64};
};

Result<ExpertsOptions> read_mmoe(Fields& fields);
Result<ExpertsOptions> read_ple(Fields& fields);

// x [rows, experts, width] mixed by softmax(gate [rows, experts]): [rows, width].
at::Tensor gated_mean(const at::Tensor& experts, const at::Tensor& gate, Pass& pass);

class Experts final : public Network {
 public:
  Experts(const MakeNetwork& make, const ExpertsOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  struct Side {  // the shared one, or that of a task
    std::vector<HiddenLayers> experts;
    std::optional<Linear> gate;  // none for the shared side of the last level
  };
  struct Level {
    Side shared;
    std::vector<Side> tasks;
  };
  static at::Tensor run(const std::vector<HiddenLayers>& experts, const at::Tensor& x, Pass& pass);

  Features features_;
  std::vector<Level> levels_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
