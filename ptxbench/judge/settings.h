// SPDX-License-Identifier: Apache-2.0

// How a judgement is made: limits, effort, and where its numbers come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ptxbench/judge/build.h"
#include "ptxbench/judge/session.h"

namespace weft::judge {

struct Settings {
  std::optional<unsigned> gpu;  // index of a GPU to run on; none: the emulator
  EmulationSettings emulation;
  BuildLimits build_limits;
  RunLimits run_limits;
  std::string build_cache;  // folder (see default_build_cache()); empty: every build is made anew
  // Folder for the files of small tasks, best in memory; empty: that of all temporary files.
  std::string memory_scratch;
  // Calls with fresh inputs in the same memory. One more call gives the last inputs again in memory
  // that no call has seen, and up to `extra_calls` more follow, how many follows from the seed.
  unsigned trials = 2;
  unsigned extra_calls = 2;
  uint64_t input_seed = 0;  // 0: drawn afresh, so that inputs cannot be known beforehand
  // Told when a stage starts; may be empty.
  std::function<void(std::string_view stage)> on_stage;
  // Once it is true, the judgement ends with an error; may be null.
  const std::atomic<bool>* cancel = nullptr;
};

}  // namespace weft::judge
