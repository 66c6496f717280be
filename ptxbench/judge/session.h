// SPDX-License-Identifier: Apache-2.0

// A candidate at work: one worker process, sandboxed, and the conversation with it. The judge makes
// calls one by one and looks at the bytes that come back after each.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/tensor.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/status.h"

namespace weft::judge {

struct RunLimits {
  double seconds = 1800;        // wall clock of the whole session
  double launch_seconds = 0;    // of emulation a launch; 0: no limit
  uint64_t resident_bytes = 0;  // 0: from the task's size
};

struct EmulationSettings {
  std::string device = "h100";
  uint64_t schedule_seed = 0;
  unsigned workers = 0;  // 0: one per core
};

struct Failure {
  wire::Status status = wire::Status::RuntimeError;
  std::string evidence;  // one line
};

// What is run and where.
struct SessionSettings {
  std::string candidate;  // path of the shared object or PTX text
  bool ptx = false;
  std::vector<ResolvedLaunch> launches;  // of a PTX candidate
  std::string folder;                    // scratch of this session alone; is made
  std::optional<unsigned> gpu;           // index of a GPU to run on; none: the emulator
  EmulationSettings emulation;
  RunLimits limits;
  const std::atomic<bool>* cancel = nullptr;  // ends the session with an error once it is true
};

struct SessionCall {
  const std::vector<problems::Tensor>* inputs = nullptr;  // none: those of the call before
  uint8_t poison = 0, guard = 0;
  bool move = false;
  bool record = false;  // into SessionSettings::folder + "/out/" + recording_file()
};

struct CallOutcome {
  std::optional<Failure> failure;
  WorkerReport report;
  std::vector<std::string> bytes;  // of every tensor after the call, when it did not fail
  std::string recording;           // path, when one was asked for
};

struct SessionEnd {
  std::string log;  // what the candidate printed, cut
  ProcessOutcome process;
  bool sandboxed = false;
  std::string sandbox_reason;            // why not
  std::optional<EmulatorReport> report;  // of a fault
};

class Session {
 public:
  // The error is one of the surroundings. A candidate that cannot be loaded is a failure of the
  // first call.
  static Result<std::unique_ptr<Session>> start(SessionSettings settings,
                                                const problems::Task& task,
                                                const Toolchain& toolchain);
  virtual ~Session() = default;
  // After a failure no further call may be made.
  virtual Result<CallOutcome> call(const SessionCall& call) = 0;
  // Ends the process. May be called once.
  virtual Result<SessionEnd> finish() = 0;
};

// The tensors of a task in call order.
void add_tensors(Orders& orders, const problems::Task& task);

// A file that a candidate's process wrote: never a link, a pipe or a device, and not longer than
// `most` bytes.
Result<std::string> read_foreign_file(const std::string& path, uint64_t most);

}  // namespace weft::judge
