// SPDX-License-Identifier: Apache-2.0

// The shortest time that a task can take on a device: all its operations at the tensor units' peak
// and at the highest clock, or all its bytes at the memory's. Nothing is faster, so a time below it
// is a fault of the measurement, whatever caused it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ptxbench/judge/device_state.h"
#include "ptxbench/problems/workload.h"

namespace weft::judge {

struct Roofline {
  double seconds = 0;
  double peak_flops = 0;  // operations a second
  double bytes_a_second = 0;
  double operations = 0;
  uint64_t bytes = 0;      // that must cross the memory's pins
  bool by_memory = false;  // the memory's time is the longer one
};

struct WorkSize {
  double operations = 0;
  uint64_t input_bytes = 0, output_bytes = 0;
  unsigned element_bits = 16;  // of the operands: 8 doubles the tensor units' peak
};

WorkSize work_of(const problems::Task& task);

// Nothing for a device whose peak is not known. `l2_bytes` of the outputs may stay in the cache.
std::optional<Roofline> roofline(const WorkSize& work, const DeviceFacts& device,
                                 uint64_t l2_bytes);

}  // namespace weft::judge
