// SPDX-License-Identifier: Apache-2.0

// Both are one network: MMoE is PLE with one level and no experts of a task's own.
#include "lattice/networks/experts.h"

#include "lattice/networks/options.h"

namespace weft::lattice {
namespace {

Result<Done> read_both(Fields& fields, ExpertsOptions& options) {
  TRY(read_size(fields, "width", options.width));
  TRY(read_sizes(fields, "hidden", options.hidden));
  TRY(read_sizes(fields, "head", options.head));
  if (options.hidden.empty()) return fields.error("hidden", "is empty: an expert needs a layer");
  return Done{};
}

}  // namespace

Result<ExpertsOptions> read_mmoe(Fields& fields) {
  ExpertsOptions options;
  TRY(read_size(fields, "experts", options.shared));
  TRY(read_both(fields, options));
  return options;
}

Result<ExpertsOptions> read_ple(Fields& fields) {
  ExpertsOptions options{.shared = 2, .own = 2, .levels = 2};
  TRY(read_size(fields, "shared", options.shared));
  TRY(read_size(fields, "own", options.own));
  TRY(read_size(fields, "levels", options.levels));
  TRY(read_both(fields, options));
  return options;
}

at::Tensor gated_mean(const at::Tensor& experts, const at::Tensor& gate, Pass& pass) {
  pass.count(2.0 * static_cast<double>(experts.numel()));
  return at::bmm(gate.softmax(1).unsqueeze(1), experts).squeeze(1);
}

Experts::Experts(const MakeNetwork& make, const ExpertsOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width) {
  int64_t in = features_.pooled_tokens() * options.width;
  const auto tasks = static_cast<int64_t>(make.inputs.tasks.size());
  const auto fill = [&](Side& side, const Scope& scope, int64_t count, int64_t seen) {
    for (int64_t e = 0; e < count; ++e)
      side.experts.emplace_back(scope.in("expert" + std::to_string(e)), in, options.hidden);
    if (seen > 0) side.gate.emplace(scope.in("gate"), in, seen);
  };
  for (int64_t l = 0; l < options.levels; ++l) {
    const Scope scope(parameters(), "level" + std::to_string(l));
    Level& level = levels_.emplace_back();
    const bool last = l + 1 == options.levels;
    fill(level.shared, scope.in("shared"), options.shared,
         last ? 0 : options.shared + tasks * options.own);
    for (const TaskInput& task : make.inputs.tasks)
      fill(level.tasks.emplace_back(), scope.in(task.name), options.own,
           options.shared + options.own);
    in = options.hidden.back();
  }
  heads_.emplace(Scope(parameters(), "heads"), heads_shape(make.inputs, in, options.head));
}

at::Tensor Experts::run(const std::vector<HiddenLayers>& experts, const at::Tensor& x, Pass& pass) {
  std::vector<at::Tensor> results;
  for (const HiddenLayers& expert : experts) results.push_back(expert(x, pass));
  return at::stack(results, 1);
}

at::Tensor Experts::forward(const TensorBatch& batch, Pass& pass) const {
  at::Tensor shared = features_.pooled(batch, tables(), pass).flatten(1);
  std::vector<at::Tensor> own(inputs().tasks.size(), shared);
  for (const Level& level : levels_) {
    const at::Tensor from_shared = run(level.shared.experts, shared, pass);
    std::vector<at::Tensor> all = {from_shared};
    for (size_t t = 0; t < own.size(); ++t) {
      const Side& side = level.tasks[t];
      std::vector<at::Tensor> seen = {from_shared};
      if (!side.experts.empty()) {
        seen.push_back(run(side.experts, own[t], pass));
        all.push_back(seen.back());
      }
      own[t] = gated_mean(at::cat(seen, 1), (*side.gate)(own[t], pass), pass);
    }
    if (level.shared.gate)
      shared = gated_mean(at::cat(all, 1), (*level.shared.gate)(shared, pass), pass);
  }
  return (*heads_)(own, pass);
}

}  // namespace weft::lattice
