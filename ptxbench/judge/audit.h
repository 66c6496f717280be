// SPDX-License-Identifier: Apache-2.0

// Did the target instructions execute, and did they do the arithmetic?
#pragma once

#include <optional>

#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/wire/audit.h"

namespace weft::judge {

// At or above this share of the arithmetic the target instructions did the work ("full").
inline constexpr double kFullShare = 0.90;

// The share of the output's elements that changed when the results of the target instructions were
// replaced by nonsense; absent where that was not tried.
struct Effects {
  std::optional<double> products;  // of wgmma or tcgen05.mma
  std::optional<double> copies;    // of bulk and tensor copies
};

// `workload_operations` is what the task needs for the calls that the report covers. The share is
// the operations of these over the larger of that and all floating-point operations executed: a
// candidate can neither do the work elsewhere nor skip it. Classes:
//   absent      no target instruction executed
//   decorative  some did, and the output is the same without their results
//   partial     they count, but less than kFullShare of the arithmetic or of the output is theirs
//   full        the rest
//   unverified  they executed, and whether their results count was not found out
wire::Audit audit(const EmulatorReport& report, std::optional<double> workload_operations,
                  const Effects& effects);

}  // namespace weft::judge
