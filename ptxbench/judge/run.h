// SPDX-License-Identifier: Apache-2.0

// The third stage: the candidate runs in the worker, sandboxed, on the emulated device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/status.h"

namespace weft::judge {

struct RunLimits {
  double seconds = 1800;        // wall clock of the whole run
  double launch_seconds = 0;    // of emulation a launch; 0: no limit
  uint64_t resident_bytes = 0;  // 0: from the task's size
};

struct EmulationSettings {
  std::string device = "h100";
  uint64_t schedule_seed = 0;
  unsigned workers = 0;  // 0: one per core
};

// The polluting bytes of the trials: one is NaN in every floating type, the other a huge number.
inline constexpr uint8_t kPoisons[] = {0xFF, 0x7B};

struct RunOutcome {
  std::optional<wire::Status> failure;  // none: the candidate ran to its end
  std::string evidence;                 // of the failure, one line
  std::string log;                      // what the candidate printed, cut
  WorkerReport worker;
  std::optional<EmulatorReport> report;
  std::string report_problem;  // why it is absent
  ProcessOutcome process;
  bool sandboxed = false;
  std::string sandbox_reason;
};

// `trials` holds the inputs of each trial. Outputs lie in `orders.output_file()` afterwards.
struct RunRequest {
  Orders orders;  // candidate, ptx and launches are set
  std::vector<std::vector<problems::Tensor>> trials;
};

// Completes `request.orders` and runs it in `folder`. The error is one of the surroundings.
Result<RunOutcome> run_candidate(RunRequest& request, const problems::Task& task,
                                 const Toolchain& toolchain, const std::string& folder,
                                 const EmulationSettings& settings, const RunLimits& limits);

}  // namespace weft::judge
