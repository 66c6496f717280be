// SPDX-License-Identifier: Apache-2.0

// Norm and activation are those of the other networks, so that only the architecture differs.
#include "lattice/networks/mlp.h"

#include "lattice/networks/options.h"

namespace weft::lattice {

namespace {

Result<MlpOptions> read(Fields& fields, MlpOptions options) {
  TRY(read_size(fields, "width", options.width));
  TRY(read_sizes(fields, "hidden", options.hidden));
  TRY(read_sizes(fields, "head", options.head));
  return options;
}

}  // namespace

Result<MlpOptions> read_mlp(Fields& fields) {
  return read(fields, {});
}

Result<MlpOptions> read_shared_bottom(Fields& fields) {
  return read(fields, {.head = {64}});
}

Mlp::Mlp(const MakeNetwork& make, const MlpOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width),
      layers_({parameters(), ""}, features_.pooled_tokens() * options.width, options.hidden) {
  heads_.emplace(Scope(parameters(), "heads"),
                 heads_shape(make.inputs, layers_.out(), options.head));
}

at::Tensor Mlp::forward(const TensorBatch& batch, Pass& pass) const {
  const at::Tensor tokens = features_.pooled(batch, tables(), pass).flatten(1);
  return (*heads_)(layers_(tokens, pass), pass);
}

}  // namespace weft::lattice
