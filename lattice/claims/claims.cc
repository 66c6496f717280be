// SPDX-License-Identifier: Apache-2.0

#include "lattice/claims/claims.h"

namespace weft::lattice {

const std::vector<Claim>& claims() {
  static const std::vector<Claim> kClaims = {
      {1, "one merged model costs less and loses nowhere", claim_consolidation},
      {2, "untied weights rescue domains that conflict", claim_untying},
      {3, "Zipper beats every single window when most conversions are slow", claim_windows},
      {4, "fronts of features never starve a task", claim_selection},
      {5, "a teacher's embeddings and labels transfer 1.3 x what its labels alone do",
       claim_transfer},
      {6, "Lattice's network against the published ones at equal work", claim_networks},
  };
  return kClaims;
}

}  // namespace weft::lattice
