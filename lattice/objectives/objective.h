// SPDX-License-Identifier: Apache-2.0

// What a training minimizes, as a value and its gradient by the logits. Logits are few (rows x
// tasks x windows), so both are written out by hand in double precision, without tensors: the same
// result for any number of workers, and a gradient that is checked against differences.
//
//   L = sum over tasks j of w_j mean over owned rows of BCE_j
//       + correlation * mean over slices (task, domain) of (1 - corr(label, probability))
//
// Zipper: a row trains, of each windowed task, the head of the window that it was labelled under.
// What is served is the head of the longest window, the last one (oracle). A task without windows
// has one head, the first, for every row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::lattice {

struct Task {
  std::string name;
  double weight = 1;
  bool windowed = false;
  std::vector<uint8_t> domains;  // whether a row of each domain trains it; empty: all do
};

// Labels of a batch; spans as the reader gives them.
struct Targets {
  uint64_t rows = 0;
  std::span<const float> label;     // [rows, tasks]
  std::span<const uint8_t> known;   // [rows, tasks]; 0: the label means nothing
  std::span<const uint8_t> window;  // [rows]; empty: every row has the longest
  std::span<const int32_t> domain;  // [rows]; empty: one domain
};

struct Correlation {
  double weight = 0;  // 0: none
  // Slices with fewer rows, or no positive or no negative, or probabilities that hardly differ, say
  // nothing about order and are left out.
  uint64_t least_rows = 32;
  double least_deviation = 1e-6;
};

// Sums over a batch, to be added up over batches.
struct TaskSums {
  uint64_t rows = 0;
  double loss = 0, positives = 0, predicted = 0;
  void add(const TaskSums& other);
};

struct Loss {
  double value = 0;
  std::vector<TaskSums> tasks;
};

// The head that a row uses for a task; `windows` heads there are.
size_t head_of(const Task& task, const Targets& targets, uint64_t row, size_t windows);
// Whether the row trains the task.
bool owns(const Task& task, const Targets& targets, size_t tasks, size_t j, uint64_t row);

class Objective {
 public:
  Objective(std::vector<Task> tasks, size_t windows, Correlation correlation)
      : tasks_(std::move(tasks)), windows_(windows), correlation_(correlation) {}

  const std::vector<Task>& tasks() const { return tasks_; }
  size_t windows() const { return windows_; }

  // `logits` and `gradient` are [rows, tasks, windows]. The gradient is overwritten; heads that a
  // row does not train get exactly 0.
  Loss evaluate(std::span<const float> logits, const Targets& targets,
                std::span<float> gradient) const;

 private:
  double add_correlation(std::span<const float> logits, const Targets& targets,
                         std::span<double> gradient) const;

  std::vector<Task> tasks_;
  size_t windows_;
  Correlation correlation_;
};

}  // namespace weft::lattice
