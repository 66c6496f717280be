// SPDX-License-Identifier: Apache-2.0

// What the judge and the worker say to each other. The orders are a file that is read once; after
// that, one line of JSON goes through a named pipe for every call, and lines come back through
// another. So the worker's process knows the calls that were made, and never how many follow. It
// gets bytes, shapes and launches; references, tolerances and seeds stay with the judge.
#pragma once

#include <cstdint>
#include <optional>
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
  std::optional<double> scalar;  // passed by value instead of as a tensor
};

struct Orders {
  std::string candidate;  // path of the shared object or PTX text
  bool ptx = false;
  std::string inputs, outputs;           // folders for the tensors' bytes
  std::string calls, reports;            // pipes: to the worker, from the worker
  std::vector<TensorOrder> tensors;      // in call order
  uint64_t guard_bytes = 0;              // before and behind each tensor
  std::vector<ResolvedLaunch> launches;  // of a PTX candidate

  // The bytes of a tensor before the current call (inputs only) and after it.
  std::string input_file(size_t tensor) const;
  std::string output_file(size_t tensor) const;
};

// One call. The inputs lie in their files by then.
struct CallOrder {
  uint8_t poison = 0;     // fills the outputs
  uint8_t guard = 0;      // fills the zones round the tensors
  bool move = false;      // every tensor gets memory that no call has seen
  std::string recording;  // file for what the device is asked to do; empty: none
};

struct GuardDamage {
  std::string tensor;
  bool behind = false;    // or before
  uint64_t distance = 0;  // bytes from the tensor's edge to the nearest damage
};

struct WorkerReport {
  // What the worker was about to do or failed at: "start", "load", "ready" (for a call), "prepare",
  // "call", "synchronize", "collect", "done" (with a call).
  std::string stage = "start";
  bool failed = false;
  std::string kind, message;  // of the failure
  std::vector<GuardDamage> damage;
  // Tensors whose description the candidate changed: another shape (or rank, strides, pointer) or
  // another element type than the task's.
  std::vector<std::string> reshaped, retyped;
  int threads_left = 0;             // that the call started and that run on
  std::vector<uint64_t> addresses;  // of the tensors' first bytes, as kernels see them
};

std::string to_text(const Orders& orders);
Result<Orders> read_orders(std::string text, const std::string& file);
// One line each, without its end.
std::string to_line(const CallOrder& call);
Result<CallOrder> read_call(std::string line);
std::string to_line(const WorkerReport& report);
Result<WorkerReport> read_worker_report(std::string line);

}  // namespace weft::judge
