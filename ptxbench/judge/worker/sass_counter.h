// SPDX-License-Identifier: Apache-2.0

// Counts on a GPU which machine instructions execute, through CUPTI's SASS metrics: the driver
// patches the loaded code with counters, in one pass and in this process. Works once per process
// and, with CUPTI 13.0, for the function that is launched first only; no launch may be timed while
// it counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/sass_count.h"

namespace weft::judge {

class SassCounter {
 public:
  // Launches after this are counted, until finish(). Every function that is loaded is patched.
  static Result<SassCounter> start();
  Result<std::vector<SassCount>> finish();

  SassCounter(SassCounter&&) noexcept;
  ~SassCounter();

 private:
  struct State;
  explicit SassCounter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::judge
