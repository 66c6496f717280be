// SPDX-License-Identifier: Apache-2.0

// The second stage: a candidate's source becomes a shared object, in a sandbox and under limits.
#pragma once

#include <atomic>
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

struct BuildPlace {
  std::string folder;                         // scratch; must exist
  std::string cache;                          // folder of finished builds; empty: none is used
  const std::atomic<bool>* cancel = nullptr;  // ends the build with an error once it is true
};

struct BuildOutcome {
  bool built = false;
  std::string failure;  // why not, one line
  std::string log;      // of the compiler, as it printed it
  std::vector<std::string>
      notes;           // lines worth reading: spills, potential performance loss, serialised wgmma
  std::string object;  // path of the shared object
  std::string ptx;     // its PTX text for the virtual architecture
  bool from_cache = false;
  bool sandboxed = false;
  std::string sandbox_reason;  // why not
};

// The error is one of the surroundings; what the candidate's source does wrong is in the outcome.
// Failed builds are not kept.
Result<BuildOutcome> build_candidate(const Candidate& candidate, const Toolchain& toolchain,
                                     const BuildPlace& place, const BuildLimits& limits);

// The text without the scratch folder's name: the compiler puts it before every relative path.
std::string without_folder(std::string text, const std::string& folder);

}  // namespace weft::judge
