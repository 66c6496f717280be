// SPDX-License-Identifier: Apache-2.0

// The input is normed as a whole: cross layers multiply it with itself, so its size matters.
#include "lattice/networks/dcn.h"

#include "lattice/networks/options.h"

namespace weft::lattice {

Result<DcnOptions> read_dcn(Fields& fields) {
  DcnOptions options;
  TRY(read_size(fields, "width", options.width));
  TRY(read_size(fields, "crosses", options.crosses));
  TRY(fields.read("rank", options.rank, 0, 65'536));
  TRY(read_sizes(fields, "hidden", options.hidden));
  TRY(read_sizes(fields, "head", options.head));
  return options;
}

CrossLayer::CrossLayer(const Scope& scope, int64_t width, int64_t rank) {
  if (rank == 0) {
    factors_.emplace_back(scope, width, width, 0.5);
    return;
  }
  factors_.emplace_back(scope.in("down"), width, rank);
  factors_.emplace_back(scope.in("up"), rank, width, 0.5);
}

at::Tensor CrossLayer::operator()(const at::Tensor& first, const at::Tensor& x, Pass& pass) const {
  at::Tensor mapped = x;
  for (const Linear& factor : factors_) mapped = factor(mapped, pass);
  return first * mapped + x;
}

Dcn::Dcn(const MakeNetwork& make, const DcnOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width),
      layers_({parameters(), ""}, features_.pooled_tokens() * options.width, options.hidden) {
  const int64_t in = features_.pooled_tokens() * options.width;
  for (int64_t i = 0; i < options.crosses; ++i)
    crosses_.emplace_back(Scope(parameters(), "cross" + std::to_string(i)), in, options.rank);
  const int64_t joined = in + (layers_.empty() ? 0 : layers_.out());
  heads_.emplace(Scope(parameters(), "heads"), heads_shape(make.inputs, joined, options.head));
}

at::Tensor Dcn::forward(const TensorBatch& batch, Pass& pass) const {
  const at::Tensor tokens = features_.pooled(batch, tables(), pass).flatten(1);
  const at::Tensor first = rms_norm(tokens, at::ones({tokens.size(1)}, tokens.options()));
  at::Tensor crossed = first;
  for (const CrossLayer& cross : crosses_) crossed = cross(first, crossed, pass);
  if (layers_.empty()) return (*heads_)(crossed, pass);
  return (*heads_)(at::cat({crossed, layers_(first, pass)}, 1), pass);
}

}  // namespace weft::lattice
