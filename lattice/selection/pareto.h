// SPDX-License-Identifier: Apache-2.0

// Choosing features that serve all tasks of a group at once.
//
// Importance is a vector, one number a task. A feature dominates another when it is at least as
// important for every task and more important for one. Features are taken front by front (a front:
// those that nothing left dominates) until the budget is full; so what matters for one task alone
// is taken early, however small that task is. A weighted sum has no such guarantee.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::lattice {

struct FeatureImportance {
  std::string name;
  std::vector<double> by_task;
};

enum class Method : uint8_t { Pareto, WeightedSum, Union, Random };

// How the last front is cut to what is left of the budget.
enum class TieBreak : uint8_t { Random, TotalRank };

struct SelectionOptions {
  Method method = Method::Pareto;
  uint64_t budget = 0;
  // A feature below the floor for every task is noise: a single lucky value would put it on a
  // front.
  std::vector<double> floor;    // by task; empty: no floor
  std::vector<double> weights;  // of the tasks, for WeightedSum; empty: equal
  TieBreak tie_break = TieBreak::Random;
  uint64_t seed = 1;
};

struct Choice {
  std::string name;
  bool selected = false;
  int front = -1;  // 0 is the best; -1: below the floor, or the method has no fronts
  std::string why;
};

bool dominates(const FeatureImportance& one, const FeatureImportance& other);

// One entry a feature, in the order given. Ties are decided by name, so that the order of the
// features does not matter.
std::vector<Choice> select_features(const std::vector<FeatureImportance>& features,
                                    const SelectionOptions& options);

}  // namespace weft::lattice
