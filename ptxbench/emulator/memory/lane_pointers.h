// SPDX-License-Identifier: Apache-2.0

// Where the lanes of one memory instruction go. Most warps touch one value, 32 neighbouring ones,
// or a few groups of those; the shapes are told apart so that one check and a few copies do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/lanes.h"

namespace weft::emulator {

struct LanePointers {
  enum class Shape : uint8_t {
    Fault,
    Contiguous,  // lane i's bytes follow lane i - 1's; all lanes are active
    Uniform,     // everybody's are the same
    Offsets,     // lane i's are at first + offset[i]; inactive lanes repeat an active one's
    Scattered,   // lane i's are at lane[i]; active lanes only
  } shape = Shape::Fault;
  // Of Offsets with four bytes a lane: two bits for each group of eight lanes.
  static constexpr uint8_t kSameWord = 1, kRunOfWords = 2;
  static constexpr uint8_t kAllSameWord = 0x55, kAllRunsOfWords = 0xaa;
  uint8_t groups = 0;
  std::byte* first = nullptr;
  // How far all addresses may move down and up and still lie in the same memory; 0 when not known.
  uint64_t below = 0, above = 0;
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

// Pointers kept for the instructions that follow in the same run of ops and add another offset to
// the same register: unrolled loops are full of them.
struct KnownAddresses {
  LanePointers pointers;
  uint64_t run = 0;  // Warp::run_number; any other run has to look again
  int64_t offset = 0;
  LaneMask exec = 0;
  uint32_t size = 0;
};
inline constexpr uint32_t kKnownAddresses = 4;

}  // namespace weft::emulator
