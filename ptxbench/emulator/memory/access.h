// SPDX-License-Identifier: Apache-2.0

// Checked access to every state space: an address of the program becomes a host pointer, or a
// fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/warp.h"
#include "ptxbench/isa/spaces.h"

namespace weft::emulator {

enum class AccessKind : uint8_t { Read, Write, Atomic };

// Host address of `size` bytes at `address` in `space`, as seen by the thread of `lane`. Generic
// addresses are resolved by window. The access must be aligned to `alignment` (a power of two).
// nullptr after a fault, which is recorded: return Outcome::Fault.
std::byte* access(Warp& warp, const Op& op, int lane, isa::Space space, uint64_t address,
                  uint32_t size, uint32_t alignment, AccessKind kind);

// The same for an agent that is no thread (asynchronous copies): nullptr when out of bounds, with
// nothing recorded. `block` resolves shared::cta addresses; shared::cluster ones name their rank.
std::byte* access(Block& block, isa::Space space, uint64_t address, uint64_t size);

// The block of the cluster that a shared::cluster address belongs to; nullptr: no such rank.
Block* shared_owner(Block& block, uint64_t shared_address);

// "0x7f… is 16 bytes past the end of an allocation of 4096 bytes at 0x7f…": for fault notes.
std::string describe_address(Block& block, uint64_t address, uint64_t size);

// Effective address of a lane: the slot's value (32 or 64 bits wide) plus the offset.
inline uint64_t lane_address(const Warp& warp, Slot slot, bool wide, int64_t offset, int lane) {
  const uint64_t base = wide ? warp.read<uint64_t>(slot)[lane] : warp.read<uint32_t>(slot)[lane];
  return base + static_cast<uint64_t>(offset);
}

}  // namespace weft::emulator
