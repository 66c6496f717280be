// SPDX-License-Identifier: Apache-2.0

// Destinations, sources and completion of bulk copies. Everything that can be checked is checked
// when the copy is issued, so that the fault names the instruction while its operands are at hand.

#include "ptxbench/emulator/bulk_transfer.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/copy_groups.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/tampering.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;

// The block that a shared address of the executing block's view belongs to; nullptr: none.
Block* owner_of(Block& block, Space space, uint64_t& address) {
  if (space == Space::Generic) {
    if (!in_shared_window(address)) return nullptr;
    address -= kSharedWindow;
    space = Space::SharedCluster;
  }
  return space == Space::SharedCluster ? shared_owner(block, address) : &block;
}

bool refuse(Warp& warp, const Op& op, int lane, FaultKind kind, std::string message,
            uint64_t address) {
  warp.fault(op, lane, kind, std::move(message), address);
  return false;
}

// Checks alignment and bounds of a range in a block's shared memory.
bool check_range(Warp& warp, const Op& op, int lane, const Block* owner, uint64_t address,
                 uint32_t span, uint32_t alignment, std::string_view what) {
  if (owner == nullptr)
    return refuse(
        warp, op, lane, FaultKind::OutOfBounds,
        fmt::format("{} of the bulk copy is not in the shared memory of the cluster", what),
        address);
  if (address % alignment != 0)
    return refuse(warp, op, lane, FaultKind::InvalidInstruction,
                  fmt::format("{} of the bulk copy is not a multiple of {} bytes: {:#x}", what,
                              alignment, address),
                  address);
  const uint64_t offset = address & kSharedOffsetMask;
  if (offset + span > owner->shared.size())
    return refuse(warp, op, lane, FaultKind::OutOfBounds,
                  fmt::format("{} of the bulk copy passes the end of shared memory: {} bytes at "
                              "offset {:#x} of {}",
                              what, span, offset, owner->shared.size()),
                  address);
  return true;
}

// The barrier that hears of the copy into `destination`. For a pair it is in the block of the pair
// that has the parity of the named barrier's block.
bool find_signal(Warp& warp, const Op& op, int lane, const IntoShared& form,
                 const BarrierPlace& named, Destination& destination) {
  Block* block = destination.block;
  if (form.pair) {
    const uint32_t rank = (block->rank & ~1u) | (named.owner->rank & 1);
    const auto& blocks = block->cluster->blocks;
    if (rank >= blocks.size())
      return refuse(warp, op, lane, FaultKind::InvalidInstruction,
                    "cta_group::2 needs an even number of blocks in the cluster", named.offset);
    block = blocks[rank].get();
  }
  destination.barrier = barrier_at(*block, named.offset);
  const BarrierMistake mistake = barrier_validity(*destination.barrier.word);
  if (mistake == BarrierMistake::None) return true;
  warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(describe(mistake)), named.offset,
             {describe_barrier(destination.barrier)});
  return false;
}

bool place_destinations(Warp& warp, const Op& op, int lane, const IntoShared& form, uint32_t span,
                        uint32_t alignment, std::vector<Destination>& destinations) {
  Block& self = *warp.block;
  uint64_t address = address_of(warp, form.destination, lane);
  Block* owner = owner_of(self, form.destination.space, address);
  if (!check_range(warp, op, lane, owner, address, span, alignment, "destination")) return false;
  const auto offset = static_cast<uint32_t>(address & kSharedOffsetMask);

  const uint64_t barrier_address = address_of(warp, form.barrier, lane);
  std::string_view why;
  const BarrierPlace named = find_barrier(self, form.barrier.space, barrier_address, why);
  if (named.word == nullptr)
    return refuse(warp, op, lane, FaultKind::InvalidBarrier, std::string(why), barrier_address);

  if (form.multicast == kNoSlot && !form.every_block) {
    if (named.owner != owner && !form.pair)
      return refuse(warp, op, lane, FaultKind::InvalidBarrier,
                    "mbarrier of the bulk copy is not in the block that receives the bytes",
                    barrier_address);
    if (owner != &self && owner->finished())
      return refuse(warp, op, lane, FaultKind::OutOfBounds,
                    "destination of the bulk copy belongs to a block that has already exited",
                    address);
    destinations.push_back({.block = owner, .offset = offset, .barrier = {}});
    // Both addresses are given in full, so a pair needs no choice here.
    IntoShared single = form;
    single.pair = false;
    if (named.owner == owner)
      return find_signal(warp, op, lane, single, named, destinations.back());
    Destination signal{.block = named.owner, .offset = 0, .barrier = {}};
    if (!find_signal(warp, op, lane, single, named, signal)) return false;
    destinations.back().barrier = signal.barrier;
    return true;
  }

  const auto& blocks = self.cluster->blocks;
  const uint32_t mask =
      form.every_block ? (1u << blocks.size()) - 1 : warp.read<uint16_t>(form.multicast)[lane];
  if (mask >> blocks.size() != 0)
    return refuse(
        warp, op, lane, FaultKind::InvalidInstruction,
        fmt::format("multicast mask {:#x} names blocks that a cluster of {} does not have", mask,
                    blocks.size()),
        address);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    Block* block = blocks[static_cast<size_t>(first_lane(rest))].get();
    if (block != &self && block->finished())
      return refuse(
          warp, op, lane, FaultKind::OutOfBounds,
          fmt::format("multicast copy into block rank {}, which has already exited", block->rank),
          address);
    destinations.push_back({.block = block, .offset = offset, .barrier = {}});
    if (!find_signal(warp, op, lane, form, named, destinations.back())) return false;
  }
  return true;
}

}  // namespace

bool find_destinations(Warp& warp, const Op& op, int lane, const IntoShared& form, uint32_t span,
                       uint32_t alignment, std::vector<Destination>& destinations) {
  if (!place_destinations(warp, op, lane, form, span, alignment, destinations)) return false;
  HazardCheck* hazards = hazards_of(warp);
  if (hazards == nullptr) return true;
  for (Destination& destination : destinations) {
    const SharedRange range{destination.block, destination.offset, span};
    destination.promise = hazards->copy_in(warp, op, lane, range, form.combines);
    if (destination.promise == 0) return false;
  }
  return true;
}

const std::byte* shared_source(Warp& warp, const Op& op, int lane, const Address& address,
                               uint32_t span, uint32_t alignment) {
  uint64_t from = address_of(warp, address, lane);
  Block* owner = owner_of(*warp.block, address.space, from);
  if (!check_range(warp, op, lane, owner, from, span, alignment, "source")) return nullptr;
  return owner->shared.data() + (from & kSharedOffsetMask);
}

bool complete_transactions(const IssuePlace& place, const std::vector<Destination>& destinations,
                           uint32_t bytes) {
  for (const Destination& destination : destinations) {
    const BarrierPlace& barrier = destination.barrier;
    HazardCheck* hazards = hazards_of(*place.warp);
    if (hazards != nullptr) hazards->deliver(destination.promise, barrier);
    const BarrierMistake mistake = barrier_step(*barrier.word, -int64_t{bytes}, 0);
    if (mistake != BarrierMistake::None)
      return place.fault(FaultKind::InvalidBarrier, std::string(describe(mistake)), barrier.offset,
                         {describe_barrier(barrier)});
    if (hazards == nullptr) continue;
    hazards->settle(barrier);
    hazards->forget(destination.promise);
  }
  return true;
}

// The first step.
class CopyOutRead final : public AsyncOperation {
 public:
  CopyOutRead(const std::byte* source, uint32_t bytes, std::unique_ptr<CopyOut> then)
      : source_(source), bytes_(bytes), then_(std::move(then)) {}

  bool perform(Cluster& cluster) override {
    then_->buffer_.assign(source_, source_ + bytes_);
    copy_groups(*then_->warp_).bulk.source_read(then_->ticket_);
    submit_after(cluster, std::move(then_), kWriteAfterReadLatency);
    return true;
  }

 private:
  const std::byte* source_;
  uint32_t bytes_;
  std::unique_ptr<CopyOut> then_;
};

bool CopyOut::perform(Cluster&) {
  if (tampering().copies) write_nonsense(buffer_.data(), buffer_.size());
  write(buffer_.data());
  copy_groups(*warp_).bulk.complete(ticket_);
  return true;
}

bool submit_copy_out(Warp& warp, const Op& op, int lane, const std::byte* source, uint32_t bytes,
                     std::unique_ptr<CopyOut> write, uint64_t latency) {
  if (HazardCheck* hazards = hazards_of(warp)) {
    hazards->begin_copy(warp, CopyQueue::Bulk);
    if (!hazards->copy(warp, op, lane, CopyQueue::Bulk, source, bytes)) return false;
  }
  write->warp_ = &warp;
  write->ticket_ = copy_groups(warp).bulk.begin(LaneMask{1} << lane);
  submit_after(*warp.block->cluster, std::make_unique<CopyOutRead>(source, bytes, std::move(write)),
               latency);
  return true;
}

}  // namespace weft::emulator
