// SPDX-License-Identifier: Apache-2.0

// What linear and tensor bulk copies share: where they put their bytes, and how they tell that they
// are done: by transaction bytes at an mbarrier, or through a bulk group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptxbench/emulator/async_engine.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/mbarrier.h"

namespace weft::emulator {

// A copy's place in the shared memory of one block and the barrier that hears of it.
struct Destination {
  Block* block = nullptr;
  uint32_t offset = 0;
  BarrierPlace barrier;
  uint32_t promise = 0;  // to the hazard check (check/hazard_check.h)
  std::byte* data() const { return block->shared.data() + offset; }
};

// Operands of a copy into shared memory.
struct IntoShared {
  Address destination;
  Address barrier;
  Slot multicast = kNoSlot;  // 16-bit mask of ranks
  bool every_block = false;  // to all blocks of the cluster
  bool combines = false;     // each element with what is there
  bool pair = false;         // .cta_group::2: the barrier of the pair that has its parity
};

// Fills `destinations` for a copy of `bytes` that spans `span` bytes of shared memory and starts at
// a multiple of `alignment`. False after a fault.
bool find_destinations(Warp& warp, const Op& op, int lane, const IntoShared& form, uint32_t span,
                       uint32_t alignment, std::vector<Destination>& destinations);

// A range of the executing block's shared memory that a copy reads; nullptr after a fault.
const std::byte* shared_source(Warp& warp, const Op& op, int lane, const Address& address,
                               uint32_t span, uint32_t alignment);

// Counts `bytes` at the barrier of each destination. False after a fault.
bool complete_transactions(const IssuePlace& place, const std::vector<Destination>& destinations,
                           uint32_t bytes);

// A copy out of shared memory takes two steps, so that `.read` waits for the first one only: the
// source is read into a buffer, and later written from there.
class CopyOut : public AsyncOperation {
 public:
  bool perform(Cluster& cluster) final;

 private:
  virtual void write(const std::byte* bytes) = 0;

  friend class CopyOutRead;
  friend bool submit_copy_out(Warp&, const Op&, int, const std::byte*, uint32_t,
                              std::unique_ptr<CopyOut>, uint64_t);
  Warp* warp_ = nullptr;
  uint32_t ticket_ = 0;  // in the bulk groups of the warp
  std::vector<std::byte> buffer_;
};

// Joins the lane's open bulk group and submits the first step, about `latency` ticks from now.
// False after a fault.
bool submit_copy_out(Warp& warp, const Op& op, int lane, const std::byte* source, uint32_t bytes,
                     std::unique_ptr<CopyOut> write, uint64_t latency);

}  // namespace weft::emulator
