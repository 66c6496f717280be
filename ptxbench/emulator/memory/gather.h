// SPDX-License-Identifier: Apache-2.0

// The addresses of one memory instruction, resolved and checked for a whole warp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/memory/lane_pointers.h"
#include "ptxbench/emulator/op.h"
#include "ptxbench/emulator/warp.h"
#include "ptxbench/isa/spaces.h"

namespace weft::emulator {

// Resolves op.a (64-bit values when `wide`) + op.immediate in `space` for `size` bytes each,
// naturally aligned to `alignment`.
using Resolver = void (*)(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                          bool write, LanePointers& pointers);

Resolver find_resolver(isa::Space space, bool wide);

// Op::small of a load or store whose address register others use too: which of Warp::known it is,
// and whether an earlier instruction has filled it when both are in the same run of ops.
inline constexpr uint32_t kKnownIndex = kKnownAddresses - 1, kKeepsKnown = 4, kMayBeKnown = 8;

// The pointers of a load or store: known ones moved by the difference of the offsets, or resolved
// ones. `own` is room for those that are not kept.
inline const LanePointers& lane_pointers(Warp& w, const Op& op, LaneMask exec, Resolver resolver,
                                         uint32_t size, uint32_t alignment, bool write,
                                         LanePointers& own) {
  if ((op.small & kKeepsKnown) == 0) {
    resolver(w, op, exec, size, alignment, write, own);
    return own;
  }
  KnownAddresses& known = w.known[op.small & kKnownIndex];
  LanePointers& p = known.pointers;
  if ((op.small & kMayBeKnown) != 0 && known.run == w.run_number && known.exec == exec &&
      known.size == size) {
    // Both unsigned: a move below the lowest place wraps around.
    const auto moved = static_cast<uint64_t>(op.immediate - known.offset);
    if (moved + p.below <= p.below + p.above && (moved & (alignment - 1)) == 0) {
      known.offset = op.immediate;
      p.first += static_cast<int64_t>(moved);
      p.below += moved;
      p.above -= moved;
      return p;
    }
  }
  p.below = p.above = 0;
  p.groups = 0;
  resolver(w, op, exec, size, alignment, write, p);
  known.run = p.shape == LanePointers::Shape::Scattered || p.shape == LanePointers::Shape::Fault
                  ? 0
                  : w.run_number;
  known.offset = op.immediate;
  known.exec = exec;
  known.size = size;
  return p;
}

}  // namespace weft::emulator
