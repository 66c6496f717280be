// SPDX-License-Identifier: Apache-2.0

// A network: embedding tables, dense weights, and a way from a batch to logits. A trainer does
//
//   Pass pass;
//   const at::Tensor logits = network.forward(batch, pass);  // [rows, tasks, windows]
//   loss(logits, batch).backward();
//   dense optimiser:  network.parameters().all(), whose tensors have .grad()
//   table optimiser:  for each lookup of pass.lookups: lookup.rows, lookup.gradient(),
//                     written into network.tables().weight()
//
// Under at::NoGradGuard nothing is kept for the way back.
#pragma once

#include "lattice/blocks/linear.h"
#include "lattice/networks/batch.h"
#include "lattice/networks/inputs.h"
#include "lattice/schema/fields.h"

namespace weft::lattice {

class Network {
 public:
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // [rows, tasks, windows of the task with the most]; see TaskHeads. Distillation heads come after
  // the tasks, unless the pass is for serving.
  virtual at::Tensor forward(const TensorBatch& batch, Pass& pass) const = 0;

  const NetworkInputs& inputs() const { return inputs_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  EmbeddingTable& tables() { return tables_; }
  const EmbeddingTable& tables() const { return tables_; }

 protected:
  Network(NetworkInputs inputs, int64_t width, uint64_t seed, at::ScalarType type);

 private:
  NetworkInputs inputs_;
  Parameters parameters_;
  EmbeddingTable tables_;
};

// What networks of one kind share in their options.
struct MakeNetwork {
  NetworkInputs inputs;
  uint64_t seed = 1;
  at::ScalarType type = at::kFloat;  // float64 for checks of derivatives
};

// From a map like {kind: mlp, width: 32, hidden: [256, 128]}: an unknown kind or key is an error.
// Products then run on all cores, or on OMP_NUM_THREADS of them.
Result<std::unique_ptr<Network>> make_network(const YamlDocument& document, const YamlNode& node,
                                              const MakeNetwork& make);
std::vector<std::string> network_kinds();

// [rows, tasks] at each task's longest window, as probabilities' logits to be served.
at::Tensor served_logits(const Network& network, const at::Tensor& logits);

// Counted by the blocks during a forward pass over rows with histories of the full length.
double flops_per_sample(const Network& network);
// Numbers of a row that the heads read: the width of what a teacher keeps.
int64_t backbone_width(const Network& network);
uint64_t dense_parameters(const Network& network);
uint64_t table_parameters(const Network& network);

}  // namespace weft::lattice
