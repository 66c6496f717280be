// SPDX-License-Identifier: Apache-2.0

// The bottom MLP of the paper is the one of the dense groups.
#include "lattice/networks/dlrm.h"

#include "lattice/networks/options.h"

namespace weft::lattice {

Result<DlrmOptions> read_dlrm(Fields& fields) {
  DlrmOptions options;
  TRY(read_size(fields, "width", options.width));
  TRY(read_sizes(fields, "hidden", options.hidden));
  TRY(read_sizes(fields, "head", options.head));
  return options;
}

at::Tensor pairwise_products(const at::Tensor& x, Pass& pass) {
  const int64_t rows = x.size(0), n = x.size(1);
  pass.count(static_cast<double>(x.numel() * (n - 1)));
  const at::Tensor all = at::bmm(x, x.transpose(1, 2));
  const at::Tensor pairs = at::tril_indices(n, n, -1, at::TensorOptions(at::kLong));
  return all.view({rows, n * n}).index_select(1, (pairs[0] * n + pairs[1]).to(x.device()));
}

// Width of what the top MLP sees: a product for each pair of n tokens, and those that are not
// categorical themselves.
static int64_t interactions(int64_t n, int64_t categorical, int64_t width) {
  return n * (n - 1) / 2 + (n - categorical) * width;
}

Dlrm::Dlrm(const MakeNetwork& make, const DlrmOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width),
      categorical_(static_cast<int64_t>(make.inputs.categorical.size())),
      layers_({parameters(), ""},
              interactions(features_.pooled_tokens(), categorical_, options.width),
              options.hidden) {
  heads_.emplace(Scope(parameters(), "heads"),
                 heads_shape(make.inputs, layers_.out(), options.head));
}

at::Tensor Dlrm::forward(const TensorBatch& batch, Pass& pass) const {
  const at::Tensor tokens = features_.pooled(batch, tables(), pass);
  const at::Tensor x =
      at::cat({pairwise_products(tokens, pass), tokens.slice(1, categorical_).flatten(1)}, 1);
  return (*heads_)(layers_(x, pass), pass);
}

}  // namespace weft::lattice
