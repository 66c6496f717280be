// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/check/shared_watch.h"

#include <memory>
#include <utility>

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

namespace {

using isa::Space;

struct WatchPlan final : Extra {
  Address address;
  uint32_t bytes = 0;
  Watched kind = Watched::Load;
};

bool is_strong(Watched kind) {
  return kind != Watched::Load && kind != Watched::Store;
}
bool releases(Watched kind) {
  return is_strong(kind) && kind != Watched::StrongLoad;
}
bool acquires(Watched kind) {
  return kind == Watched::StrongLoad || kind == Watched::Atomic;
}

Touch touch_of(Watched kind) {
  switch (kind) {
    case Watched::Load:
      return Touch::Read;
    case Watched::StrongLoad:
      return Touch::StrongRead;
    case Watched::Store:
      return Touch::Write;
    case Watched::StrongStore:
      return Touch::StrongWrite;
    default:
      return Touch::Update;
  }
}

// The shared memory that an address means; no block when it means none, or none that is there:
// the access itself is a fault then.
SharedRange place_of(Block& block, Space space, uint64_t address, uint32_t bytes) {
  Block* owner = nullptr;
  if (space == Space::Generic && in_shared_window(address))
    owner = shared_owner(block, address - kSharedWindow);
  else if (space == Space::SharedCluster)
    owner = shared_owner(block, address);
  else if (space == Space::Shared)
    owner = &block;
  const auto offset = static_cast<uint32_t>(address & kSharedOffsetMask);
  if (owner == nullptr || uint64_t{offset} + bytes > owner->shared.size()) return {};
  return {owner, offset, bytes};
}

// One number for each place that threads may synchronise through.
uint64_t key_of(const SharedRange& place, uint64_t address) {
  if (place.block == nullptr) return address;
  return kSharedWindow + (uint64_t{place.block->rank} << kSharedRankShift) + place.offset;
}

Outcome run_watch(Warp& warp, const Op& op, LaneMask exec) {
  const auto& plan = *static_cast<const WatchPlan*>(op.extra);
  HazardCheck& hazards = *hazards_of(warp);
  const Address& from = plan.address;
  const Touch kind = touch_of(plan.kind);
  SharedRange run;  // of lanes that follow each other
  int first = 0;
  uint64_t known_key = 0;
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t address = lane_address(warp, from.slot, from.wide, from.offset, lane);
    const SharedRange place = place_of(*warp.block, from.space, address, plan.bytes);
    if (is_strong(plan.kind)) {
      const uint64_t key = key_of(place, address);
      if (acquires(plan.kind)) hazards.remember(warp, lane, key);
      if (releases(plan.kind) && key != known_key) hazards.release(warp, key);
      known_key = key;
    }
    if (place.block == nullptr) continue;
    if (run.block == place.block && place.offset + place.bytes <= run.offset + run.bytes &&
        place.offset >= run.offset)
      continue;  // the same bytes again
    if (run.block == place.block && place.offset == run.offset + run.bytes &&
        lane - first == static_cast<int>(run.bytes / plan.bytes)) {
      run.bytes += place.bytes;
      continue;
    }
    if (run.block != nullptr && !hazards.touch(warp, op, first, run, kind, plan.bytes))
      return Outcome::Fault;
    run = place;
    first = lane;
  }
  if (run.block != nullptr && !hazards.touch(warp, op, first, run, kind, plan.bytes))
    return Outcome::Fault;
  return Outcome::Next;
}

Outcome run_watch_end(Warp& warp, const Op&, LaneMask exec) {
  hazards_of(warp)->acquire_remembered(warp, exec);
  return Outcome::Next;
}

bool is_watched(Lowering& l, Space space, Watched kind) {
  if (!l.image().checks.shared()) return false;
  if (space == Space::Generic || space == Space::Shared || space == Space::SharedCluster)
    return true;
  return space == Space::Global && is_strong(kind);
}

}  // namespace

void lower_watch(Lowering& l, const Address& address, uint32_t bytes, Watched kind) {
  if (!is_watched(l, address.space, kind)) return;
  auto plan = std::make_unique<WatchPlan>();
  plan->address = address;
  plan->bytes = bytes;
  plan->kind = kind;
  const WatchPlan* kept = l.keep(std::move(plan));
  l.emit(run_watch).extra = kept;
}

void lower_watch_end(Lowering& l, const Address& address, Watched kind) {
  if (is_watched(l, address.space, kind) && acquires(kind)) l.emit(run_watch_end);
}

}  // namespace weft::emulator
