// SPDX-License-Identifier: Apache-2.0

// Functions that the CUDA device runtime provides and PTX only declares: printing, assertions, the
// heap.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

// One thread's call: arguments as 64-bit values (narrower ones zero-extended).
struct DeviceCall {
  Warp& warp;
  const Op& op;
  int lane;
  std::vector<uint64_t> arguments;
  uint64_t* result;
};

struct DeviceFunction {
  std::string_view name;
  Outcome (*run)(DeviceCall& call);
};

// nullptr: not one of ours.
const DeviceFunction* find_device_function(std::string_view name);

}  // namespace weft::emulator
