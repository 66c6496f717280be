// SPDX-License-Identifier: Apache-2.0

// What a partition says: domains and portfolios as they were measured, what pairs have in common,
// each decision with its reason, and the groups.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "lattice/consolidation/grouping.h"
#include "lattice/consolidation/sketch.h"

namespace weft::lattice {

struct DomainStatistics {
  std::string name;
  uint64_t rows = 0;
  Sketch users, items;
};

// Of two domains; no gradient is known yet.
Likeness overlap(const DomainStatistics& a, const DomainStatistics& b);

// Domains, portfolios, and the overlap of each pair of domains.
Json overlap_report(const std::vector<DomainStatistics>& domains,
                    const std::vector<Portfolio>& portfolios);

// `likeness[i][j]` of portfolios i < j.
Json partition_report(const std::vector<DomainStatistics>& domains,
                      const std::vector<Portfolio>& portfolios,
                      const std::vector<std::vector<Likeness>>& likeness, const Grouping& grouping);

}  // namespace weft::lattice
