// SPDX-License-Identifier: Apache-2.0

// The block is that of Lattice's network without history, context and untied weights.
#include "lattice/networks/wukong.h"

#include "lattice/networks/options.h"

namespace weft::lattice {

Result<WukongOptions> read_wukong(Fields& fields) {
  WukongOptions options;
  TRY(read_size(fields, "width", options.width));
  TRY(read_size(fields, "layers", options.layers));
  TRY(read_size(fields, "mixtures", options.mixtures));
  TRY(read_size(fields, "fm_tokens", options.fm_tokens));
  TRY(read_size(fields, "linear_tokens", options.linear_tokens));
  TRY(read_sizes(fields, "fm_hidden", options.fm_hidden));
  TRY(read_sizes(fields, "head", options.head));
  return options;
}

Wukong::Wukong(const MakeNetwork& make, const WukongOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width),
      token_norm_({parameters(), "token_norm"}, options.width) {
  int64_t tokens = features_.pooled_tokens();
  for (int64_t l = 0; l < options.layers; ++l) {
    const FusionShape shape{.tokens = tokens,
                            .width = options.width,
                            .mixtures = options.mixtures,
                            .fm_tokens = options.fm_tokens,
                            .linear_tokens = options.linear_tokens,
                            .hidden = options.fm_hidden};
    layers_.emplace_back(Scope(parameters(), "layer" + std::to_string(l)), shape);
    tokens = shape.out();
  }
  heads_.emplace(Scope(parameters(), "heads"),
                 heads_shape(make.inputs, tokens * options.width, options.head));
}

at::Tensor Wukong::forward(const TensorBatch& batch, Pass& pass) const {
  at::Tensor tokens = token_norm_(features_.pooled(batch, tables(), pass));
  for (const FusionBlock& layer : layers_) tokens = layer(tokens, {batch.rows()}, pass);
  return (*heads_)(tokens.flatten(1), pass);
}

}  // namespace weft::lattice
