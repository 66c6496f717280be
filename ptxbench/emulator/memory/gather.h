// SPDX-License-Identifier: Apache-2.0

// The addresses of one memory instruction, resolved for a whole warp. Most warps touch one value or
// 32 neighbouring ones; those two shapes are recognised, so that one check and one copy do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/op.h"
#include "ptxbench/emulator/warp.h"
#include "ptxbench/isa/spaces.h"

namespace weft::emulator {

struct LanePointers {
  enum class Shape : uint8_t { Fault, Contiguous, Uniform, Scattered } shape = Shape::Fault;
  std::byte* first = nullptr;  // Contiguous: lane 0's; Uniform: everybody's
  std::byte* lane[kLanes];     // Scattered: of the active lanes
};

// Resolves op.a (64-bit values when `wide`) + op.immediate in `space` for `size` bytes each,
// naturally aligned to `alignment`. Contiguous only with all lanes active.
using Resolver = void (*)(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                          bool write, LanePointers& pointers);

Resolver find_resolver(isa::Space space, bool wide);

}  // namespace weft::emulator
