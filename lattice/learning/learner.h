// SPDX-License-Identifier: Apache-2.0

// A network with its optimisers: takes batches, learns, predicts. Everything about tensors is
// behind this header, so that trainers, evaluations and claims compile without LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lattice/data/reader.h"
#include "lattice/data/shard_index.h"
#include "lattice/learning/optimizers.h"
#include "lattice/objectives/objective.h"
#include "lattice/schema/yaml_document.h"

namespace weft::lattice {

// Value and slopes of the logits [rows, tasks, windows] of a batch. In the steps of a student the
// tasks are followed by distillation heads and adapters (distilled_loss.h).
using LossFunction =
    std::function<Loss(std::span<const float> logits, const Batch&, std::span<float> gradient)>;
// An objective whose task j has the batch's label column `labels[j]`.
LossFunction loss_of(Objective objective, std::vector<size_t> labels);

struct LearnedTask {
  std::string name;
  // The rate of positives under each window, where the logits start; one for a task without
  // windows.
  std::vector<double> base_rates = {0.5};
};

// What a learner has of a teacher; nothing by default.
struct StudentShape {
  uint32_t width = 0;  // of the teacher's embedding in batches, an input; 0: none
  struct Distilled {
    size_t task = 0;    // of the learner
    size_t column = 0;  // the same task among the teacher's, in Batch::teacher_logit
  };
  std::vector<Distilled> distilled;  // tasks with a distillation head
  double gradient_scale = 1;         // of what these heads send back into the backbone
  bool adapter = false;
};

struct LearnerOptions {
  uint64_t seed = 1;
  std::vector<LearnedTask> tasks;
  std::vector<int64_t> domain_groups;  // of each domain, the group of its untied weights; empty: 0
  uint64_t dense_tokens = 16;          // dense columns share a token when there are more of them
  AdamOptions dense;
  double table_learning_rate = 0.05, table_epsilon = 1e-8;
  StudentShape student;
};

// What a teacher says of rows.
struct Teaching {
  std::vector<float> embeddings;  // [rows, embedding_width()]: what the heads read
  std::vector<float> logits;      // [rows, tasks], of the longest window
};

// One array that training changes, by name. Together they are the whole state.
struct StateTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::span<float> values;
  bool served = false;  // needed to predict; the rest are moments
};

class Learner {
 public:
  // `network` is the map "network" of a configuration.
  static Result<Learner> create(const ShardIndex& schema, const YamlDocument& document,
                                const YamlNode& network, const LearnerOptions& options);
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  // One step on a batch. A loss or a gradient that is no finite number is an error that names the
  // feature and the row, and nothing has moved.
  Result<Loss> step(const Batch& batch, const LossFunction& loss);
  // [rows, tasks, windows], what is served.
  Result<std::vector<float>> logits(const Batch& batch);
  Result<Teaching> teach(const Batch& batch);
  uint32_t embedding_width() const;

  std::vector<StateTensor> state();
  uint64_t steps() const;
  void set_steps(uint64_t steps);

  uint64_t dense_parameters() const;
  uint64_t table_parameters() const;
  double flops_per_sample() const;  // of one prediction; a multiplication with its addition is two
  size_t tasks() const;
  size_t windows() const;  // of the task with the most

 private:
  struct Body;
  explicit Learner(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace weft::lattice
