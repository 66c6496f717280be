// SPDX-License-Identifier: Apache-2.0

// Measures every model of a training on one split, and each against the first:
//
//   NAME.safetensors   what the model said about each row, beside the labels
//   metrics.jsonl      one line a slice and model
//   comparison.html    the same to look at
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/metrics/resampling.h"
#include "lattice/schema/fields.h"
#include "lattice/schema/run_folder.h"

namespace weft::lattice {

// The map under "evaluate".
struct EvaluateConfiguration {
  std::string models;  // run folder of a train
  std::string split = "test";
  std::string group;  // categorical column that groups rows for gAUC and resampling; may be empty
  std::string truth;  // truth.json of a world, for the best possible NE; may be empty
  bool training_background = false;  // of NE; otherwise the slice's own rate
  Resampling resampling;             // by groups when there is a group
  uint64_t batch_rows = 4096;
};

Result<EvaluateConfiguration> read_evaluation(const YamlDocument& document, const YamlNode& node,
                                              const std::string& base);
Json to_json(const EvaluateConfiguration& configuration);

Result<Json> evaluate_models(const EvaluateConfiguration& configuration, RunFolder& run,
                             const std::function<void(const std::string&)>& progress);

// Every model of some evaluations against the first model of the first: {"models": [...],
// "differences": [...]}. The rows must be the same, which is checked by their labels.
Result<Json> compare_runs(const std::vector<std::string>& folders, const Resampling& how);

}  // namespace weft::lattice
