// SPDX-License-Identifier: Apache-2.0

// Which machine instructions one call of a candidate executes on a GPU, and how often: by CUPTI in
// the candidate's own process, or, where that cannot count every function, by Nsight Compute around
// it. Code that was patched to count is never timed, so these processes are others than the one
// that is.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "base/result.h"
#include "ptxbench/judge/bench.h"
#include "ptxbench/judge/disassembly.h"
#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

struct DeviceCounts {
  EmulatorReport report;
  std::string method;  // "cupti sass metrics" or "ncu source counters"
};

// What one call of the candidate launches.
struct LaunchedFunctions {
  std::vector<std::string> names;
  uint64_t launches = 0;
};

class DeviceCounter {
 public:
  // `settings` are those of the candidate's bench. The process that counts starts and the machine
  // code is taken apart meanwhile; nothing is waited for.
  static Result<DeviceCounter> start(const BenchSettings& settings, const Toolchain& toolchain,
                                     const std::string& scratch);

  // Every function in `launched` must have been counted. The error says why that cannot be had.
  Result<DeviceCounts> count(const LaunchedFunctions& launched);

 private:
  DeviceCounter(BenchSettings settings, const Toolchain& toolchain)
      : settings_(std::move(settings)), toolchain_(&toolchain) {}
  Result<EmulatorReport> by_cupti(const LaunchedFunctions& launched, const Disassembly& code);
  Result<EmulatorReport> by_ncu(const LaunchedFunctions& launched, const Disassembly& code);

  BenchSettings settings_;
  const Toolchain* toolchain_;
  std::future<Result<Disassembly>> code_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace weft::judge
