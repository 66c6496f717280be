// SPDX-License-Identifier: Apache-2.0

// The loop of a training: passes over a source, a line of metrics now and then, checkpoints, the
// best pass by a validation split. A training that was stopped and started again ends with the same
// bits as one that was not.
//
//   checkpoint_0, checkpoint_1.safetensors   written in turn; the newer intact one counts
//   model.safetensors                        what is served: the best pass, or the end
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lattice/learning/learner.h"
#include "lattice/schema/run_folder.h"
#include "lattice/training/batch_source.h"
#include "lattice/training/checkpoint.h"

namespace weft::lattice {

struct TrainingOptions {
  uint64_t seed = 1;
  uint64_t batch_rows = 1024;
  uint64_t passes = 1;
  uint64_t patience = 0;  // passes without a better validation loss before it ends; 0: all passes
  uint64_t log_every = 100;         // steps
  uint64_t checkpoint_every = 500;  // steps; 0: at ends of passes only
  RowOrder order = RowOrder::Shuffled;
  int32_t domain = -1;  // the only one whose rows are seen; -1: all
  unsigned workers = 2;
};

// What the training reports while it runs.
struct TrainingProgress {
  uint64_t step = 0, rows = 0, rows_total = 0;
  double seconds = 0;  // since this start
  std::vector<TaskSums> tasks;
};

struct Training {
  TrainingOptions options;
  std::vector<std::string> tasks;  // names, for metrics
  LossFunction loss;
  const BatchSource* source = nullptr;
  const BatchSource* validation = nullptr;  // none: the end is kept
  RunFolder* run = nullptr;                 // none: nothing is written
  std::string prefix;                       // of files in the run: "feed.click/"
  ModelIdentity identity;
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C: a checkpoint is written, then it ends
  std::function<void(const TrainingProgress&)> progress = [](const TrainingProgress&) {};
};

struct TrainingOutcome {
  bool interrupted = false;
  uint64_t steps = 0, rows = 0, best_pass = 0;
  double seconds = 0;           // of this start
  double validation_loss = 0;   // of the best pass, when there is a validation
  std::vector<TaskSums> tasks;  // of the last pass, as it went (progressive)
};

// The learner ends with the state of the best pass, or of the end.
Result<TrainingOutcome> train(Learner& learner, const Training& training);

// Sums over a source without learning.
Result<std::vector<TaskSums>> measure(Learner& learner, const BatchSource& source,
                                      const LossFunction& loss, const TrainingOptions& options);

}  // namespace weft::lattice
