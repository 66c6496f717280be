// SPDX-License-Identifier: Apache-2.0

// The last layer starts small, so that a fresh network predicts the base rate.
#include "lattice/blocks/task_heads.h"

namespace weft::lattice {

TaskHeads::TaskHeads(const Scope& scope, const TaskHeadsShape& shape) {
  for (const TaskHead& head : shape.tasks) {
    const Scope in = scope.in(head.name);
    const auto windows = static_cast<int64_t>(head.base_rate.size());
    HiddenLayers layers(in, shape.in, shape.hidden);
    const Linear logits(in.in("logits"), layers.out(), windows, 0.1);
    Task task{std::move(layers), logits, {}, windows};
    if (shape.offset) {
      task.offset = in.constant("offset", {task.windows}, 0);
      const at::NoGradGuard still;
      for (int64_t w = 0; w < task.windows; ++w) {
        const double rate = std::clamp(head.base_rate[static_cast<size_t>(w)], 1e-6, 1 - 1e-6);
        task.offset[w].fill_(std::log(rate / (1 - rate)));
      }
    }
    windows_ = std::max(windows_, task.windows);
    tasks_.push_back(std::move(task));
  }
}

at::Tensor TaskHeads::operator()(const at::Tensor& x, Pass& pass) const {
  return (*this)(std::vector<at::Tensor>(tasks_.size(), x), pass);
}

at::Tensor TaskHeads::operator()(const std::vector<at::Tensor>& x, Pass& pass) const {
  std::vector<at::Tensor> logits;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    at::Tensor hidden = task.logits(task.layers(x[t], pass), pass);
    if (task.offset.defined()) hidden = hidden + task.offset;
    logits.push_back(at::constant_pad_nd(hidden, {0, windows_ - task.windows}));
  }
  return at::stack(logits, 1);
}

at::Tensor oracle_logits(const at::Tensor& logits, const std::vector<int64_t>& windows) {
  std::vector<at::Tensor> columns;
  for (size_t t = 0; t < windows.size(); ++t)
    columns.push_back(logits.select(1, static_cast<int64_t>(t)).select(1, windows[t] - 1));
  return at::stack(columns, 1);
}

}  // namespace weft::lattice
