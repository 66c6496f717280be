// SPDX-License-Identifier: Apache-2.0

// Who holds which columns of tensor memory, and which are in use by work that is under way.

#include "ptxbench/emulator/tensor_memory.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ptxbench/emulator/grid.h"

namespace weft::emulator {

TensorMemory::TensorMemory(uint8_t filler)
    : bytes(size_t{kTensorLanes} * kTensorColumns * sizeof(uint32_t)) {
  std::memset(bytes.data(), filler, bytes.size());
}

uint32_t TensorMemory::find_free(uint32_t columns) const {
  for (uint32_t column = 0; column + columns <= kTensorColumns; column += 32) {
    const bool free = std::none_of(allocations.begin(), allocations.end(), [&](const auto& a) {
      return column < a.column + a.columns && a.column < column + columns;
    });
    if (free) return column;
  }
  return kTensorColumns;
}

uint32_t TensorMemory::taken() const {
  uint32_t sum = 0;
  for (const Allocation& a : allocations) sum += a.columns;
  return sum;
}

std::string TensorMemory::problem(uint32_t column, uint32_t columns) const {
  // Neighbouring allocations may be used as one.
  for (uint32_t at = column; at < column + columns;) {
    const auto found = std::find_if(
        allocations.begin(), allocations.end(),
        [&](const Allocation& a) { return at >= a.column && at < a.column + a.columns; });
    if (found == allocations.end())
      return fmt::format("column {} of tensor memory is not allocated, columns {} to {} are used",
                         at, column, column + columns - 1);
    at = found->column + found->columns;
  }
  return {};
}

const TensorMemory::InFlight* TensorMemory::conflict(const TensorRange& range, bool writes) const {
  for (const InFlight& entry : in_flight)
    if ((writes || entry.written) && entry.range.overlaps(range)) return &entry;
  return nullptr;
}

void TensorMemory::landed(uint64_t number) {
  std::erase_if(in_flight, [&](const InFlight& entry) { return entry.number == number; });
}

TensorMemory& tensor_memory_of(Block& block) {
  if (block.tensor_memory == nullptr)
    block.tensor_memory =
        std::make_unique<TensorMemory>(block.grid->schedule_seed % 2 == 0 ? 0xff : 0xfb);
  return static_cast<TensorMemory&>(*block.tensor_memory);
}

void end_tensor_memory(Block& block) {
  if (block.tensor_memory == nullptr) return;
  for (const TensorMemory::Allocation& a : tensor_memory_of(block).allocations)
    a.by.warp->record_fault(
        *a.by.instruction, a.by.lane, FaultKind::TensorMemory,
        fmt::format("the block ends with tensor memory still allocated: {} columns from column {}",
                    a.columns, a.column),
        0, {"tcgen05.dealloc must give back what tcgen05.alloc took"});
}

Block* pair_of(Block& block) {
  const auto& blocks = block.cluster->blocks;
  const uint32_t rank = block.rank ^ 1;
  return rank < blocks.size() ? blocks[rank].get() : nullptr;
}

uint64_t tensor_core_due(Cluster& cluster, TensorMemory& first, TensorMemory* second) {
  uint64_t due =
      std::max(first.last_due, cluster.clock + cluster.schedule.latency(kTensorCoreLatency));
  if (second != nullptr) due = std::max(due, second->last_due);
  first.last_due = due;
  if (second != nullptr) second->last_due = due;
  return due;
}

}  // namespace weft::emulator
