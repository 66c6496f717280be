// SPDX-License-Identifier: Apache-2.0

// What the timer's self-test proves about a device: that a kernel of known length reads right, how
// short a time can be seen at all, and that cold means cold.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

struct TimerFinding {
  std::string name;
  bool good = false;
  std::string detail;
};

struct TimerCheck {
  std::vector<TimerFinding> findings;
  Json samples;  // as measured, nanoseconds
  bool passed() const;
};

// Runs the kernels on GPU `device`. The error is one of the surroundings.
Result<TimerCheck> check_timer(unsigned device, const Toolchain& toolchain);

// The judgement alone, on samples of self_test.h's form.
TimerCheck judge_timer(const Json& samples, const DeviceFacts& facts);

}  // namespace weft::judge
