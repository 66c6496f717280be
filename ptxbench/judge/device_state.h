// SPDX-License-Identifier: Apache-2.0

// A GPU's identity, limits and momentary state, from NVML, in the judge's own process: no candidate
// can colour it. Nothing is changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace weft::judge {

struct DeviceFacts {
  std::string name, driver;
  unsigned multiprocessors = 0;  // 0: not known
  unsigned compute_major = 0, compute_minor = 0;
  unsigned max_sm_mhz = 0, max_memory_mhz = 0, memory_bus_bits = 0;
};

struct DeviceState {
  unsigned sm_mhz = 0, memory_mhz = 0, celsius = 0;
  double watts = 0;
  uint64_t throttle_reasons = 0;  // as NVML counts them, see throttle_words()
  unsigned other_processes = 0;   // that compute on the device
};

class DeviceMonitor {
 public:
  static Result<DeviceMonitor> open(unsigned index);
  const DeviceFacts& facts() const { return facts_; }
  DeviceState state() const;

 private:
  struct Functions;
  const Functions* functions_ = nullptr;
  void* device_ = nullptr;
  DeviceFacts facts_;
};

// "software power cap, hardware thermal slowdown"; empty when nothing but idleness or the
// application's own setting holds the clocks back.
std::string throttle_words(uint64_t reasons);

}  // namespace weft::judge
