// SPDX-License-Identifier: Apache-2.0

// ptxbench tasks lint: whether the tasks themselves deserve trust.
#pragma once

#include <string>

#include "ptxbench/problems/catalogue.h"

namespace weft::ptxbench {

struct TrustOptions {
  std::string name;  // of one task; empty: all
  std::string
      write;  // lint: the task folder, to store reports beside the workloads; measure: a file
  bool json = false;
};

// Exit codes: 0 all admitted, 1 not.
int lint(const problems::Catalogue& catalogue, const TrustOptions& options);

}  // namespace weft::ptxbench
