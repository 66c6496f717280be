// SPDX-License-Identifier: Apache-2.0

// The map under "train": which data, which tasks, how it learns. Names of the keys are those of the
// fields.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/data/shard_index.h"
#include "lattice/learning/optimizers.h"
#include "lattice/objectives/objective.h"
#include "lattice/schema/fields.h"
#include "lattice/training/student.h"
#include "lattice/training/time_range.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {

struct TaskChoice {
  double weight = 1;
  std::vector<std::string> domains;  // none: all
};

// One model for everything, or one for each (domain, task): what a portfolio of models is today.
enum class Portfolios : uint8_t { Merged, Separate };

// A network, or a set of separate ones, that is trained under a name of its own.
struct ModelChoice {
  std::string name;
  Json network;  // the map that make_network reads
  Portfolios portfolios = Portfolios::Merged;
  TeacherUse teacher = TeacherUse::None;
};

struct TrainConfiguration {
  std::string data;  // run folder of an ingest
  std::vector<ModelChoice> models;
  std::map<std::string, TaskChoice> tasks;  // none: every label of the data, with weight 1
  AdamOptions dense;
  double table_learning_rate = 0.05;
  Correlation correlation;
  TrainingOptions loop;
  std::vector<std::vector<std::string>> untied;  // groups of domains; one not named is in the first
  uint64_t dense_tokens = 16;
  std::string validation = "valid";  // the split that chooses the best pass; "": none
  // For small data without such a split: this share of the training rows is held out instead, and
  // all rows are kept in memory.
  double validation_share = 0;
  // Rows whose labels were known outside this range are not trained on; the validation keeps to it
  // too, for it chooses the best pass.
  TimeRange range;
  StudentConfiguration teacher;
};

Result<TrainConfiguration> read_training(const YamlDocument& document, const YamlNode& node,
                                         const std::string& base);
Json to_json(const TrainConfiguration& configuration);

// A model that is to be trained: a name for its files, its labels, the one domain it sees (-1:
// all).
struct ModelPlan {
  std::string name;             // "" for the only one, otherwise "feed.click"
  std::vector<size_t> columns;  // labels of the data, one a task
  std::vector<Task> tasks;
  int32_t domain = -1;
};
// An error when a task or a domain is not in the data.
Result<std::vector<ModelPlan>> plan(const TrainConfiguration& configuration, Portfolios portfolios,
                                    const ShardIndex& schema);
// The group of weights of each domain.
Result<std::vector<int64_t>> domain_groups(const TrainConfiguration& configuration,
                                           const ShardIndex& schema);

}  // namespace weft::lattice
