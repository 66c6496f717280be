// SPDX-License-Identifier: Apache-2.0

// The table of kinds, and what is counted of any of them.
#include "lattice/networks/network.h"

#include <ATen/Parallel.h>

#include <cstdlib>

#include "base/parallel.h"
#include "lattice/blocks/fp32_product.h"
#include "lattice/blocks/task_heads.h"
#include "lattice/networks/dcn.h"
#include "lattice/networks/dlrm.h"
#include "lattice/networks/experts.h"
#include "lattice/networks/interformer.h"
#include "lattice/networks/lattice_network.h"
#include "lattice/networks/mlp.h"
#include "lattice/networks/wukong.h"

namespace weft::lattice {
namespace {

struct Kind {
  const char* name;
  Result<std::unique_ptr<Network>> (*make)(Fields& fields, const MakeNetwork& make);
};

template <typename Made, auto read>
Result<std::unique_ptr<Network>> make_kind(Fields& fields, const MakeNetwork& make) {
  const auto options = TRY(read(fields));
  TRY(fields.finish());
  return std::unique_ptr<Network>(std::make_unique<Made>(make, options));
}

constexpr Kind kKinds[] = {
    {"lattice", make_kind<LatticeNetwork, read_lattice>},
    {"mlp", make_kind<Mlp, read_mlp>},
    {"shared_bottom", make_kind<Mlp, read_shared_bottom>},
    {"dlrm", make_kind<Dlrm, read_dlrm>},
    {"dcn", make_kind<Dcn, read_dcn>},
    {"wukong", make_kind<Wukong, read_wukong>},
    {"interformer", make_kind<Interformer, read_interformer>},
    {"mmoe", make_kind<Experts, read_mmoe>},
    {"ple", make_kind<Experts, read_ple>},
};

std::vector<int64_t> table_sizes(const NetworkInputs& inputs) {
  std::vector<int64_t> sizes;
  for (const CategoricalInput& column : inputs.categorical) sizes.push_back(column.table_rows);
  return sizes;
}

// Rows whose every id is 1 (the null row) and whose histories are full.
TensorBatch full_batch(const Network& network, int64_t rows) {
  const NetworkInputs& inputs = network.inputs();
  const at::TensorOptions like = network.tables().weight().options();
  const auto ids = [&](int64_t count, size_t columns) {
    return at::ones({count, static_cast<int64_t>(columns)}, like.dtype(at::kLong));
  };
  TensorBatch batch;
  batch.categorical = ids(rows, inputs.categorical.size());
  batch.dense = at::ones({rows, inputs.dense_columns}, like);
  batch.present = at::ones({rows, inputs.dense_columns}, like);
  batch.domain = at::zeros({rows}, like.dtype(at::kLong));
  batch.group = at::zeros({rows}, like.dtype(at::kLong));
  const int64_t length = inputs.sequence.columns.empty() ? 0 : inputs.sequence.length;
  batch.history.offsets = at::arange(rows + 1, at::kLong).mul_(length);
  batch.events = ids(rows * length, inputs.sequence.columns.size());
  batch.age = at::ones({rows * length}, like);
  if (inputs.teacher.width > 0) batch.teacher = at::ones({rows, inputs.teacher.width + 1}, like);
  return batch;
}

// The number of threads is one for the process, so OpenMP has it. Left alone LibTorch guesses, and
// guesses one where it cannot tell cores from hyper-threads; OMP_NUM_THREADS is the user's word.
void use_all_cores() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(static_cast<int>(host_workers()));
  leave_threads_to_openmp();
}

}  // namespace

Network::Network(NetworkInputs inputs, int64_t width, uint64_t seed, at::ScalarType type)
    : inputs_(std::move(inputs)),
      parameters_(seed, type),
      tables_(table_sizes(inputs_), width, seed, type) {}

std::vector<std::string> network_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Result<std::unique_ptr<Network>> make_network(const YamlDocument& document, const YamlNode& node,
                                              const MakeNetwork& make) {
  use_all_cores();
  Fields fields = TRY(Fields::open(document, node, "network"));
  TRY(fields.required("kind"));
  size_t index = 0;
  TRY(fields.read_word("kind", index, network_kinds()));
  return kKinds[index].make(fields, make);
}

at::Tensor served_logits(const Network& network, const at::Tensor& logits) {
  std::vector<int64_t> windows;
  for (const TaskInput& task : network.inputs().tasks) windows.push_back(task.windows());
  return oracle_logits(logits, windows);
}

double flops_per_sample(const Network& network) {
  const at::NoGradGuard still;
  constexpr int64_t kRows = 2;
  Pass pass;
  pass.serving = true;
  network.forward(full_batch(network, kRows), pass);
  return pass.flops / kRows;
}

int64_t backbone_width(const Network& network) {
  const at::NoGradGuard still;
  Pass pass;
  pass.serving = pass.wants_backbone = true;
  network.forward(full_batch(network, 1), pass);
  return pass.backbone.size(1);
}

uint64_t dense_parameters(const Network& network) {
  return network.parameters().count();
}

uint64_t table_parameters(const Network& network) {
  return static_cast<uint64_t>(network.tables().weight().numel());
}

}  // namespace weft::lattice
