// SPDX-License-Identifier: Apache-2.0

// What a candidate asked of the device, asked again without the candidate: a process that holds
// none of its host code repeats the recorded launches with inputs that the candidate never saw. The
// counts of the audit come from here, because nothing that a candidate wrote can reach them.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/tensor.h"

namespace weft::judge {

enum class Tamper : uint8_t {
  Nothing,
  Products,  // accumulators of wgmma and tcgen05.mma become nonsense
  Copies,    // bytes that bulk and tensor copies land become nonsense
};

struct RepetitionRequest {
  std::string recording;            // file
  std::vector<uint64_t> addresses;  // of the tensors in the recorded call, inputs first
  std::vector<uint64_t> sizes;      // bytes of each
  const std::vector<problems::Tensor>* inputs = nullptr;
  uint8_t poison = 0;
  uint64_t schedule_seed = 0;
  Tamper tamper = Tamper::Nothing;
  std::string folder;  // scratch of the repetitions of one workload
  EmulationSettings emulation;
  RunLimits limits;
  const std::atomic<bool>* cancel = nullptr;
};

struct Repetition {
  std::string problem;  // why the recording cannot be repeated; empty: it was
  std::optional<EmulatorReport> report;
  std::vector<std::string> bytes;  // of every tensor; empty after a fault or a problem
};

// The error is one of the surroundings.
Result<Repetition> repeat(const RepetitionRequest& request, const Toolchain& toolchain);

}  // namespace weft::judge
