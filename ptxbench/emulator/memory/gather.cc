// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/memory/gather.h"

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

namespace {

using isa::Space;
using Shape = LanePointers::Shape;

// Where the addresses lie relative to each other.
struct Pattern {
  bool contiguous = true, uniform = true;
  uint64_t low = 0, high = 0;  // of active lanes
  uint64_t misaligned = 0;     // union of the low address bits
};

// Lanes that are inactive take the address of the first active one, so the loops need no mask.
void lane_addresses(const Warp& w, const Op& op, bool wide, LaneMask exec, uint64_t* address) {
  const uint64_t offset = static_cast<uint64_t>(op.immediate);
  if (wide) {
    const uint64_t* base = w.read<uint64_t>(op.a);
    for (int i = 0; i < kLanes; ++i) address[i] = base[i] + offset;
  } else {
    const uint32_t* base = w.read<uint32_t>(op.a);
    for (int i = 0; i < kLanes; ++i) address[i] = base[i] + offset;
  }
  if (exec != kAllLanes) {
    const uint64_t known = address[first_lane(exec)];
    for (int i = 0; i < kLanes; ++i) address[i] = (exec >> i) & 1 ? address[i] : known;
  }
}

Pattern pattern_of(const uint64_t* address, uint32_t size, uint32_t alignment) {
  Pattern p;
  const uint64_t first = address[0];
  // Signed arithmetic vectorises, and no address comes near the sign bit except garbage, which the
  // bounds check refuses either way.
  int64_t low = static_cast<int64_t>(first), high = low;
  uint64_t apart = 0, differs = 0, bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const int64_t a = static_cast<int64_t>(address[i]);
    apart |= address[i] - first - static_cast<uint64_t>(i) * size;
    differs |= address[i] ^ first;
    bits |= address[i];
    low = a < low ? a : low;
    high = a > high ? a : high;
  }
  p.contiguous = apart == 0;
  p.uniform = differs == 0;
  p.low = static_cast<uint64_t>(low);
  p.high = static_cast<uint64_t>(high);
  p.misaligned = bits & (alignment - 1);
  return p;
}

// One lane after the other, with the full checks: finds the lane at fault, or resolves mixed
// windows.
void one_by_one(Warp& w, const Op& op, LaneMask exec, Space space, const uint64_t* address,
                uint32_t size, uint32_t alignment, bool write, LanePointers& out) {
  out.shape = Shape::Scattered;
  const AccessKind kind = write ? AccessKind::Write : AccessKind::Read;
  for (LaneMask left = exec; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    out.lane[lane] = access(w, op, lane, space, address[lane], size, alignment, kind);
    if (out.lane[lane] == nullptr) {
      out.shape = Shape::Fault;
      return;
    }
  }
}

void take(const Pattern& p, LaneMask exec, std::byte* base, uint64_t base_address,
          const uint64_t* address, LanePointers& out) {
  if (p.uniform) {
    out.shape = Shape::Uniform;
    out.first = base + (address[0] - base_address);
  } else if (p.contiguous && exec == kAllLanes) {
    out.shape = Shape::Contiguous;
    out.first = base + (address[0] - base_address);
  } else {
    out.shape = Shape::Scattered;
    for (int i = 0; i < kLanes; ++i) out.lane[i] = base + (address[i] - base_address);
  }
}

template <Space kSpace, bool kWide>
void resolve(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment, bool write,
             LanePointers& out) {
  alignas(64) uint64_t address[kLanes];
  lane_addresses(w, op, kWide, exec, address);
  const Pattern p = pattern_of(address, size, alignment);
  if (p.misaligned == 0) {
    if constexpr (kSpace == Space::Global || kSpace == Space::Generic) {
      // Everything inside the allocation of the last access: nothing more to check.
      const AccessCache& cache = w.cache;
      if (p.low >= cache.first && p.high + size - 1 <= cache.last && p.high < (1ull << 62) &&
          cache.generation == w.block->grid->memory->generation()) {
        take(p, exec, nullptr, 0, address, out);
        return;
      }
      if (kSpace == Space::Generic && in_shared_window(p.low) && in_shared_window(p.high)) {
        const uint64_t rank_low = (p.low - kSharedWindow) >> kSharedRankShift;
        const uint64_t rank_high = (p.high - kSharedWindow) >> kSharedRankShift;
        Block* owner = shared_owner(*w.block, p.low - kSharedWindow);
        if (rank_low == rank_high && owner != nullptr &&
            (p.high & kSharedOffsetMask) + size <= owner->shared.size()) {
          const uint64_t window = kSharedWindow + (rank_low << kSharedRankShift);
          take(p, exec, owner->shared.data(), window, address, out);
          return;
        }
      }
    }
    if constexpr (kSpace == Space::Shared) {
      const uint64_t low = p.low & kSharedOffsetMask;
      if (p.high - p.low < kSharedOffsetMask &&
          low + (p.high - p.low) + size <= w.block->shared.size()) {
        take(p, exec, w.block->shared.data() + low, p.low, address, out);
        return;
      }
    }
  }
  one_by_one(w, op, exec, kSpace, address, size, alignment, write, out);
}

template <Space kSpace>
Resolver pick(bool wide) {
  return wide ? resolve<kSpace, true> : resolve<kSpace, false>;
}

}  // namespace

Resolver find_resolver(Space space, bool wide) {
  switch (space) {
    case Space::Shared:
      return pick<Space::Shared>(wide);
    case Space::SharedCluster:
      return pick<Space::SharedCluster>(wide);
    case Space::Local:
    case Space::ParamFunction:
      return pick<Space::Local>(wide);
    case Space::Generic:
      return pick<Space::Generic>(wide);
    default:
      return pick<Space::Global>(wide);
  }
}

}  // namespace weft::emulator
