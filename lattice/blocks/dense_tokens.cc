// SPDX-License-Identifier: Apache-2.0

// Unknown values are made zero here, whatever the reader left in their place.
#include "lattice/blocks/dense_tokens.h"

namespace weft::lattice {

DenseTokens::DenseTokens(const Scope& scope, const DenseTokensShape& shape) : shape_(shape) {
  for (size_t g = 0; g < shape.groups.size(); ++g) {
    const Scope in = scope.in("group" + std::to_string(g));
    const auto columns = static_cast<int64_t>(shape.groups[g].size());
    groups_.push_back({at::tensor(shape.groups[g], at::kLong),
                       Linear(in.in("first"), 2 * columns, shape.hidden),
                       SwishRmsNorm(in.in("norm"), shape.hidden),
                       Linear(in.in("second"), shape.hidden, shape.tokens * shape.width)});
  }
}

at::Tensor DenseTokens::operator()(const at::Tensor& values, const at::Tensor& present,
                                   Pass& pass) const {
  std::vector<at::Tensor> tokens;
  for (const Group& group : groups_) {
    const at::Tensor columns = group.columns.to(values.device());
    const at::Tensor known = present.index_select(1, columns).to(values.scalar_type());
    const at::Tensor here =
        at::where(known.gt(0), values.index_select(1, columns), at::zeros({}, values.options()));
    const at::Tensor hidden = group.norm(group.first(at::cat({here, known}, 1), pass));
    tokens.push_back(group.second(hidden, pass).view({-1, shape_.tokens, shape_.width}));
  }
  if (tokens.empty()) return at::zeros({values.size(0), 0, shape_.width}, values.options());
  return at::cat(tokens, 1);
}

}  // namespace weft::lattice
