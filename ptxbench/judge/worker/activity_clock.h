// SPDX-License-Identifier: Apache-2.0

// What ran on the device and when, by CUPTI's activity records: start and end of every kernel, copy
// and fill by the device's own clock. Each record carries the tag that was set on the launching
// thread, so that our own preparation is never taken for the candidate's work, and work that
// another thread launched shows as untagged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::judge {

struct DeviceActivity {
  uint64_t start = 0, end = 0;  // ns
  uint64_t tag = 0;             // 0: launched by a thread that set none
  bool kernel = false;          // or a copy or fill
  uint64_t to_host = 0;         // bytes that a copy took from the device to the host
  std::string name;             // of a kernel's function, mangled
};

class ActivityClock {
 public:
  // One at a time in a process.
  static Result<std::unique_ptr<ActivityClock>> start();
  ~ActivityClock();

  // Launches of this thread carry `tag` until the next call of untag().
  void tag(uint64_t tag);
  void untag();
  uint64_t now() const;  // ns, on the records' clock

  // All records of finished work since the last call, by start. The device must be idle.
  Result<std::vector<DeviceActivity>> collect();

 private:
  struct State;
  explicit ActivityClock(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::judge
