// SPDX-License-Identifier: Apache-2.0

// Looks for hazards in the shared memory of a running cluster: accesses that nothing orders (race),
// reads of what nobody has written (init), and writes by threads that the async proxy reads without
// a fence.proxy.async (proxy). Ops tell it what they touch and who waits for whom; what they touch
// is compared with what is known of the words (shared_shadow.h).
//
// The lanes of a warp count as one agent, ordered by the program. An asynchronous operation touches
// its words when it is issued, because the hardware may do so from then on, and it is over for
// whoever has waited for it. What is not modelled counts as ordering: a miss is better than a false
// alarm.
//
// Functions that can find a hazard return false after recording the fault.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/check/shared_shadow.h"
#include "ptxbench/emulator/mbarrier.h"
#include "ptxbench/emulator/tile/operand_rows.h"

namespace weft::emulator {

enum class Touch : uint8_t { Read, Write, Update, StrongRead, StrongWrite };

struct SharedRange {
  Block* block = nullptr;
  uint32_t offset = 0, bytes = 0;
};

// Groups of copies that a warp commits and waits for.
enum class CopyQueue : uint8_t { Lanes, Bulk };

// A matrix operand: `groups` x 8 rows of `chunks` x 16 bytes.
struct SharedOperand {
  OperandRows rows;
  int groups = 0, chunks = 0;
};

class HazardCheck final : public FamilyState {
 public:
  explicit HazardCheck(const Checks& checks) : checks_(checks) {}
  // The cluster's blocks and warps have just been made.
  void begin(Cluster& cluster);

  // --- threads ---------------------------------------------------------------------------------
  // `range` is what `lane` touches; when lanes follow each other it may be what all of them do,
  // `lane_bytes` each.
  bool touch(Warp& warp, const Op& op, int lane, const SharedRange& range, Touch kind,
             uint32_t lane_bytes);
  bool touch(Warp& warp, const Op& op, int lane, const std::byte* place, uint32_t bytes,
             Touch kind);
  // Strong accesses to one address order what is before a write and after a read of it. `key` tells
  // addresses apart, wherever they lie.
  void release(const Warp& warp, uint64_t key);
  // Before and after a strong read: what the lanes' places have to tell.
  void remember(const Warp& warp, int lane, uint64_t key);
  void acquire_remembered(const Warp& warp, LaneMask lanes);

  // --- barriers --------------------------------------------------------------------------------
  void arrive(const Warp& warp, uint32_t barrier);
  void leave(const Warp& warp, uint32_t barrier);  // one that has waited goes on
  void complete(const Block& block, uint32_t barrier);
  void exit(const Warp& warp);
  void arrive_at_cluster(const Warp& warp);
  void complete_cluster();
  void leave_cluster(const Warp& warp);
  void fence_async(const Warp& warp);

  // --- mbarriers: arrivals are told before the step of the word, which `settle` then looks at ---
  void initialise(const BarrierPlace& place);
  void arrive(const Warp& warp, const BarrierPlace& place);
  void settle(const BarrierPlace& place);
  void settle(uint64_t* word) { settle(place_of(word)); }
  void acquire(const Warp& warp, const BarrierPlace& place);

  // --- asynchronous work that an mbarrier hears of -----------------------------------------------
  // What the warp and its finished queues know now, to be delivered later.
  uint32_t promise(const Warp& warp);
  // A copy writes `range`; gives its promise, 0 after a fault.
  uint32_t copy_in(Warp& warp, const Op& op, int lane, const SharedRange& range, bool combines);
  // The copy of the promise reads `source`, too.
  bool copy_from(uint32_t promise, Warp& warp, const Op& op, int lane, const std::byte* source,
                 uint32_t bytes);
  // It arrives. Before the step of the word.
  void deliver(uint32_t promise, const BarrierPlace& place);
  void deliver(uint32_t promise, uint64_t* word) { deliver(promise, place_of(word)); }
  void forget(uint32_t promise);

  // --- groups of copies --------------------------------------------------------------------------
  void begin_copy(const Warp& warp, CopyQueue queue);
  // What the copy begun last touches: lane copies write, bulk copies read.
  bool copy(Warp& warp, const Op& op, int lane, CopyQueue queue, const std::byte* place,
            uint32_t bytes);
  void commit(const Warp& warp, CopyQueue queue, LaneMask lanes);
  void wait(const Warp& warp, CopyQueue queue, LaneMask lanes, uint32_t allowed);
  void wait_all(const Warp& warp, CopyQueue queue);
  // The warp's lane copies so far, as a promise.
  uint32_t promise_copies(const Warp& warp);

  // --- tensor cores ------------------------------------------------------------------------------
  // Operation `number` (from 0) of the warp's warpgroup reads the operand. Each of the four warps
  // looks at its quarter.
  bool warpgroup_reads(Warp& warp, const Op& op, uint64_t number, const SharedOperand& operand);
  // Operations below `count` are waited for by the warp.
  void warpgroup_done(const Warp& warp, uint64_t count);
  // tcgen05: what the block issues is done in order. An operation begins, and reads.
  void begin_tensor(const Warp& warp);
  bool tensor_reads(Warp& warp, const Op& op, int lane, Block& block, const SharedOperand& operand);
  uint32_t promise_tensor(const Warp& warp);

 private:
  struct Queue {
    uint32_t agent = kNoAgent, newest = 0;
    std::array<uint32_t, kLanes> open{};  // number of each lane's open group
    std::vector<uint32_t> ends;           // by group: the newest operation of it
  };
  struct WarpState {
    Knowledge known;
    std::array<Queue, 2> copies;
    std::array<uint64_t, kLanes> remembered{};  // by lane: the place that it reads
  };
  struct BlockState {
    SharedShadow shadow;
    std::array<Knowledge, 16> barriers;
    Knowledge exited;
    uint32_t tensor_agent = kNoAgent, tensor_newest = 0;
    std::vector<uint32_t> warpgroup_agents;
  };
  struct MbarrierState {
    uint32_t agent = kNoAgent;
    uint32_t phases = 0;  // completed
    bool parity = false;  // of the one under way
    Knowledge arriving, completed;
  };
  // What an agent past the warps is, for reports.
  struct AgentName {
    enum class Kind : uint8_t { LaneCopies, BulkCopies, Warpgroup, TensorCore, Mbarrier };
    Kind kind;
    uint32_t rank = 0, index = 0;
  };

  uint32_t agent_of(const Warp& warp) const {
    return warp.block->rank * warps_per_block_ + warp.index + 1;
  }
  WarpState& state(const Warp& warp) { return warps_[agent_of(warp) - 1]; }
  BlockState& state(const Block& block) { return blocks_[block.rank]; }
  MbarrierState& state(const BarrierPlace& place);
  BarrierPlace place_of(uint64_t* word) const;
  // Passes on what the warp knows and begins its next moment.
  void release_to(const Warp& warp, Knowledge& to);
  uint32_t new_agent(AgentName name);
  Queue& queue(const Warp& warp, CopyQueue which);
  uint32_t site_of(const Warp& warp, const Op& op);
  SharedRange range_of(const Warp& warp, const std::byte* place, uint32_t bytes) const;
  // False after a fault. `lane_bytes`: see touch.
  bool check(Warp& warp, const Op& op, int lane, const SharedRange& range, ShadowAccess& access,
             uint32_t lane_bytes);
  bool check_rows(Warp& warp, const Op& op, int lane, Block& block, const SharedOperand& operand,
                  int part, int parts, Epoch by);
  void report(Warp& warp, const Op& op, int lane, const SharedRange& range,
              const ShadowAccess& access, const Conflict& conflict);
  std::string who(Epoch epoch) const;
  std::string describe(const Warp& warp, Epoch epoch) const;

  Checks checks_;
  Cluster* cluster_ = nullptr;
  uint32_t warps_per_block_ = 0;
  uint32_t agents_ = 0;  // given out so far
  std::vector<AgentName> names_;
  std::vector<WarpState> warps_;
  std::vector<BlockState> blocks_;
  std::unordered_map<uint64_t, MbarrierState> mbarriers_;
  Knowledge cluster_arriving_, cluster_completed_;
  static constexpr size_t kStrongPlaces = 1024;  // addresses that share one order each other more
  std::vector<Knowledge> strong_;
  Tickets tickets_;
  ReaderSets sets_;
  std::unordered_map<const ptx::Instruction*, uint32_t> site_numbers_;
  std::vector<const ptx::Instruction*> sites_;
  const ptx::Instruction* last_instruction_ = nullptr;
  uint32_t last_site_ = 0;
};

// The check of the warp's cluster; nullptr when nothing is looked for.
inline HazardCheck* hazards_of(const Warp& warp) {
  return warp.block->cluster->hazards;
}

}  // namespace weft::emulator
