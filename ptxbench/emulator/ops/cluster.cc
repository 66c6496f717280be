// SPDX-License-Identifier: Apache-2.0

// Clusters: the barrier of all their threads, addresses in each other's shared memory, and launch
// control. Fences are here too: one worker runs all blocks of a cluster, so only those that reach
// beyond it (gpu and sys scope) need a fence of the host.

#include "ptxbench/emulator/ops/cluster.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "ptxbench/emulator/bulk_transfer.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

// barrier.cluster

// A phase is complete when every thread that has not exited has arrived (PTX ISA 9.7.13.4).
bool complete_phase(Cluster& cluster) {
  for (const auto& block : cluster.blocks)
    for (const auto& warp : block->warps)
      if ((warp->live & ~warp->cluster_arrived) != 0) return false;
  for (const auto& block : cluster.blocks)
    for (const auto& warp : block->warps) warp->cluster_arrived = 0;
  ++cluster.barrier_phase;
  if (cluster.hazards != nullptr) cluster.hazards->complete_cluster();
  return true;
}

enum class Alignment : uint8_t { Any, Aligned };

// An .aligned instruction waits for all lanes of the warp; nothing when it may go on.
template <Alignment kAlignment>
std::optional<Outcome> gather_lanes(Warp& warp, const Op& op, LaneMask exec) {
  if constexpr (kAlignment == Alignment::Aligned) {
    if (!warp.converged(kAllLanes)) return warp.retry(Split::Wait::WarpSync, warp.live);
    if (exec != warp.active)
      return warp.fault(op, first_lane(warp.active & ~exec), FaultKind::DivergentInstruction,
                        "some lanes of the warp skip an .aligned instruction");
  }
  return std::nullopt;
}

template <Alignment kAlignment>
Outcome run_arrive(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = gather_lanes<kAlignment>(warp, op, exec)) return *outcome;
  if (const LaneMask again = exec & warp.cluster_owes_wait; again != 0)
    return warp.fault(op, first_lane(again), FaultKind::InvalidBarrier,
                      "barrier.cluster.arrive a second time without barrier.cluster.wait");
  warp.cluster_arrived |= exec;
  if (HazardCheck* hazards = hazards_of(warp)) hazards->arrive_at_cluster(warp);
  warp.cluster_owes_wait |= exec;
  return Outcome::Next;
}

template <Alignment kAlignment>
Outcome run_wait(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = gather_lanes<kAlignment>(warp, op, exec)) return *outcome;
  if (const LaneMask early = exec & ~warp.cluster_owes_wait; early != 0)
    return warp.fault(op, first_lane(early), FaultKind::InvalidBarrier,
                      "barrier.cluster.wait without barrier.cluster.arrive before it");
  Cluster& cluster = *warp.block->cluster;
  if ((warp.cluster_arrived & exec) != 0 && !complete_phase(cluster))
    return warp.retry(Split::Wait::ClusterBarrier, cluster.barrier_phase);
  warp.cluster_owes_wait &= ~exec;
  if (cluster.hazards != nullptr) cluster.hazards->leave_cluster(warp);
  return Outcome::Next;
}

// Addresses

// The address of the same place in the shared memory of the block with rank b.
template <typename T>
constexpr T map_shared(T address, uint32_t rank) {
  constexpr T kOffset = kSharedOffsetMask;
  return (address & ~T{0xffffffff}) | (address & kOffset) | T{rank} << kSharedRankShift;
}
template <typename T>
constexpr uint32_t shared_rank(T address) {
  return static_cast<uint32_t>(address & 0xffffffff) >> kSharedRankShift;
}

template <typename T>
Outcome run_mapa(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](T address, uint32_t rank) { return map_shared<T>(address, rank); },
      warp.write<T>(op.d), warp.read<T>(op.a), warp.read<uint32_t>(op.b));
  return Outcome::Next;
}

template <typename T>
Outcome run_getctarank(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](T address) { return shared_rank<T>(address); }, warp.write<uint32_t>(op.d),
      warp.read<T>(op.a));
  return Outcome::Next;
}

bool is_wide(const ptx::Instruction& i) {
  return !i.types.empty() && isa::bits(i.types.back()) == 64;
}

Result<Done> lower_mapa(Lowering& l, const ptx::Instruction& i) {
  const Type type = is_wide(i) ? Type::U64 : Type::U32;
  const Slot d = TRY(l.destination(i.operands[0], type));
  const Slot a = TRY(l.source(i.operands[1], type));
  const Slot b = TRY(l.source(i.operands[2], Type::U32));
  Op& op = l.emit(is_wide(i) ? run_mapa<uint64_t> : run_mapa<uint32_t>);
  op.d = d;
  op.a = a;
  op.b = b;
  return Done{};
}

Result<Done> lower_getctarank(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], Type::U32));
  const Slot a = TRY(l.source(i.operands[1], is_wide(i) ? Type::U64 : Type::U32));
  Op& op = l.emit(is_wide(i) ? run_getctarank<uint64_t> : run_getctarank<uint32_t>);
  op.d = d;
  op.a = a;
  return Done{};
}

// Fences and hints

Outcome run_nothing(Warp&, const Op&, LaneMask) {
  return Outcome::Next;
}

Outcome run_host_fence(Warp&, const Op&, LaneMask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Outcome::Next;
}

Outcome run_async_proxy_fence(Warp& warp, const Op&, LaneMask) {
  if (HazardCheck* hazards = hazards_of(warp)) hazards->fence_async(warp);
  return Outcome::Next;
}

// fence and membar. Proxies see each other's writes at once here, and a fence that makes them do so
// orders nothing more.
Result<Done> lower_fence(Lowering& l, const ptx::Instruction& i) {
  const bool shared_proxy = i.has("async") && !i.has("global");
  if (i.has("proxy") && shared_proxy) {
    l.emit(run_async_proxy_fence);
    return Done{};
  }
  const bool beyond_cluster = i.has("gpu") || i.has("sys") || i.has("gl");
  l.emit(beyond_cluster ? run_host_fence : run_nothing);
  return Done{};
}

// Grids run one after the other: what griddepcontrol.wait waits for has happened.
Result<Done> lower_griddepcontrol(Lowering& l, const ptx::Instruction&) {
  l.emit(run_nothing);
  return Done{};
}

Outcome run_setmaxnreg(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = gather_lanes<Alignment::Aligned>(warp, op, exec)) return *outcome;
  return Outcome::Next;
}

// Registers are not shared out here, so there is always one to give.
Result<Done> lower_setmaxnreg(Lowering& l, const ptx::Instruction& i) {
  const auto count = l.constant(i.operands[0]);
  if (!count || *count < 24 || *count > 256 || *count % 8 != 0)
    return l.error("setmaxnreg takes a constant number of registers",
                   "write a multiple of 8 from 24 to 256");
  l.emit(run_setmaxnreg);
  return Done{};
}

// clusterlaunchcontrol

// The 16-byte response: bit 0 of word 0 says that a cluster was cancelled, words 1 to 3 are the
// first block's index.
constexpr uint32_t kResponseBytes = 16;

struct CancelResponse final : AsyncOperation {
  IssuePlace place;
  std::vector<Destination> destinations;

  // Every cluster is handed to a worker by the launch itself, so none is left to cancel.
  bool perform(Cluster&) override {
    for (const Destination& destination : destinations)
      std::fill_n(destination.data(), kResponseBytes, std::byte{0});
    return complete_transactions(place, destinations, kResponseBytes);
  }
};

struct CancelForm : Extra {
  IntoShared into;
};

Outcome run_try_cancel(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const CancelForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    auto response = std::make_unique<CancelResponse>();
    response->place = issue_place(warp, op, lane);
    if (!find_destinations(warp, op, lane, form.into, kResponseBytes, kResponseBytes,
                           response->destinations))
      return Outcome::Fault;
    submit_after(*warp.block->cluster, std::move(response), kBulkCopyLatency);
  }
  return Outcome::Next;
}

struct Response {
  uint32_t words[4];
};

Outcome run_is_canceled(Warp& warp, const Op& op, LaneMask exec) {
  const auto* response = warp.read<Response>(op.a);
  LaneMask canceled = 0;
  for (int i = 0; i < kLanes; ++i) canceled |= (response[i].words[0] & 1) << i;
  merge_predicate(exec, warp.predicate(op.d), canceled);
  return Outcome::Next;
}

// `small` is the word that the destination gets.
Outcome run_first_block(Warp& warp, const Op& op, LaneMask exec) {
  const auto* response = warp.read<Response>(op.a);
  uint32_t* d = warp.write<uint32_t>(op.d);
  for_lanes(exec, [&](int lane) { d[lane] = response[lane].words[op.small]; });
  return Outcome::Next;
}

Result<Done> lower_query(Lowering& l, const ptx::Instruction& i) {
  const Slot a = TRY(l.source(i.operands[1], Type::B128));
  if (i.has("is_canceled")) {
    const Slot d = TRY(l.predicate_destination(i.operands[0]));
    Op& op = l.emit(run_is_canceled);
    op.d = d;
    op.a = a;
    return Done{};
  }
  // The whole index as {x, y, z, _}, or one part of it.
  const auto emit_word = [&](const ptx::Operand& operand, uint32_t word) -> Result<Done> {
    const Slot d = TRY(l.destination(operand, Type::B32));
    Op& op = l.emit(run_first_block);
    op.d = d;
    op.a = a;
    op.small = word;
    return Done{};
  };
  constexpr std::string_view kParts[] = {"get_first_ctaid::x", "get_first_ctaid::y",
                                         "get_first_ctaid::z"};
  for (uint32_t part = 0; part < 3; ++part)
    if (i.has(kParts[part])) return emit_word(i.operands[0], part + 1);
  const auto elements = l.elements(i.operands[0]);
  for (size_t part = 0; part < elements.size() && part < 3; ++part)
    TRY(emit_word(*elements[part], static_cast<uint32_t>(part) + 1));
  return Done{};
}

Result<Done> lower_launch_control(Lowering& l, const ptx::Instruction& i) {
  if (i.has("query_cancel")) return lower_query(l, i);
  auto form = std::make_unique<CancelForm>();
  form->into.destination = TRY(l.address(i.operands[0], i.space));
  form->into.barrier = TRY(l.address(i.operands[1], i.space));
  form->into.every_block = i.has("multicast::cluster::all");
  const CancelForm* kept = l.keep(std::move(form));
  l.emit(run_try_cancel).extra = kept;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"mapa", lower_mapa},
    {"getctarank", lower_getctarank},
    {"fence", lower_fence},
    {"membar", lower_fence},
    {"griddepcontrol", lower_griddepcontrol},
    {"setmaxnreg", lower_setmaxnreg},
    {"clusterlaunchcontrol", lower_launch_control},
};

}  // namespace

Result<Done> lower_cluster_barrier(Lowering& l, const ptx::Instruction& i) {
  const bool aligned = i.has("aligned");
  if (i.has("arrive"))
    l.emit(aligned ? run_arrive<Alignment::Aligned> : run_arrive<Alignment::Any>);
  else
    l.emit(aligned ? run_wait<Alignment::Aligned> : run_wait<Alignment::Any>);
  return Done{};
}

std::span<const Meaning> cluster_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
