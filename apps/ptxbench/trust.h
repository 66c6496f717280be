// SPDX-License-Identifier: Apache-2.0

// ptxbench tasks lint and measure: whether the tasks themselves deserve trust.
#pragma once

#include <string>

#include "ptxbench/problems/catalogue.h"

namespace weft::ptxbench {

struct TrustOptions {
  std::string name;   // of one task; empty: all
  std::string write;  // the task folder, to store reports beside the workloads
  bool json = false;
  double operations = 0;  // that one reference may cost; 0: the verb's own limit
};

// Exit codes: 0 all admitted, 1 not.
int lint(const problems::Catalogue& catalogue, const TrustOptions& options);
int measure(const problems::Catalogue& catalogue, const TrustOptions& options);

}  // namespace weft::ptxbench
