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
  enum class Shape : uint8_t {
    Fault,
    Contiguous,  // lane i's bytes follow lane i - 1's; all lanes are active
    Uniform,     // everybody's are the same
    Offsets,     // lane i's are at first + offset[i]; inactive lanes repeat an active one's
    Scattered,   // lane i's are at lane[i]; active lanes only
  } shape = Shape::Fault;
  std::byte* first = nullptr;
  union {
    alignas(64) uint32_t offset[kLanes];
    std::byte* lane[kLanes];
  };
  LanePointers() {}  // the arrays are filled where the shape says so

  // The bytes of an active lane; every lane has `size` of them.
  std::byte* of(int i, uint32_t size) const {
    switch (shape) {
      case Shape::Contiguous:
        return first + static_cast<uint32_t>(i) * size;
      case Shape::Uniform:
        return first;
      case Shape::Offsets:
        return first + offset[i];
      default:
        return lane[i];
    }
  }
};

// Resolves op.a (64-bit values when `wide`) + op.immediate in `space` for `size` bytes each,
// naturally aligned to `alignment`.
using Resolver = void (*)(Warp& w, const Op& op, LaneMask exec, uint32_t size, uint32_t alignment,
                          bool write, LanePointers& pointers);

Resolver find_resolver(isa::Space space, bool wide);

}  // namespace weft::emulator
