// SPDX-License-Identifier: Apache-2.0

// One launch while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/machine.h"

namespace weft::emulator {

struct GridRun {
  Machine* machine = nullptr;
  GlobalMemory* memory = nullptr;
  const Kernel* kernel = nullptr;
  Extent grid, block, cluster;
  uint32_t dynamic_shared = 0;
  uint32_t shared_bytes = 0;  // static + dynamic, as laid out
  uint32_t dynamic_shared_offset = 0;
  std::span<std::byte> parameters;  // copy of the launch's; kernels may take its address
  bool cooperative = false;
  bool counting = true;
  uint64_t resident_clusters = 1;  // that the modelled device holds at once
  std::optional<std::chrono::steady_clock::time_point> deadline;
  uint64_t id = 0;                       // %gridid
  bool explicit_cluster = false;         // launched with a cluster dimension
  uint64_t cooperative_workspace = 0;    // device address; 0 when the launch is not cooperative
  std::vector<uint32_t> thread_indices;  // by warp: 32 x, 32 y, 32 z
  const uint32_t* thread_index(uint32_t warp, uint32_t axis) const {
    return thread_indices.data() + (warp * 3 + axis) * kLanes;
  }
  uint64_t schedule_seed = 0;
  std::atomic<uint64_t> next_cluster{0};  // clusters not yet begun
  uint64_t cluster_count = 0;
  std::atomic<bool> stop{false};  // a fault or the time limit: every worker leaves
  std::mutex fault_mutex;
  std::optional<Fault> fault;  // the first one

  // Writes what kernels print, one call at a time.
  void print(std::string_view text);
  // Keeps the first fault and tells all workers to stop.
  void record(Fault fault);
};

}  // namespace weft::emulator
