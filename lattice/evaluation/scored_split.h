// SPDX-License-Identifier: Apache-2.0

// What models said about the rows of a split, beside the labels: from here on no network is needed.
// Several models may share a split, each answering for some domains and tasks (portfolios of single
// models), so that they are measured exactly as one merged model is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/data/shard_index.h"
#include "lattice/learning/learner.h"
#include "lattice/metrics/resampling.h"
#include "lattice/training/batch_source.h"
#include "lattice/training/rates.h"

namespace weft::lattice {

struct ScoredSplit {
  uint64_t rows = 0;
  size_t tasks = 0, windows = 1;
  std::vector<float> logits;  // [rows, tasks, windows]
  std::vector<float> label;   // [rows, tasks]
  std::vector<uint8_t> known;
  std::vector<uint8_t> window;  // [rows], or empty
  std::vector<int32_t> domain;  // [rows], or empty
  std::vector<uint64_t> group;  // [rows], or empty

  Result<Done> write(const std::string& path) const;
  static Result<ScoredSplit> read(const std::string& path);
};

// A model and what it answers for.
struct ServedModel {
  Learner* learner = nullptr;
  std::vector<size_t> tasks;  // label columns of the data, one for each task of the learner
  int32_t domain = -1;        // -1: every domain
};

struct ScoringOptions {
  uint64_t batch_rows = 4096;
  int32_t group_table = -1;  // the categorical column whose values group rows; -1: none
};

// Every (domain, task) must be answered by one model; what no model answers stays unknown.
Result<ScoredSplit> score(const std::vector<ServedModel>& models, const BatchSource& source,
                          const ShardIndex& schema, const ScoringOptions& options);

// One slice of a split: a task, in a domain (-1: all), of the rows labelled under a window and
// scored by that window's head. A task without windows has one head, the first.
struct SliceKey {
  size_t task = 0;
  int32_t domain = -1;
  size_t window = 0;
};
std::vector<SliceKey> slices(const ShardIndex& schema);
Quality quality_of(const ScoredSplit& split, const SliceKey& key, const ShardIndex& schema,
                   std::optional<double> background);

// Measures with intervals for each slice. `training` gives NE its background; without it that is
// the slice's own rate.
Json report(const ScoredSplit& split, const ShardIndex& schema, const Resampling& how,
            const Rates* training);

}  // namespace weft::lattice
