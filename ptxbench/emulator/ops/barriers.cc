// SPDX-License-Identifier: Apache-2.0

// Named barriers of a block: bar and barrier (PTX ISA 9.0, section 9.7.13.1), bar.warp.sync
// (9.7.13.2). Arrivals count per warp: a warp whose live lanes have all arrived counts as 32
// threads.

#include "ptxbench/emulator/barrier_release.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/ops/cluster.h"

namespace weft::emulator {

namespace {

enum class Action : uint8_t { Sync, Arrive, ReduceAnd, ReduceOr, ReducePopc };

// Threads of a warp that count as arrived: those that did, and once any did, those that exited or
// never existed, because the hardware counts whole warps.
uint32_t counted(const Block& block, const NamedBarrier& barrier) {
  uint32_t total = 0;
  for (size_t w = 0; w < block.warps.size(); ++w) {
    const LaneMask arrived = barrier.arrived[w];
    if (arrived == 0) continue;
    total += static_cast<uint32_t>(std::popcount(arrived | ~block.warps[w]->live));
  }
  return total;
}

// Without a thread count every thread of the block takes part; exited warps have arrived by
// exiting.
bool complete(const Block& block, const NamedBarrier& barrier) {
  if (barrier.expected != 0) return counted(block, barrier) >= barrier.expected;
  for (size_t w = 0; w < block.warps.size(); ++w)
    if ((block.warps[w]->live & ~barrier.arrived[w]) != 0) return false;
  return true;
}

// Whether no phase is under way. Every warp that exits asks all 16, so there is no early way out
// that would keep the loop from becoming a few vector instructions.
bool idle(const NamedBarrier& barrier) {
  LaneMask any = 0;
  for (LaneMask arrived : barrier.arrived) any |= arrived;
  return any == 0;
}

void write_result(NamedBarrier& barrier, NamedBarrier::Waiter& waiter) {
  if (waiter.reduction_result == kNoSlot) return;
  const std::byte* base = waiter.registers;
  auto* slot = const_cast<std::byte*>(base) + waiter.reduction_result;
  switch (static_cast<Action>(waiter.reduction)) {
    case Action::ReducePopc:
      for_lanes(waiter.lanes,
                [&](int lane) { reinterpret_cast<uint32_t*>(slot)[lane] = barrier.true_count; });
      break;
    case Action::ReduceAnd:
      merge_predicate(waiter.lanes, *reinterpret_cast<LaneMask*>(slot),
                      barrier.all_true ? kAllLanes : 0);
      break;
    default:
      merge_predicate(waiter.lanes, *reinterpret_cast<LaneMask*>(slot),
                      barrier.any_true ? kAllLanes : 0);
      break;
  }
}

void release(Block& block, NamedBarrier& barrier, uint32_t number) {
  HazardCheck* hazards = block.cluster->hazards;
  for (NamedBarrier::Waiter& waiter : barrier.waiters) {
    write_result(barrier, waiter);
    if (hazards != nullptr) hazards->leave(*waiter.warp, number);
    for (Split& s : waiter.warp->splits)
      if (s.waiting && s.wait == Split::Wait::NamedBarrier && s.wait_object == number &&
          (s.mask & waiter.lanes) != 0) {
        s.waiting = false;
        s.wait = Split::Wait::None;
      }
  }
  if (hazards != nullptr) hazards->complete(block, number);
  // The list of waiters keeps its memory for the next phase.
  barrier.waiters.clear();
  NamedBarrier fresh;
  fresh.waiters.swap(barrier.waiters);
  barrier = std::move(fresh);
}

struct BarrierOperands final : Extra {
  Action action = Action::Sync;
  bool has_count = false;
  Slot predicate = kNoSlot;
  LaneMask predicate_flip = 0;
};

Outcome bar(Warp& w, const Op& op, LaneMask exec) {
  const auto& operands = *static_cast<const BarrierOperands*>(static_cast<const Extra*>(op.extra));
  const int lane = first_lane(exec);
  const uint32_t number = w.read<uint32_t>(op.a)[lane];
  if (number >= 16)
    return w.fault(op, lane, FaultKind::InvalidBarrier,
                   fmt::format("barrier {} does not exist, a block has 0 to 15", number));
  Block& block = *w.block;
  NamedBarrier& barrier = block.barriers[number];
  uint32_t expected = 0;
  if (operands.has_count) {
    expected = w.read<uint32_t>(op.b)[lane];
    if (expected == 0 || expected % kLanes != 0)
      return w.fault(
          op, lane, FaultKind::InvalidBarrier,
          fmt::format(
              "barrier {} with a thread count of {}, which must be a multiple of {} and not 0",
              number, expected, kLanes));
    const uint32_t most = static_cast<uint32_t>(block.warps.size()) * kLanes;
    if (expected > most)
      return w.fault(op, lane, FaultKind::InvalidBarrier,
                     fmt::format("barrier {} waits for {} threads, the block has {}", number,
                                 expected, block.threads));
  }
  if (barrier.expected != expected && !idle(barrier))
    return w.fault(
        op, lane, FaultKind::InvalidBarrier,
        fmt::format(
            "barrier {} reached with a thread count of {} while a phase with {} is under way",
            number, expected == 0 ? block.threads : expected,
            barrier.expected == 0 ? block.threads : barrier.expected));
  if ((barrier.arrived[w.index] & exec) != 0)
    return w.fault(
        op, first_lane(barrier.arrived[w.index] & exec), FaultKind::InvalidBarrier,
        fmt::format("barrier {} reached again by threads that have arrived in this phase", number));
  barrier.expected = expected;
  barrier.arrived[w.index] |= exec;
  if (HazardCheck* hazards = hazards_of(w)) hazards->arrive(w, number);
  NamedBarrier::Waiter waiter{&w, exec, kNoSlot, 0, w.registers};
  if (operands.action >= Action::ReduceAnd) {
    const LaneMask truth = (w.predicate_value(operands.predicate) ^ operands.predicate_flip) & exec;
    barrier.all_true = barrier.all_true && truth == exec;
    barrier.any_true = barrier.any_true || truth != 0;
    barrier.true_count += static_cast<uint32_t>(count_lanes(truth));
    waiter.reduction_result = op.d;
    waiter.reduction = static_cast<uint8_t>(operands.action);
  }
  if (operands.action != Action::Arrive) barrier.waiters.push_back(waiter);
  if (complete(block, barrier)) {
    // The lanes that complete the phase go straight on.
    release(block, barrier, number);
    return Outcome::Next;
  }
  if (operands.action == Action::Arrive) return Outcome::Next;
  return w.block_lanes(op, exec, Split::Wait::NamedBarrier, number);
}

// Threads of one warp wait for each other, wherever in the code they are: lanes that came first
// stay at their op until the mask is complete.
Outcome bar_warp_sync(Warp& w, const Op& op, LaneMask exec) {
  const LaneMask mask = w.read<uint32_t>(op.a)[first_lane(exec)] & w.live;
  if (w.split().released) {
    w.split().released = false;
    return Outcome::Next;
  }
  if ((mask & ~exec) == 0) return Outcome::Next;
  LaneMask here = exec;
  for (const Split& s : w.splits)
    if (&s != &w.split() && s.wait == Split::Wait::WarpSync && s.wait_object == mask &&
        s.stalled_at_barrier)
      here |= s.mask;
  if ((mask & ~here) != 0) {
    w.split().stalled_at_barrier = true;
    return w.retry(Split::Wait::WarpSync, mask);
  }
  for (Split& s : w.splits) {
    if (&s == &w.split() || s.wait != Split::Wait::WarpSync || s.wait_object != mask ||
        !s.stalled_at_barrier)
      continue;
    s.released = true;
    s.stalled = false;
    s.stalled_at_barrier = false;
    s.wait = Split::Wait::None;
  }
  w.split().stalled_at_barrier = false;
  return Outcome::Next;
}

Result<Done> lower_bar(Lowering& l, const ptx::Instruction& i) {
  if (i.has("cluster")) return lower_cluster_barrier(l, i);
  if (i.has("warp")) {
    const Slot mask = TRY(l.source(i.operands[0], isa::Type::U32));
    l.emit(bar_warp_sync).a = mask;
    return Done{};
  }
  auto operands = std::make_unique<BarrierOperands>();
  size_t next = 0;
  Slot d = kNoSlot;
  if (i.has("red")) {
    if (i.has("popc")) {
      operands->action = Action::ReducePopc;
      d = TRY(l.destination(i.operands[next++], isa::Type::U32));
    } else {
      operands->action = i.has("and") ? Action::ReduceAnd : Action::ReduceOr;
      d = TRY(l.predicate_destination(i.operands[next++]));
    }
  } else if (i.has("arrive")) {
    operands->action = Action::Arrive;
  }
  const Slot number = TRY(l.source(i.operands[next++], isa::Type::U32));
  const size_t left = i.operands.size() - next;
  const bool reduces = operands->action >= Action::ReduceAnd;
  Slot count = kNoSlot;
  if (left > (reduces ? 1u : 0u)) {
    operands->has_count = true;
    count = TRY(l.source(i.operands[next++], isa::Type::U32));
  }
  if (reduces) {
    const auto predicate = TRY(l.predicate_source(i.operands[next]));
    operands->predicate = predicate.slot;
    operands->predicate_flip = predicate.flip;
  }
  BarrierOperands* kept = l.keep(std::move(operands));
  Op& op = l.emit(bar);
  op.d = d;
  op.a = number;
  op.b = count;
  op.extra = static_cast<const Extra*>(kept);
  return Done{};
}

constexpr Meaning kMeanings[] = {{"bar", lower_bar}, {"barrier", lower_bar}};

}  // namespace

void barriers_after_exit(Block& block) {
  for (uint32_t number = 0; number < block.barriers.size(); ++number) {
    NamedBarrier& barrier = block.barriers[number];
    if (!idle(barrier) && complete(block, barrier)) release(block, barrier, number);
  }
}

std::span<const Meaning> barriers_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
