// SPDX-License-Identifier: Apache-2.0

// Beside a task's head there may be a distillation head, which learns the teacher's label where the
// served one learns what happened (ExFM: mixing them biases what is served). It reads the same
// input; what it sends back into it is scaled.
//
// One light MLP per task, with one logit per attribution window (Zipper): a row trains only the
// logit of the window that it was assigned to, serving reads the longest one (the oracle).
//
// The one additive number of a network is here: an offset per (task, window), which starts at the
// logit of the base rate. Without it a rare label would have to be learnt from zero by all weights,
// and windows differ in their rates.
#pragma once

#include "lattice/blocks/hidden_layers.h"

namespace weft::lattice {

struct TaskHead {
  std::string name;
  // Of each window, shortest first; one for a task without delay.
  std::vector<double> base_rate = {0.5};
};

struct TaskHeadsShape {
  int64_t in = 0;
  std::vector<TaskHead> tasks;
  std::vector<int64_t> hidden = {128};
  bool offset = true;
  std::vector<size_t> distilled;  // tasks with a distillation head, one logit each
  double gradient_scale = 1;
};

class TaskHeads {
 public:
  TaskHeads(const Scope& scope, const TaskHeadsShape& shape);
  int64_t windows() const { return windows_; }
  // x [rows, in] -> [rows, tasks + distilled, windows()]; windows that a head lacks are zero. In a
  // pass for serving there are no distillation heads.
  at::Tensor operator()(const at::Tensor& x, Pass& pass) const;
  // An input of its own for each task (experts, towers).
  at::Tensor operator()(const std::vector<at::Tensor>& x, Pass& pass) const;

 private:
  struct Task {
    HiddenLayers layers;
    Linear logits;
    at::Tensor offset;  // [windows], or undefined
    int64_t windows;
  };
  void add(const Scope& scope, const TaskHead& head, const TaskHeadsShape& shape,
           std::vector<Task>& to);
  at::Tensor logits(const Task& task, const at::Tensor& x, Pass& pass) const;

  std::vector<Task> tasks_, distillation_;
  std::vector<size_t> distilled_;
  double gradient_scale_;
  int64_t windows_ = 1;
};

// logits [rows, tasks, windows] at each task's longest window: [rows, tasks].
at::Tensor oracle_logits(const at::Tensor& logits, const std::vector<int64_t>& windows);

}  // namespace weft::lattice
