// SPDX-License-Identifier: Apache-2.0

// How long a candidate and a library took on a GPU, with everything that makes the numbers worth
// something: every sample, the timer, the device's state, the checks that were made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace weft::wire {

struct Samples {
  std::vector<double> nanoseconds;  // in the order in which they were taken
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  double spread = 0;              // (p90 - p10) / median
  std::optional<double> wall_ms;  // a call's share of a batch, by the judge's own clock
};

struct LibraryRecord {
  std::string name, version, algorithm, precision;
};

struct DeviceCondition {
  unsigned sm_mhz = 0, memory_mhz = 0, celsius = 0;
  double watts = 0;
  std::string throttled;  // why; empty: not
};

struct Timing {
  std::string timer;  // "cupti" or "events", the same for both arms
  Samples candidate;
  std::optional<Samples> library;
  LibraryRecord library_record;
  std::string library_reason;  // why there is none
  std::vector<double> ratios;  // library over candidate, round by round
  double ratio_median = 0, ratio_low = 0, ratio_high = 0, ratio_confidence = 0;
  std::optional<double> floor_ms;         // of the task on this device
  std::string floor_reason;               // why it is absent
  std::optional<double> empty_kernel_ms;  // the shortest time that the timer can see
  bool overhead_bound = false;            // under five times that
  unsigned outputs_checked = 0;           // of timed calls, drawn at random
  DeviceCondition before, after;
  std::vector<std::string> notes;
};

Json to_json(const Timing& timing);

}  // namespace weft::wire
