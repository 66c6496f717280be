// SPDX-License-Identifier: Apache-2.0

// Blocks and clusters while they run. One worker runs all blocks of a cluster, so nothing here is
// shared between host threads; only global memory is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptxbench/emulator/async_engine.h"
#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/schedule.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

struct Block;
struct Cluster;
struct GridRun;
class HazardCheck;

// One of the 16 barriers of bar/barrier. Arrivals are kept by lane because exited lanes of a warp
// that has arrived count too (PTX ISA 9.7.13.1: the arrival count goes up by the warp size).
struct NamedBarrier {
  uint32_t expected = 0;                   // threads; 0: no phase is under way
  std::array<LaneMask, 32> arrived{};      // by warp
  bool all_true = true, any_true = false;  // running .red results over all that arrived so far
  uint32_t true_count = 0;
  // Splits that wait; an arriving .arrive does not wait.
  struct Waiter {
    Warp* warp = nullptr;
    LaneMask lanes = 0;
    Slot reduction_result = kNoSlot;  // where the .red result goes when the phase completes
    uint8_t reduction = 0;
    const std::byte* registers = nullptr;  // of the frame that waits
  };
  std::vector<Waiter> waiters;
};

// State that a family of instructions keeps with a block; the family defines what derives from it.
struct FamilyState {
  virtual ~FamilyState() = default;
};

struct Block {
  GridRun* grid = nullptr;
  Cluster* cluster = nullptr;
  Extent index;         // %ctaid
  uint32_t rank = 0;    // %cluster_ctarank
  AlignedBytes shared;  // static + dynamic, 1024-byte aligned
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> barriers;
  uint32_t live_threads = 0;
  uint32_t threads = 0;
  std::unique_ptr<FamilyState> warpgroups;     // ops/warpgroup_matrix.cc
  std::unique_ptr<FamilyState> tensor_memory;  // tensor_memory.h
  bool finished() const { return live_threads == 0; }
};

struct Cluster {
  GridRun* grid = nullptr;
  // Counts what suggests waiting for another block: volatile, relaxed and acquire loads, atomics,
  // nanosleep. A cluster that does much of it may need a block that has not begun.
  uint64_t spin_hints = 0;
  std::vector<std::unique_ptr<Block>> blocks;  // by rank
  AsyncEngine async;
  Schedule schedule;
  uint64_t clock = 0;          // warp instructions run in this cluster: the time of async work
  uint64_t barrier_phase = 0;  // barrier.cluster phases completed; arrivals are in the warps
  // Looks for hazards in shared memory (check/hazard_check.h) when that is asked for.
  HazardCheck* hazards = nullptr;
  std::unique_ptr<FamilyState> hazard_state;  // what `hazards` points to
  uint32_t live_threads() const;
};

// Shared addresses: a block's own window begins at rank << 24 of the cluster's window, as on the
// device (cluster shared addresses carry the rank in bits 24 and up). Generic addresses add the
// window's base.
inline constexpr uint64_t kSharedWindow = 0x2000'0000'0000ull;
inline constexpr uint64_t kLocalWindow = 0x2001'0000'0000ull;
inline constexpr uint64_t kWindowBytes = 0x1'0000'0000ull;
inline constexpr uint32_t kSharedRankShift = 24;
inline constexpr uint32_t kSharedOffsetMask = (1u << kSharedRankShift) - 1;
inline bool in_shared_window(uint64_t address) {
  return address - kSharedWindow < kWindowBytes;
}
inline bool in_local_window(uint64_t address) {
  return address - kLocalWindow < kWindowBytes;
}

}  // namespace weft::emulator
