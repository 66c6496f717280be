// SPDX-License-Identifier: Apache-2.0

// Did the target instructions execute, and did they do the arithmetic?
#pragma once

#include <optional>

#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/wire/audit.h"

namespace weft::judge {

// At or above this share of the arithmetic the target instructions did the work ("full"); below
// kDecorativeShare they are decoration.
inline constexpr double kFullShare = 0.90;
inline constexpr double kDecorativeShare = 0.10;

// `workload_operations` is what the task needs over all trials of the run. The share is the
// operations of wgmma over the larger of that and all floating-point operations executed: a
// candidate can neither do the work elsewhere nor skip it.
wire::Audit audit(const EmulatorReport& report, std::optional<double> workload_operations);

}  // namespace weft::judge
