// SPDX-License-Identifier: Apache-2.0

// From what is known about portfolios to groups that one model each should serve. The paper names
// the criteria and no formula, so this is a policy with its reasons written out: every merge that
// was made or refused carries the numbers that decided it. No files here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::lattice {

struct Portfolio {
  std::string domain, objective;
  uint64_t impressions = 0, conversions = 0;
  double rate = 0;
  std::optional<double> median_delay_seconds;  // none without conversions
  double revenue = 1;                          // weight
  double latency_ms = 20;                      // what serving may take
  double mflops = 20;                          // per sample, of the model that serves it today
  std::string name() const { return domain + "/" + objective; }
};

// What two portfolios have in common.
struct Likeness {
  double user_jaccard = 1, user_containment = 1, item_jaccard = 1, item_containment = 1;
  // Of the gradients that both send into shared weights; none where there is too little to tell.
  std::optional<double> gradient_cosine;
};

struct GroupingPolicy {
  double threshold = 0.2;  // least mean affinity of a merge
  double user_weight = 0.5, item_weight = 0.5;
  double delay_weight = 0.03;    // per e-fold between the median delays
  double density_weight = 0.1;   // per unit of logit between the rates
  double gradient_weight = 0.5;  // times the cosine
  uint64_t most_members = 8;
  double mflops_per_ms = 5;  // speed of serving
  double total_mflops = 0;   // to be shared by revenue; 0: as much as today
};

struct Affinity {
  double total = 0, overlap = 0, delay = 0, density = 0, gradient = 0;
};

struct Decision {
  bool merged = false;
  std::vector<size_t> left, right;
  double affinity = 0;
  std::string why;
};

struct Group {
  std::vector<size_t> members;
  double revenue_share = 0, mflops = 0, budget_mflops = 0, latency_ms = 0;
  bool within_budget = true;
  std::vector<std::pair<size_t, size_t>> untie;  // members whose gradients oppose each other
};

struct Grouping {
  std::vector<std::vector<Affinity>> affinities;
  std::vector<Decision> decisions;  // merges in their order, then the refusals among what is left
  std::vector<Group> groups;
};

Affinity affinity(const Portfolio& a, const Portfolio& b, const Likeness& likeness,
                  const GroupingPolicy& policy);

// `likeness[i][j]` for i < j. Average linkage; of equal affinities the first pair wins.
Grouping group_portfolios(const std::vector<Portfolio>& portfolios,
                          const std::vector<std::vector<Likeness>>& likeness,
                          const GroupingPolicy& policy);

}  // namespace weft::lattice
