// SPDX-License-Identifier: Apache-2.0

// A candidate and a library side by side on one GPU, each in a process of its own: which machine
// instructions the candidate executes, and how long both take.
//
// Against tampering with times: the candidate's process reports device times, and the judge's own
// clock bounds them from above and below. A batch of calls back to back takes as long as it takes,
// whatever timer the candidate bends; its outputs are checked, and so are those of timed calls
// drawn at random, whose inputs nobody has seen before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/device_counts.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/timing.h"

namespace weft::judge {

// Inputs with which the candidate was right: in files, as Orders::input_file() names them, and the
// outputs that it gave.
struct ProvenContent {
  std::string folder;
  std::vector<std::string> outputs;
};

struct DeviceBenchSettings {
  Orders orders;
  std::vector<ProvenContent> contents;
  std::string folder;  // scratch
  unsigned device = 0;
  unsigned least_rounds = 30, most_rounds = 100;
  double confident = 0.01;  // rounds end once the ratio's interval is this narrow, relatively
  double seconds = 120;     // of the processes' lives
};

struct TimingOutcome {
  std::optional<Failure> failure;
  std::optional<wire::Timing> timing;  // absent with a failure
};

class DeviceBench {
 public:
  // The processes start; nothing is waited for.
  static Result<std::unique_ptr<DeviceBench>> start(const DeviceBenchSettings& settings,
                                                    const problems::Task& task,
                                                    const Toolchain& toolchain);
  virtual ~DeviceBench() = default;

  // One call's instructions. The error says why they cannot be had. Comes before time().
  virtual Result<DeviceCounts> count() = 0;
  virtual Result<TimingOutcome> time() = 0;
};

}  // namespace weft::judge
