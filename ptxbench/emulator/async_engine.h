// SPDX-License-Identifier: Apache-2.0

// Work that the hardware does beside the warps: asynchronous copies and what completes them. An
// operation waits in the queue until its time comes or until nothing else can run; only then does it
// read and write memory, so a program that forgets to wait sees stale data, as it might on hardware.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace weft::emulator {

struct Cluster;

struct AsyncOperation {
  virtual ~AsyncOperation() = default;
  // Reads, writes and signals. False after a fault, which the operation has recorded in the grid.
  virtual bool perform(Cluster& cluster) = 0;
  uint64_t due = 0;        // cluster clock
  uint64_t order = 0;      // ties: first submitted first
};

class AsyncEngine {
 public:
  void submit(std::unique_ptr<AsyncOperation> operation, uint64_t due);
  bool empty() const { return queue_.empty(); }
  std::optional<uint64_t> next_due() const;
  // Performs everything due at `now`, in order of time. False after a fault.
  bool advance(Cluster& cluster, uint64_t now);

 private:
  std::vector<std::unique_ptr<AsyncOperation>> queue_;   // a heap on (due, order)
  uint64_t submitted_ = 0;
};

}  // namespace weft::emulator
