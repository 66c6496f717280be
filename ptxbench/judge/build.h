// SPDX-License-Identifier: Apache-2.0

// The second stage: a candidate's source becomes a shared object, in a sandbox and under limits.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

struct BuildLimits {
  double seconds = 300;
  uint64_t resident_bytes = uint64_t{8} << 30;
};

struct BuildOutcome {
  bool built = false;
  std::string failure;  // why not, one line
  std::string log;      // of the compiler, as it printed it
  std::vector<std::string>
      notes;           // lines worth reading: spills, potential performance loss, serialised wgmma
  std::string object;  // path of the shared object
  std::string ptx;     // its PTX text for the virtual architecture
  bool sandboxed = false;
  std::string sandbox_reason;  // why not
};

// Writes into `folder`. The error is one of the surroundings; what the candidate's source does
// wrong is in the outcome.
Result<BuildOutcome> build_candidate(const Candidate& candidate, const Toolchain& toolchain,
                                     const std::string& folder, const BuildLimits& limits);

// The text without the scratch folder's name: the compiler puts it before every relative path.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace weft::judge
