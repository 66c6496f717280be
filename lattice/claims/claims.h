// SPDX-License-Identifier: Apache-2.0

// The claims of the paper that can be measured here, each an experiment with a criterion. A claim
// that fails says so.
#pragma once

#include "base/result.h"
#include "lattice/claims/experiment.h"

namespace weft::lattice {

struct Claim {
  int number;
  const char* what;
  Result<ClaimReport> (*work)(const ClaimOptions&);
};
const std::vector<Claim>& claims();

Result<ClaimReport> claim_consolidation(const ClaimOptions& options);
Result<ClaimReport> claim_untying(const ClaimOptions& options);
Result<ClaimReport> claim_windows(const ClaimOptions& options);
Result<ClaimReport> claim_selection(const ClaimOptions& options);
Result<ClaimReport> claim_transfer(const ClaimOptions& options);
Result<ClaimReport> claim_networks(const ClaimOptions& options);

}  // namespace weft::lattice
