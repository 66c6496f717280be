// SPDX-License-Identifier: Apache-2.0

#include "lattice/blocks/hidden_layers.h"

#include <string>
#include <utility>

namespace weft::lattice {

HiddenLayers::HiddenLayers(const Scope& scope, int64_t in, const std::vector<int64_t>& widths)
    : out_(in) {
  for (const int64_t width : widths) {
    const Scope layer = scope.in("layer" + std::to_string(layers_.size()));
    layers_.emplace_back(layer, out_, width);
    norms_.emplace_back(layer, width);
    out_ = width;
  }
}

at::Tensor HiddenLayers::operator()(at::Tensor x, Pass& pass) const {
  for (size_t i = 0; i < layers_.size(); ++i) x = norms_[i](layers_[i](x, pass));
  return x;
}

}  // namespace weft::lattice
