// SPDX-License-Identifier: Apache-2.0

// A recording, performed once on a fresh emulated device with other inputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/emulator/machine.h"
#include "ptxbench/emulator/recording.h"
#include "ptxbench/judge/replay/device_memory.h"
#include "ptxbench/judge/replay/replay_orders.h"

namespace weft::judge {

class Replay {
 public:
  // The orders outlive the replay.
  Replay(const ReplayOrders& orders, const emulator::DeviceModel& model);

  // Stops at a fault. The error says why the recording cannot be repeated.
  Result<Done> run(const std::vector<emulator::RecordedOperation>& operations);
  // Every tensor into its file.
  Result<Done> write_tensors() const;
  const std::optional<emulator::Fault>& fault() const { return fault_; }
  // What was executed, in the form of the emulator's own report (report_rows.h).
  Json report(const std::string& problem) const;

 private:
  using Operation = emulator::RecordedOperation;
  struct LoadedModule {
    std::shared_ptr<emulator::Program> program;
    std::string digest;
  };
  struct KernelRuns {
    uint64_t launches = 0;
    double seconds = 0;
  };
  // A variable of the program that was recorded, and ours.
  struct MovedVariable {
    uint64_t recorded = 0, bytes = 0, here = 0;
  };

  Result<Done> perform(const Operation& operation);
  Result<Done> load(const Operation& operation);
  Result<Done> find_variable(const Operation& operation);
  Result<Done> fill_tensors(const Operation& allocation);
  Result<Done> write(const Operation& operation);
  Result<Done> copy(const Operation& operation);
  Result<Done> fill(const Operation& operation);
  Result<Done> launch(const Operation& operation);
  // A recorded address, as it is here.
  uint64_t here(uint64_t address) const;
  // Where a row lies here; null when it is no memory of the device.
  char* row(uint64_t address, uint64_t bytes) const;

  const ReplayOrders& orders_;
  emulator::Machine machine_;
  DeviceMemory memory_;
  std::map<uint64_t, LoadedModule> modules_;
  std::map<std::pair<uint64_t, std::string>, KernelRuns> runs_;
  std::vector<MovedVariable> variables_;
  std::optional<emulator::Fault> fault_;
};

}  // namespace weft::judge
