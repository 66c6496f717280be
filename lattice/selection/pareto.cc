// SPDX-License-Identifier: Apache-2.0

// Sorted by their sums, nothing later can dominate something earlier, so a candidate is only held
// against the front so far.
#include "lattice/selection/pareto.h"

#include <algorithm>
#include <numeric>

#include "base/invariant.h"
#include "base/mix.h"

namespace weft::lattice {
namespace {

using Order = std::vector<size_t>;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Highest score first, ties by name.
void sort_by(Order& order, const std::vector<FeatureImportance>& features,
             const std::vector<double>& score) {
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return score[a] != score[b] ? score[a] > score[b] : features[a].name < features[b].name;
  });
}

Order by_name(Order order, const std::vector<FeatureImportance>& features) {
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return features[a].name < features[b].name; });
  return order;
}

void shuffle(Order& order, uint64_t seed) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(seed, i) % i]);
}

class Selection {
 public:
  Selection(const std::vector<FeatureImportance>& features, const SelectionOptions& options)
      : features_(features), options_(options), choices_(features.size()) {
    for (size_t i = 0; i < features.size(); ++i) {
      choices_[i].name = features[i].name;
      if (above_floor(i))
        pool_.push_back(i);
      else
        choices_[i].why = "below the importance floor for every task";
    }
    tasks_ = features.empty() ? 0 : features.front().by_task.size();
  }

  std::vector<Choice> run() {
    switch (options_.method) {
      case Method::Pareto:
        pareto();
        break;
      case Method::WeightedSum:
        weighted_sum();
        break;
      case Method::Union:
        round_robin();
        break;
      case Method::Random:
        random();
        break;
    }
    return std::move(choices_);
  }

 private:
  bool above_floor(size_t i) const {
    if (options_.floor.empty()) return true;
    for (size_t j = 0; j < options_.floor.size(); ++j)
      if (features_[i].by_task[j] > options_.floor[j]) return true;
    return false;
  }
  uint64_t left() const { return options_.budget - std::min(options_.budget, taken_); }
  void take(size_t i, std::string why) {
    choices_[i].selected = true;
    choices_[i].why = std::move(why);
    ++taken_;
  }

  Order front(const Order& sorted) const {
    Order found;
    for (const size_t candidate : sorted)
      if (std::none_of(found.begin(), found.end(),
                       [&](size_t one) { return dominates(features_[one], features_[candidate]); }))
        found.push_back(candidate);
    return found;
  }

  void pareto() {
    std::vector<double> sums;
    for (const FeatureImportance& one : features_) sums.push_back(sum(one.by_task));
    sort_by(pool_, features_, sums);
    for (int number = 0; !pool_.empty(); ++number) {
      Order found = front(pool_);
      for (const size_t i : found) choices_[i].front = number;
      std::erase_if(pool_, [&](size_t i) { return choices_[i].front == number; });
      const std::string name = "front " + std::to_string(number);
      if (found.size() <= left()) {
        for (const size_t i : found) take(i, name + ": nothing left dominates it");
        continue;
      }
      if (options_.tie_break == TieBreak::Random) {
        found = by_name(std::move(found), features_);
        shuffle(found, options_.seed);
      } else {
        rank_order(found);
      }
      const uint64_t room = left();
      for (size_t k = 0; k < found.size(); ++k) {
        if (k < room)
          take(found[k], name + ", of which the budget takes a part");
        else
          choices_[found[k]].why = room == 0 ? name + ": the budget was full before"
                                             : name + ": the budget took others of it";
      }
    }
  }

  // Best total of the ranks by task first.
  void rank_order(Order& order) const {
    std::vector<double> score(features_.size(), 0);
    for (size_t j = 0; j < tasks_; ++j) {
      Order ranks = order;
      std::vector<double> importance(features_.size());
      for (const size_t i : order) importance[i] = features_[i].by_task[j];
      sort_by(ranks, features_, importance);
      for (size_t k = 0; k < ranks.size(); ++k) score[ranks[k]] -= static_cast<double>(k);
    }
    sort_by(order, features_, score);
  }

  void weighted_sum() {
    std::vector<double> score;
    for (const FeatureImportance& one : features_) {
      double total = 0;
      for (size_t j = 0; j < tasks_; ++j)
        total += one.by_task[j] * (options_.weights.empty() ? 1 : options_.weights[j]);
      score.push_back(total);
    }
    sort_by(pool_, features_, score);
    take_first("among the largest weighted sums");
  }

  // Each task in turn takes its most important feature that is left.
  void round_robin() {
    std::vector<Order> wishes(tasks_, pool_);
    for (size_t j = 0; j < tasks_; ++j) {
      std::vector<double> score;
      for (const FeatureImportance& one : features_) score.push_back(one.by_task[j]);
      sort_by(wishes[j], features_, score);
    }
    for (size_t rank = 0; left() != 0 && rank < pool_.size() * tasks_; ++rank) {
      Order& wish = wishes[rank % tasks_];
      const auto next =
          std::find_if(wish.begin(), wish.end(), [&](size_t i) { return !choices_[i].selected; });
      if (next == wish.end()) break;
      take(*next, "the turn of task " + std::to_string(rank % tasks_));
    }
    say_the_rest();
  }

  void random() {
    pool_ = by_name(std::move(pool_), features_);
    shuffle(pool_, options_.seed);
    take_first("drawn");
  }

  void take_first(const std::string& why) {
    for (const size_t i : pool_)
      if (left() != 0) take(i, why);
    say_the_rest();
  }

  void say_the_rest() {
    for (const size_t i : pool_)
      if (!choices_[i].selected) choices_[i].why = "the budget was full before";
  }

  const std::vector<FeatureImportance>& features_;
  const SelectionOptions& options_;
  std::vector<Choice> choices_;
  Order pool_;
  size_t tasks_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace

bool dominates(const FeatureImportance& one, const FeatureImportance& other) {
  INVARIANT(one.by_task.size() == other.by_task.size());
  bool more = false;
  for (size_t j = 0; j < one.by_task.size(); ++j) {
    if (one.by_task[j] < other.by_task[j]) return false;
    more = more || one.by_task[j] > other.by_task[j];
  }
  return more;
}

std::vector<Choice> select_features(const std::vector<FeatureImportance>& features,
                                    const SelectionOptions& options) {
  return Selection(features, options).run();
}

}  // namespace weft::lattice
