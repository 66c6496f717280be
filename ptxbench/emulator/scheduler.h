// SPDX-License-Identifier: Apache-2.0

// Runs the clusters of a grid on one host thread: warps of a cluster take turns, asynchronous work
// is done when its time comes, and when nothing can run any more the deadlock is told in full.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ptxbench/emulator/grid.h"

namespace weft::emulator {

class Worker {
 public:
  Worker(GridRun& grid, uint32_t number, uint32_t workers);
  // Takes clusters from the grid until none is left or the grid stops.
  void run();
  const Tally& tally() const { return tally_; }

 private:
  enum class Turn : uint8_t { Ran, Finished, Stuck };
  struct Resident {
    std::unique_ptr<Cluster> cluster;
    uint64_t forced_rounds = 0;  // how often waits were timed out in a row
    uint64_t fingerprint = 0;    // of the state at the last look
  };

  bool admit();
  void begin(Cluster& cluster, uint64_t number);
  Turn turn(Resident& resident);
  bool force(Resident& resident);  // times out blocked waits; false: the cluster is dead
  bool out_of_time();

  GridRun& grid_;
  uint32_t number_, workers_;
  uint64_t share_ = 1;  // clusters this worker may hold at once
  Tally tally_;
  std::vector<Resident> residents_;
  std::vector<std::unique_ptr<Cluster>> retired_;  // kept for their memory
  uint64_t ran_since_admission_ = 0;
};

// A fault that names every waiting warp, what it waits for and what never came.
Fault describe_deadlock(Cluster& cluster);

}  // namespace weft::emulator
