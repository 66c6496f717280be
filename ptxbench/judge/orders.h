// SPDX-License-Identifier: Apache-2.0

// What the judge tells the worker and what the worker says back, both as JSON files in the scratch
// folder. The worker gets bytes, shapes and launches; it never learns references, tolerances or
// seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/launch.h"

namespace weft::judge {

struct TensorOrder {
  std::string name;
  uint8_t code = 0, bits = 0;  // of DLPack's DLDataType
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  bool output = false;
};

struct Orders {
  std::string candidate;  // path of the shared object or PTX text
  bool ptx = false;
  std::string inputs, outputs, report;  // two folders and a file
  std::vector<TensorOrder> tensors;     // in call order
  std::vector<uint8_t> poisons;         // of the outputs, one a trial
  uint64_t guard_bytes = 0;  // before and behind each tensor; 0 where bounds are checked exactly
  std::vector<ResolvedLaunch> launches;  // of a PTX candidate

  // Bytes of one tensor for one trial.
  std::string input_file(unsigned trial, size_t tensor) const;
  std::string output_file(unsigned trial, size_t tensor) const;
};

struct GuardDamage {
  unsigned trial = 0;
  std::string tensor;
  bool behind = false;    // or before
  uint64_t distance = 0;  // bytes from the tensor's edge to the nearest damage
};

struct WorkerReport {
  // What the worker was about to do or failed at: "start", "load", "prepare", "call",
  // "synchronize", "collect", "done".
  std::string stage = "start";
  unsigned trial = 0;
  bool failed = false;
  std::string kind, message;  // of the failure
  unsigned completed_trials = 0;
  std::vector<GuardDamage> damage;
};

std::string to_text(const Orders& orders);
Result<Orders> read_orders(std::string text, const std::string& file);
std::string to_text(const WorkerReport& report);
Result<WorkerReport> read_worker_report(std::string text, const std::string& file);

}  // namespace weft::judge
