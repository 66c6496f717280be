// SPDX-License-Identifier: Apache-2.0

// cp.async: copies of 4, 8 or 16 bytes a lane from global to shared memory, their groups, and the
// arrivals they trigger (PTX ISA 9.0, section 9.7.9.25.3). Addresses are checked when the copy is
// issued; the bytes move when its time has come. One operation holds the copies of a whole warp.

#include "ptxbench/emulator/ops/async_copy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/copy_groups.h"
#include "ptxbench/emulator/mbarrier.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

struct LaneCopyForm : Extra {
  Address destination, source;
  uint32_t size = 0;                        // bytes a lane: 4, 8, 16
  Slot source_bytes = kNoSlot;              // the rest is zero
  Lowering::PredicateSource ignore_source;  // true: all is zero
};

struct KeptAddress : Extra, Address {};

// Arrivals whose last copy has just been performed.
bool arrive_deferred(CopyGroups& groups, HazardCheck* hazards) {
  for (DeferredArrival& arrival : groups.arrivals) {
    const LaneMask ready = arrival.lanes & ~groups.copies.outstanding(arrival.up_to);
    arrival.lanes &= ~ready;
    for (LaneMask rest = ready; rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      uint64_t* word = arrival.words[static_cast<size_t>(lane)];
      if (hazards != nullptr) hazards->deliver(arrival.promise, word);
      const BarrierMistake mistake = barrier_step(*word, 0, 1);
      if (hazards != nullptr) hazards->settle(word);
      if (mistake == BarrierMistake::None) continue;
      IssuePlace place = arrival.place;
      place.lane = lane;
      return place.fault(FaultKind::InvalidBarrier, std::string(describe(mistake)));
    }
  }
  std::erase_if(groups.arrivals, [hazards](const DeferredArrival& arrival) {
    if (arrival.lanes == 0 && hazards != nullptr) hazards->forget(arrival.promise);
    return arrival.lanes == 0;
  });
  return true;
}

struct LaneCopies final : AsyncOperation {
  Warp* warp = nullptr;
  LaneMask lanes = 0;
  uint32_t size = 0;
  uint32_t ticket = 0;
  std::byte* destination[kLanes];
  const std::byte* source[kLanes];  // undefined where nothing is read
  uint8_t source_bytes[kLanes];

  template <uint32_t kSize>
  void move() {
    for_lanes(lanes, [this](int lane) {
      std::byte bytes[kSize] = {};
      if (source_bytes[lane] == kSize)
        std::memcpy(bytes, source[lane], kSize);
      else if (source_bytes[lane] != 0)
        std::memcpy(bytes, source[lane], source_bytes[lane]);
      std::memcpy(destination[lane], bytes, kSize);
    });
  }

  bool perform(Cluster&) override {
    if (size == 16)
      move<16>();
    else if (size == 8)
      move<8>();
    else
      move<4>();
    CopyGroups& groups = copy_groups(*warp);
    groups.copies.source_read(ticket);
    if (groups.copies.complete(ticket) && !groups.arrivals.empty())
      return arrive_deferred(groups, hazards_of(*warp));
    return true;
  }
};

// Fills the part of the copy that belongs to one lane; false after a fault.
bool prepare_lane(Warp& warp, const Op& op, int lane, const LaneCopyForm& form, LaneMask ignored,
                  LaneCopies& copies) {
  uint32_t bytes = form.size;
  if (form.source_bytes != kNoSlot) bytes = warp.read<uint32_t>(form.source_bytes)[lane];
  if (bytes > form.size) {
    warp.fault(op, lane, FaultKind::InvalidInstruction,
               "cp.async reads more bytes than it copies: " + std::to_string(bytes) + " of " +
                   std::to_string(form.size));
    return false;
  }
  if ((ignored >> lane & 1) != 0) bytes = 0;
  copies.source_bytes[lane] = static_cast<uint8_t>(bytes);
  copies.destination[lane] =
      access(warp, op, lane, Space::Shared, address_of(warp, form.destination, lane), form.size,
             form.size, AccessKind::Write);
  if (copies.destination[lane] == nullptr) return false;
  if (HazardCheck* hazards = hazards_of(warp))
    if (!hazards->copy(warp, op, lane, CopyQueue::Lanes, copies.destination[lane], form.size))
      return false;
  if (bytes == 0) return true;
  copies.source[lane] = access(warp, op, lane, Space::Global, address_of(warp, form.source, lane),
                               bytes, form.size, AccessKind::Read);
  return copies.source[lane] != nullptr;
}

Outcome run_lane_copy(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const LaneCopyForm*>(op.extra);
  const LaneMask ignored =
      form.ignore_source.slot == kNoSlot
          ? 0
          : warp.predicate_value(form.ignore_source.slot) ^ form.ignore_source.flip;
  CopyGroups& groups = copy_groups(warp);
  for (LaneMask rest = exec; rest != 0;) {
    auto copies = std::make_unique<LaneCopies>();
    copies->warp = &warp;
    copies->lanes = groups.copies.peers(rest);
    copies->size = form.size;
    rest &= ~copies->lanes;
    if (HazardCheck* hazards = hazards_of(warp)) hazards->begin_copy(warp, CopyQueue::Lanes);
    for (LaneMask lanes = copies->lanes; lanes != 0; lanes &= lanes - 1)
      if (!prepare_lane(warp, op, first_lane(lanes), form, ignored, *copies)) return Outcome::Fault;
    copies->ticket = groups.copies.begin(copies->lanes);
    submit_after(*warp.block->cluster, std::move(copies), kLaneCopyLatency);
  }
  return Outcome::Next;
}

Outcome run_commit(Warp& warp, const Op&, LaneMask exec) {
  copy_groups(warp).copies.commit(exec);
  if (HazardCheck* hazards = hazards_of(warp)) hazards->commit(warp, CopyQueue::Lanes, exec);
  return Outcome::Next;
}

Outcome run_wait_group(Warp& warp, const Op& op, LaneMask exec) {
  const auto allowed = static_cast<uint32_t>(op.immediate);
  if (!copy_groups(warp).copies.settled(exec, allowed, GroupStage::Complete))
    return warp.retry(Split::Wait::AsyncGroup, 0, allowed);
  if (HazardCheck* hazards = hazards_of(warp)) hazards->wait(warp, CopyQueue::Lanes, exec, allowed);
  return Outcome::Next;
}

Outcome run_wait_all(Warp& warp, const Op&, LaneMask exec) {
  if (!copy_groups(warp).copies.idle(exec)) return warp.retry(Split::Wait::AsyncGroup);
  if (HazardCheck* hazards = hazards_of(warp)) hazards->wait_all(warp, CopyQueue::Lanes);
  return Outcome::Next;
}

// Each lane arrives when its own earlier copies are complete. Without .noinc the phase is made to
// need that arrival now, so that the net effect on its count is none.
template <bool kIncrement>
Outcome run_arrive(Warp& warp, const Op& op, LaneMask exec) {
  CopyGroups& groups = copy_groups(warp);
  DeferredArrival arrival{.place = issue_place(warp, op, first_lane(exec)),
                          .lanes = exec,
                          .up_to = groups.copies.seal()};
  const auto& address = *static_cast<const KeptAddress*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t place_address = address_of(warp, address, lane);
    std::string_view why;
    const BarrierPlace place = find_barrier(*warp.block, address.space, place_address, why);
    if (place.word == nullptr)
      return warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(why), place_address);
    const BarrierMistake mistake =
        kIncrement ? barrier_add_pending(*place.word) : barrier_validity(*place.word);
    if (mistake != BarrierMistake::None)
      return warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(describe(mistake)),
                        place_address, {describe_barrier(place)});
    arrival.words[static_cast<size_t>(lane)] = place.word;
  }
  if (HazardCheck* hazards = hazards_of(warp)) arrival.promise = hazards->promise_copies(warp);
  groups.arrivals.push_back(arrival);
  return arrive_deferred(groups, hazards_of(warp)) ? Outcome::Next : Outcome::Fault;
}

Result<Done> lower_arrive(Lowering& l, const ptx::Instruction& i) {
  auto kept = std::make_unique<KeptAddress>();
  static_cast<Address&>(*kept) = TRY(l.address(i.operands[0], i.space));
  const KeptAddress* address = l.keep(std::move(kept));
  l.emit(i.has("noinc") ? run_arrive<false> : run_arrive<true>).extra = address;
  return Done{};
}

bool is_predicate(const Lowering& l, const ptx::Operand& operand) {
  const auto* name = std::get_if<ptx::RegisterOperand>(&operand.value);
  return name != nullptr && l.function().registers[name->index].type == Type::Pred;
}

Result<Done> lower_lane_copy(Lowering& l, const ptx::Instruction& i) {
  auto form = std::make_unique<LaneCopyForm>();
  form->destination = TRY(l.address(i.operands[0], Space::Shared));
  form->source = TRY(l.address(i.operands[1], Space::Global));
  const auto size = l.constant(i.operands[2]);
  if (!size || (*size != 16 && (i.has("cg") || (*size != 4 && *size != 8))))
    return l.error("cp.async copies an unusual number of bytes",
                   i.has("cg") ? "cp.async.cg copies 16 bytes" : "write 4, 8 or 16");
  form->size = static_cast<uint32_t>(*size);
  // What follows is a number of source bytes or an ignore-src predicate, then a cache policy.
  const size_t policy = i.has("L2::cache_hint") ? 1 : 0;
  if (i.operands.size() > 3 + policy) {
    if (is_predicate(l, i.operands[3]))
      form->ignore_source = TRY(l.predicate_source(i.operands[3]));
    else
      form->source_bytes = TRY(l.source(i.operands[3], Type::U32));
  }
  const LaneCopyForm* kept = l.keep(std::move(form));
  l.emit(run_lane_copy).extra = kept;
  return Done{};
}

Result<Done> lower_copy(Lowering& l, const ptx::Instruction& i) {
  if (i.has("tensor")) return lower_tensor_copy(l, i);
  if (i.has("bulk")) return lower_bulk_copy(l, i);
  if (i.has("commit_group")) {
    l.emit(run_commit);
    return Done{};
  }
  if (i.has("wait_all")) {
    l.emit(run_wait_all);
    return Done{};
  }
  if (i.has("wait_group")) {
    const auto allowed = l.constant(i.operands[0]);
    if (!allowed || *allowed < 0)
      return l.error("cp.async.wait_group needs a constant number of groups");
    l.emit(run_wait_group).immediate = *allowed;
    return Done{};
  }
  if (i.has("mbarrier")) return lower_arrive(l, i);
  if (i.has("ca") || i.has("cg")) return lower_lane_copy(l, i);
  return l.unsupported("this form of cp");
}

constexpr Meaning kMeanings[] = {{"cp", lower_copy}};

}  // namespace

std::span<const Meaning> async_copy_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
