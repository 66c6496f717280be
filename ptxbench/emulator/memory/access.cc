// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/memory/access.h"

#include <fmt/format.h>

#include "ptxbench/emulator/grid.h"

namespace weft::emulator {

namespace {

std::string_view verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::Read:
      return "read";
    case AccessKind::Write:
      return "write";
    case AccessKind::Atomic:
      return "atomic access";
  }
  return "access";
}

std::byte* misaligned(Warp& warp, const Op& op, int lane, uint64_t address, uint32_t size,
                      uint32_t alignment, AccessKind kind, std::string_view space) {
  warp.fault(op, lane, FaultKind::Misaligned,
             fmt::format("{} of {} bytes in {} memory at {:#x}, which is no multiple of {}",
                         verb(kind), size, space, address, alignment),
             address);
  return nullptr;
}

std::byte* shared_access(Warp& warp, const Op& op, int lane, Block* owner, uint64_t address,
                         uint32_t size, AccessKind kind, std::string_view space) {
  const uint64_t offset = address & kSharedOffsetMask;
  if (owner == nullptr) {
    warp.fault(
        op, lane, FaultKind::OutOfBounds,
        fmt::format(
            "{} of {} bytes at shared address {:#x}, which names block rank {} of a cluster of {}",
            verb(kind), size, address, address >> kSharedRankShift,
            warp.block->cluster->blocks.size()),
        address);
    return nullptr;
  }
  if (offset + size > owner->shared.size()) {
    warp.fault(
        op, lane, FaultKind::OutOfBounds,
        fmt::format("{} of {} bytes in {} memory at offset {:#x}, past the block's {:#x} bytes",
                    verb(kind), size, space, offset, owner->shared.size()),
        address);
    return nullptr;
  }
  return owner->shared.data() + offset;
}

std::byte* local_access(Warp& warp, const Op& op, int lane, uint64_t offset, uint32_t size,
                        AccessKind kind) {
  auto& bytes = warp.local[lane];
  const uint64_t in_use =
      warp.frame->local_base + warp.frame->code->local_bytes + warp.alloca_bytes;
  if (offset + size > in_use || offset + size < offset) {
    warp.fault(
        op, lane, FaultKind::OutOfBounds,
        fmt::format("{} of {} bytes in local memory at offset {:#x}, past the {:#x} bytes in use",
                    verb(kind), size, offset, in_use),
        offset);
    return nullptr;
  }
  if (bytes.size() < in_use) bytes.resize(in_use);
  return bytes.data() + offset;
}

}  // namespace

Block* shared_owner(Block& block, uint64_t shared_address) {
  const uint64_t rank = (shared_address & 0xffffffffu) >> kSharedRankShift;
  return rank < block.cluster->blocks.size() ? block.cluster->blocks[rank].get() : nullptr;
}

std::byte* access(Warp& warp, const Op& op, int lane, isa::Space space, uint64_t address,
                  uint32_t size, uint32_t alignment, AccessKind kind) {
  if (space == isa::Space::Generic || space == isa::Space::Global ||
      space == isa::Space::Constant || space == isa::Space::Param) {
    if (in_shared_window(address) && space == isa::Space::Generic) {
      const uint64_t offset = address - kSharedWindow;
      if (offset % alignment != 0)
        return misaligned(warp, op, lane, address, size, alignment, kind, "shared");
      return shared_access(warp, op, lane, shared_owner(*warp.block, offset), offset, size, kind,
                           "shared");
    }
    if (in_local_window(address) && space == isa::Space::Generic) {
      if (address % alignment != 0)
        return misaligned(warp, op, lane, address, size, alignment, kind, "local");
      return local_access(warp, op, lane, address - kLocalWindow, size, kind);
    }
    if (address % alignment != 0)
      return misaligned(warp, op, lane, address, size, alignment, kind, "global");
    AccessCache& cache = warp.cache;
    const GlobalMemory& memory = *warp.block->grid->memory;
    const uint64_t generation = memory.generation();
    if (cache.generation != generation) cache = {.generation = generation};
    if (cache.holds(address, address + size - 1)) return reinterpret_cast<std::byte*>(address);
    const auto allocation = memory.find(address);
    if (!allocation || address - allocation->address + size > allocation->size) {
      const bool window = in_shared_window(address) || in_local_window(address);
      warp.fault(
          op, lane, FaultKind::OutOfBounds,
          window
              ? fmt::format("{} of {} bytes at {:#x}: a global access to a shared or local address",
                            verb(kind), size, address)
              : fmt::format("{} of {} bytes at {:#x}", verb(kind), size, address),
          address, {describe_address(*warp.block, address, size)});
      return nullptr;
    }
    cache.add({allocation->address, allocation->address + allocation->size - 1});
    return reinterpret_cast<std::byte*>(address);
  }
  if (address % alignment != 0)
    return misaligned(warp, op, lane, address, size, alignment, kind, isa::name(space));
  switch (space) {
    case isa::Space::Shared:
      return shared_access(warp, op, lane, warp.block, address, size, kind, "shared");
    case isa::Space::SharedCluster:
      return shared_access(warp, op, lane, shared_owner(*warp.block, address), address, size, kind,
                           "shared::cluster");
    default:
      return local_access(warp, op, lane, address, size, kind);
  }
}

std::byte* access(Block& block, isa::Space space, uint64_t address, uint64_t size) {
  auto within = [&](Block* owner, uint64_t offset) -> std::byte* {
    if (owner == nullptr || offset + size > owner->shared.size()) return nullptr;
    return owner->shared.data() + offset;
  };
  if (space == isa::Space::Generic && in_shared_window(address)) {
    const uint64_t offset = address - kSharedWindow;
    return within(shared_owner(block, offset), offset & kSharedOffsetMask);
  }
  if (space == isa::Space::Shared) return within(&block, address & kSharedOffsetMask);
  if (space == isa::Space::SharedCluster)
    return within(shared_owner(block, address), address & kSharedOffsetMask);
  const auto allocation = block.grid->memory->find(address);
  if (!allocation || address - allocation->address + size > allocation->size) return nullptr;
  return reinterpret_cast<std::byte*>(address);
}

std::string describe_address(Block& block, uint64_t address, uint64_t size) {
  const GlobalMemory& memory = *block.grid->memory;
  if (address < 4096) return "the address is null or close to it";
  const auto near = memory.nearest(address);
  if (!near) return "no device memory is allocated";
  const std::string label = near->label.empty() ? "" : fmt::format(" ({})", near->label);
  if (address < near->address)
    return fmt::format("{:#x} is {} bytes before an allocation of {} bytes at {:#x}{}", address,
                       near->address - address, near->size, near->address, label);
  const uint64_t end = near->address + near->size;
  if (address >= end)
    return fmt::format("{:#x} is {} bytes past the end of an allocation of {} bytes at {:#x}{}",
                       address, address - end, near->size, near->address, label);
  return fmt::format("{:#x} + {} crosses the end of an allocation of {} bytes at {:#x}{}", address,
                     size, near->size, near->address, label);
}

}  // namespace weft::emulator
