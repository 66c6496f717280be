// SPDX-License-Identifier: Apache-2.0

// The last layer starts small, so that a fresh network predicts the base rate.
#include "lattice/blocks/task_heads.h"

namespace weft::lattice {

TaskHeads::TaskHeads(const Scope& scope, const TaskHeadsShape& shape)
    : distilled_(shape.distilled), gradient_scale_(shape.gradient_scale) {
  for (const TaskHead& head : shape.tasks) add(scope.in(head.name), head, shape, tasks_);
  for (const size_t task : distilled_)
    add(scope.in(shape.tasks[task].name + ".distillation"),
        {.name = {}, .base_rate = {shape.tasks[task].base_rate.back()}}, shape, distillation_);
}

void TaskHeads::add(const Scope& in, const TaskHead& head, const TaskHeadsShape& shape,
                    std::vector<Task>& to) {
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
  to.push_back(std::move(task));
}

at::Tensor TaskHeads::operator()(const at::Tensor& x, Pass& pass) const {
  return (*this)(std::vector<at::Tensor>(tasks_.size(), x), pass);
}

at::Tensor TaskHeads::logits(const Task& task, const at::Tensor& x, Pass& pass) const {
  at::Tensor hidden = task.logits(task.layers(x, pass), pass);
  if (task.offset.defined()) hidden = hidden + task.offset;
  return at::constant_pad_nd(hidden, {0, windows_ - task.windows});
}

at::Tensor TaskHeads::operator()(const std::vector<at::Tensor>& x, Pass& pass) const {
  if (pass.wants_backbone) {
    const bool one = std::all_of(x.begin(), x.end(),
                                 [&](const at::Tensor& other) { return other.is_same(x.front()); });
    pass.backbone = one ? x.front() : at::cat(x, 1);
  }
  std::vector<at::Tensor> all;
  for (size_t t = 0; t < tasks_.size(); ++t) all.push_back(logits(tasks_[t], x[t], pass));
  for (size_t i = 0; !pass.serving && i < distilled_.size(); ++i) {
    // The value of x to the bit, and a share of its slope.
    const at::Tensor still = x[distilled_[i]].detach();
    const at::Tensor scaled = still + (x[distilled_[i]] - still) * gradient_scale_;
    all.push_back(logits(distillation_[i], scaled, pass));
  }
  return at::stack(all, 1);
}

at::Tensor oracle_logits(const at::Tensor& logits, const std::vector<int64_t>& windows) {
  std::vector<at::Tensor> columns;
  for (size_t t = 0; t < windows.size(); ++t)
    columns.push_back(logits.select(1, static_cast<int64_t>(t)).select(1, windows[t] - 1));
  return at::stack(columns, 1);
}

}  // namespace weft::lattice
