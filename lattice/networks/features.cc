// SPDX-License-Identifier: Apache-2.0

// Dense columns that belong to no group form one of their own, so that none is lost.
#include "lattice/networks/features.h"

namespace weft::lattice {
namespace {

DenseTokensShape dense_shape(const NetworkInputs& inputs, int64_t width) {
  DenseTokensShape shape{.width = width, .hidden = width};
  std::vector<bool> grouped(static_cast<size_t>(inputs.dense_columns));
  for (const DenseGroup& group : inputs.dense_groups) {
    shape.groups.push_back(group.columns);
    for (const int64_t column : group.columns) grouped[static_cast<size_t>(column)] = true;
  }
  std::vector<int64_t> rest;
  for (int64_t column = 0; column < inputs.dense_columns; ++column)
    if (!grouped[static_cast<size_t>(column)]) rest.push_back(column);
  if (!rest.empty()) shape.groups.push_back(rest);
  return shape;
}

}  // namespace

Features::Features(const Scope& scope, const NetworkInputs& inputs, int64_t width)
    : dense_(scope.in("dense"), dense_shape(inputs, width)),
      tokens_(static_cast<int64_t>(inputs.categorical.size()) + dense_.count()) {
  const auto columns = static_cast<int64_t>(inputs.sequence.columns.size());
  if (columns > 0) events_.emplace(scope.in("events"), columns, width);
  if (inputs.teacher.width == 0) return;
  teacher_.emplace(scope.in("teacher"), inputs.teacher.width + 1, width);
  ++tokens_;
}

FeatureTokens Features::operator()(const TensorBatch& batch, const EmbeddingTable& tables,
                                   Pass& pass) const {
  FeatureTokens made;
  std::vector<at::Tensor> tokens = {tables.look_up(batch.categorical, pass.lookups),
                                    dense_(batch.dense, batch.present, pass)};
  if (teacher_) tokens.push_back((*teacher_)(batch.teacher, pass).unsqueeze(1));
  made.rows = at::cat(tokens, 1);
  if (events_)
    made.events = (*events_)(tables.look_up(batch.events, pass.lookups), batch.age, pass);
  return made;
}

at::Tensor Features::pooled(const TensorBatch& batch, const EmbeddingTable& tables,
                            Pass& pass) const {
  const FeatureTokens made = (*this)(batch, tables, pass);
  if (!events_) return made.rows;
  return at::cat({made.rows, segment_mean(made.events, batch.history).unsqueeze(1)}, 1);
}

TaskHeadsShape heads_shape(const NetworkInputs& inputs, int64_t in, std::vector<int64_t> hidden) {
  TaskHeadsShape shape{.in = in, .hidden = std::move(hidden)};
  for (const TaskInput& task : inputs.tasks) shape.tasks.push_back({task.name, task.base_rate});
  shape.distilled = inputs.teacher.distilled;
  shape.gradient_scale = inputs.teacher.gradient_scale;
  return shape;
}

}  // namespace weft::lattice
