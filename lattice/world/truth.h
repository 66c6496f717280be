// SPDX-License-Identifier: Apache-2.0

// Sums of what is known about each portfolio (a domain and an objective) for each window, and the
// Bayes-optimal normalized entropy they give: no model that sees the rows can expect a lower one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lattice/world/configuration.h"

namespace weft::lattice {

// P(a conversion of the objective comes within `seconds`), given that it comes at all.
double share_within(const ObjectiveConfiguration& objective, double seconds);

class Truth {
 public:
  explicit Truth(const WorldConfiguration& configuration);

  // One row: probability of ever converting, and after how long it did (negative: never).
  void add(size_t domain, size_t objective, double probability, double delay_seconds);
  void add(const Truth& other);

  // Per portfolio: rows, conversions, mean probability; per window ("ever" last): rate,
  // bayes_logloss, bayes_ne, and realized_ne, which is what the true probabilities score on the
  // labels that were drawn. Null where no label, or every label, is positive.
  Json to_json() const;
  // The sums themselves, to be kept with a part of the log and added up later.
  Json sums() const;
  Result<Done> add_sums(const Json& sums);

 private:
  struct Sum {
    uint64_t rows = 0, conversions = 0;
    double probability = 0;  // sum over rows
    double entropy = 0;      // sum of -p ln p - (1-p) ln(1-p)
    double loss = 0;         // sum of -ln of what was drawn
  };
  size_t windows() const { return configuration_.windows.size() + 1; }

  WorldConfiguration configuration_;
  std::vector<double> shares_;  // objective x window
  std::vector<Sum> sums_;       // domain x objective x window
};

}  // namespace weft::lattice
