// SPDX-License-Identifier: Apache-2.0

// Work that the hardware does beside the warps: asynchronous copies and what completes them. An
// operation waits in the queue until its time comes or until nothing else can run; only then does
// it read and write memory, so a program that forgets to wait sees stale data, as it might on
// hardware.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptxbench/emulator/fault.h"

namespace weft::ptx {
struct Instruction;
}

namespace weft::emulator {

struct Block;
struct Cluster;
struct Op;
struct Warp;

// Who issued an operation: enough to report its fault after the issuing op is gone. Warps live as
// long as their cluster, and a cluster ends only when its queue is empty.
struct IssuePlace {
  Warp* warp = nullptr;
  const ptx::Instruction* instruction = nullptr;
  int lane = 0;

  // Records a fault of the operation, with a note that it was issued here. Always false.
  bool fault(FaultKind kind, std::string message, uint64_t address = 0,
             std::vector<std::string> notes = {}) const;
};

IssuePlace issue_place(Warp& warp, const Op& op, int lane);

struct AsyncOperation {
  virtual ~AsyncOperation() = default;
  // Reads, writes and signals; may submit what follows. False after a fault, which the operation
  // has recorded in the grid.
  virtual bool perform(Cluster& cluster) = 0;
  uint64_t due = 0;    // cluster clock
  uint64_t order = 0;  // ties: first submitted first
};

class AsyncEngine {
 public:
  void submit(std::unique_ptr<AsyncOperation> operation, uint64_t due);
  bool empty() const { return queue_.empty(); }
  std::optional<uint64_t> next_due() const;
  // Performs everything due at `now`, in order of time. False after a fault.
  bool advance(Cluster& cluster, uint64_t now);

 private:
  std::vector<std::unique_ptr<AsyncOperation>> queue_;  // a heap on (due, order)
  uint64_t submitted_ = 0;
};

// Typical times in cluster clock ticks (warp instructions), from issue to effect. Their order is
// what matters: a copy of a few bytes overtakes a bulk copy, which overtakes a tensor copy.
inline constexpr uint64_t kLaneCopyLatency = 100;
inline constexpr uint64_t kBulkCopyLatency = 200;
inline constexpr uint64_t kTensorCopyLatency = 300;
inline constexpr uint64_t kRemoteStoreLatency = 50;
inline constexpr uint64_t kWriteAfterReadLatency = 100;  // of a copy's second half

// Submits an operation whose effect comes about `typical` ticks from now.
void submit_after(Cluster& cluster, std::unique_ptr<AsyncOperation> operation, uint64_t typical);

}  // namespace weft::emulator
