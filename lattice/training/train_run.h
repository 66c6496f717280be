// SPDX-License-Identifier: Apache-2.0

// Trains every model of a configuration into one run folder:
//
//   NAME/model.safetensors                a merged model
//   NAME/feed.click/model.safetensors     one of separate models
//   metrics.jsonl                         lines of all of them
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"
#include "lattice/training/configuration.h"

namespace weft::lattice {

struct TrainHooks {
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C
  std::function<void(const std::string& stage, uint64_t rows)> progress = [](const std::string&,
                                                                             uint64_t) {};
  unsigned workers = 2;
};

// Rows that all models together will see.
Result<uint64_t> rows_to_train(const TrainConfiguration& configuration);

// The summary: for each model its parts with files, tasks, parameters and work, and what an
// impression costs; the rates of the training split.
Result<Json> train_models(const TrainConfiguration& configuration, RunFolder& run,
                          const TrainHooks& hooks);

// The folder of a training that a step reads, under its key "models".
Result<std::string> read_models_folder(Fields& fields, const std::string& base);

// A learner as a part of the summary describes it, with the trained weights of `folder`.
Result<Learner> load_part(const std::string& folder, const Json& summary, const Json& model,
                          const Json& part, const ShardIndex& schema);

}  // namespace weft::lattice
