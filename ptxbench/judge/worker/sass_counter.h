// SPDX-License-Identifier: Apache-2.0

// Counts on a GPU which machine instructions execute, through CUPTI's SASS metrics: the driver
// patches the loaded code with counters, in one pass and in this process. Works once per process,
// and no launch may be timed while it counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::judge {

struct SassCount {
  std::string function;  // mangled
  uint32_t offset = 0;   // bytes from the function's start
  uint64_t warps = 0;    // executions by a warp
  uint64_t threads = 0;  // executions by a thread with every predicate true
};

class SassCounter {
 public:
  // Launches after this are counted, until finish(). Every function that is loaded is patched at
  // once, or each when it first runs.
  enum class Patching : uint8_t { AtOnce, WhenRun };
  static Result<SassCounter> start(Patching patching);
  Result<std::vector<SassCount>> finish();

  SassCounter(SassCounter&&) noexcept;
  ~SassCounter();

 private:
  struct State;
  explicit SassCounter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::judge
