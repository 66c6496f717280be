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

// Bytes that a warp's shuffle of vector registers can reach: addresses this close need no gather.
inline constexpr uint32_t kWindow = 128;

struct LanePointers {
  enum class Shape : uint8_t {
    Fault,
    Contiguous,  // lane i's bytes follow lane i - 1's; all lanes are active
    Uniform,     // everybody's are the same
    Offsets,     // lane i's are at first + offset[i]; inactive lanes repeat an active one's
    Window,      // the same, and offsets are below kWindow with as many bytes readable from `first`
    Scattered,   // lane i's are at lane[i]; active lanes only
  } shape = Shape::Fault;
  std::byte* first = nullptr;
  union {
    alignas(64) uint32_t offset[kLanes];
    std::byte* lane[kLanes];
  };
  LanePointers() {}  // the arrays are filled where the shape says so
};

// Resolves op.a (64-bit values when `wide`) + op.immediate in `space` for `size` bytes each,
// naturally aligned to `alignment`.
using Resolver = void (*)(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                          bool write, LanePointers& pointers);

Resolver find_resolver(isa::Space space, bool wide);

}  // namespace weft::emulator
