// SPDX-License-Identifier: Apache-2.0

// A warp while it runs: registers, call frames, and the splits its lanes have parted into.
//
// Divergence: a branch that only some lanes take parts the warp in two splits, each with its own
// program counter. The split that is furthest behind runs first, and splits whose program counters
// meet in the same frame become one again. A split that waits does not stop the others, so threads
// that synchronise with each other inside one warp make progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/fault.h"
#include "ptxbench/emulator/memory/lane_pointers.h"
#include "ptxbench/emulator/op.h"

namespace weft::emulator {

struct Block;
struct CopyGroups;
struct Warp;

// One call of a function by some lanes of the warp. Lanes that called together share it.
struct Frame {
  const FunctionCode* code = nullptr;
  Frame* caller = nullptr;
  uint32_t return_pc = 0;
  const Op* call = nullptr;  // the op that made the call: its extra says where results go
  AlignedBytes storage;      // the function's constants, then its registers
  std::byte* registers = nullptr;
  uint32_t local_base = 0;  // bytes of local memory that the callers use
  LaneMask lanes = 0;       // that have not returned yet
  uint32_t depth = 0;

  explicit Frame(const FunctionCode& function);
  void clear_registers();
};

struct Split {
  uint32_t pc = 0;
  LaneMask mask = 0;
  Frame* frame = nullptr;
  bool waiting = false;  // set by Outcome::Blocked, cleared by whoever releases the lanes
  bool stalled = false;  // its last op asked for a retry: others run first
  bool stalled_at_barrier = false;  // bar.warp.sync: these lanes have arrived
  bool released = false;            // bar.warp.sync: the other lanes have come, pass
  uint64_t turn = 0;                // ops since other splits had theirs
  // What the split waits for, for the deadlock report: a short text made only when asked for.
  enum class Wait : uint8_t {
    None,
    NamedBarrier,
    ClusterBarrier,
    Mbarrier,
    AsyncGroup,
    WarpSync,
    Warpgroup,
    Other
  };
  Wait wait = Wait::None;
  uint64_t wait_object = 0;  // barrier number, mbarrier shared address, lane mask, ...
  uint64_t wait_detail = 0;  // parity, pending groups, ...
  // Set by the scheduler when nothing else in the cluster can run: the potentially blocking
  // instruction (mbarrier.try_wait) that waits gives up once, returns false and clears it.
  bool wait_timed_out = false;
};

// The last allocations that accesses hit, most recent first, so that most need no look-up. Valid
// while the set of allocations is the one of `generation`.
struct AccessCache {
  struct Range {
    uint64_t first = 1, last = 0;  // valid bytes [first, last]; empty at the start
  };
  static constexpr int kRanges = 4;
  Range ranges[kRanges];
  uint64_t generation = 0;

  // Whether bytes [low, high] lie in one known allocation; makes that one the most recent.
  bool holds(uint64_t low, uint64_t high) {
    for (int i = 0; i < kRanges; ++i)
      if (low >= ranges[i].first && high <= ranges[i].last) {
        if (i != 0) std::swap(ranges[0], ranges[i]);
        return true;
      }
    return false;
  }
  void add(Range range) {
    for (int i = kRanges - 1; i > 0; --i) ranges[i] = ranges[i - 1];
    ranges[0] = range;
  }
};

struct Warp {
  // Hot: what handlers use.
  std::byte* registers = nullptr;  // of the frame
  LaneMask active = 0;             // lanes of the split that runs
  Block* block = nullptr;
  Frame* frame = nullptr;  // of the split that runs
  Tally* tally = nullptr;  // of the worker that runs the warp; nullptr: nothing is counted
  AccessCache cache;

  uint32_t index = 0;  // in the block
  LaneMask live = 0;   // lanes that exist and have not exited
  std::vector<Split> splits;
  uint32_t current = 0;  // index of the split that runs
  std::vector<std::unique_ptr<Frame>> frames;
  // Addresses that were resolved in this run of ops (memory/gather.h).
  KnownAddresses known[kKnownAddresses];
  uint64_t run_number = 0;  // of the ops that run without anything happening between them
  std::vector<std::byte> local[kLanes];  // local memory by lane, grown on demand
  uint32_t alloca_bytes = 0;             // of the current frame's dynamic local memory
  uint64_t executed = 0;                 // warp instructions in the slice that runs
  LaneMask carry = 0;                    // CC.CF of each lane (add.cc, subc, madc)
  // barrier.cluster (ops/cluster.cc): lanes that have arrived at the phase under way, and lanes
  // that have arrived and not waited since.
  LaneMask cluster_arrived = 0;
  LaneMask cluster_owes_wait = 0;

  // cp.async bookkeeping (ops/async_copy.cc): copies of the open group and the committed ones, and
  // the bulk groups, by lane.
  std::unique_ptr<CopyGroups, void (*)(CopyGroups*)> copies{nullptr, nullptr};

  template <typename T>
  const T* read(Slot slot) const {
    return reinterpret_cast<const T*>(registers + static_cast<int32_t>(slot));
  }
  template <typename T>
  T* write(Slot slot) {
    return reinterpret_cast<T*>(registers + static_cast<int32_t>(slot));
  }
  LaneMask& predicate(Slot slot) { return *write<LaneMask>(slot); }
  LaneMask predicate_value(Slot slot) const { return *read<LaneMask>(slot); }

  // Records the fault (the first one of a grid wins) with everything known about the place.
  Outcome fault(const Op& op, int lane, FaultKind kind, std::string message, uint64_t address = 0,
                std::vector<std::string> notes = {});
  // The same for work that this warp issued earlier and that fails by itself (asynchronous copies).
  void record_fault(const ptx::Instruction& instruction, int lane, FaultKind kind,
                    std::string message, uint64_t address = 0, std::vector<std::string> notes = {});

  Split& split() { return splits[current]; }
  // Names what the current split waits for and returns Outcome::Retry.
  Outcome retry(Split::Wait wait, uint64_t object = 0, uint64_t detail = 0);
  // Waits until every live lane of `mask` has come to this op with this split (`.sync`
  // instructions). True: they are all in the current split. False: return
  // retry(Split::Wait::WarpSync, mask).
  bool converged(LaneMask mask) const { return (mask & live & ~active) == 0; }

  // Makes the warp ready for a fresh block: one split at the kernel's first op.
  void begin(Block& owner, uint32_t warp_index, const FunctionCode& code);
  // Runs up to about `budget` ops and returns how many completed; 0 when every split waits. Faults
  // stop the grid: the caller looks at GridRun::stop.
  uint64_t run(uint64_t budget);
  bool finished() const { return live == 0; }
  // Takes lanes of the current split out of the kernel.
  void exit_lanes(LaneMask lanes);
  // Parts `lanes` from the current split (which keeps the others); the new split starts at `pc`.
  void part(LaneMask lanes, uint32_t pc, Frame* in_frame);
  // The lanes wait behind `op` until somebody clears Split::waiting; the current split's other
  // lanes go on. Returns Outcome::Blocked.
  Outcome block_lanes(const Op& op, LaneMask lanes, Split::Wait wait, uint64_t object);
  uint32_t pc_of(const Op& op) const {
    return static_cast<uint32_t>(&op - frame->code->ops.data());
  }

  // Position of lane's thread in the block.
  void thread_index(int lane, uint32_t& x, uint32_t& y, uint32_t& z) const;

 private:
  void select(uint32_t split);
  bool pick();
  const Op* next_meeting(const Op* ops, uint32_t start) const;
  bool keeps_running(uint32_t start, size_t split_count, const Frame* in_frame) const;
  void merge_current();
  template <bool kDiverged>
  void run_split(uint64_t budget);
};

}  // namespace weft::emulator
