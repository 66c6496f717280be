// SPDX-License-Identifier: Apache-2.0

// Permutation importance: how much worse a trained model gets at each task when one feature's
// values are dealt to other rows. Values move only among the rows of one domain, because a feature
// that a domain lacks would otherwise be dealt to rows that never have it. A history moves as a
// whole.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "lattice/data/shard_index.h"
#include "lattice/learning/learner.h"
#include "lattice/selection/pareto.h"

namespace weft::lattice {

enum class InputKind : uint8_t { Table, Dense, History };
struct InputFeature {
  std::string name;
  InputKind kind = InputKind::Dense;
  size_t column = 0;  // among its kind
};
// Tables, dense columns, then the history when there is one.
std::vector<InputFeature> input_features(const ShardIndex& schema);

struct MeasuredImportance {
  FeatureImportance feature;      // mean log loss with the feature permuted, less that without
  std::vector<double> deviation;  // of the mean, over shuffles; by task
};

struct ImportanceOptions {
  uint64_t repeats = 3;
  uint64_t seed = 1;
  uint64_t batch_rows = 4096;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// `loss` gives the sums of the tasks; `rows` were not trained on.
Result<std::vector<MeasuredImportance>> permutation_importance(Learner& learner,
                                                               const LossFunction& loss,
                                                               const Batch& rows,
                                                               const ShardIndex& schema,
                                                               const ImportanceOptions& options);

// The rows and the schema with the selected features alone; order is kept.
Batch keep_features(const Batch& rows, const ShardIndex& schema,
                    const std::vector<Choice>& choices);
ShardIndex keep_features(const ShardIndex& schema, const std::vector<Choice>& choices);

}  // namespace weft::lattice
