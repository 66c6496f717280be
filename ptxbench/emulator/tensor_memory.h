// SPDX-License-Identifier: Apache-2.0

// Tensor memory of a block (PTX ISA 9.0, section 9.7.16.1): 128 lanes of 512 columns of 32 bits,
// given out by columns, and the products and copies that the tensor core has yet to carry out on
// it. An address holds the lane in its upper half and the column in its lower one.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ptxbench/emulator/async_engine.h"
#include "ptxbench/emulator/block.h"

namespace weft::emulator {

inline constexpr uint32_t kTensorLanes = 128, kTensorColumns = 512;

struct TensorAddress {
  uint32_t lane = 0, column = 0;
};
constexpr TensorAddress tensor_address(uint32_t bits) {
  return {bits >> 16, bits & 0xffff};
}

// Bit g stands for lanes 8 g ... 8 g + 7.
using LaneGroups = uint16_t;

// A part of tensor memory: some columns of some lanes.
struct TensorRange {
  uint32_t column = 0, columns = 0;
  LaneGroups groups = 0;
  bool overlaps(const TensorRange& other) const {
    return (groups & other.groups) != 0 && column < other.column + other.columns &&
           other.column < column + columns;
  }
};

class TensorProduct;  // ops/tensor_product.h

struct TensorMemory final : FamilyState {
  // `filler` is what a fresh memory holds, as shared memory does.
  explicit TensorMemory(uint8_t filler);

  // Blocks of 8 x 8 words in two parts, the even columns and the odd ones, as tile engines take
  // accumulators (tile/tile_engine.h): part p of the block of lanes 8 g and columns 8 c.
  uint32_t* part(uint32_t group, uint32_t block, uint32_t p) {
    return reinterpret_cast<uint32_t*>(bytes.data()) +
           ((group * (kTensorColumns / 8) + block) * 2 + p) * 32;
  }
  uint32_t& word(uint32_t lane, uint32_t column) {
    return part(lane / 8, column / 8, column % 2)[lane % 8 * 4 + column % 8 / 2];
  }

  struct Allocation {
    uint32_t column = 0, columns = 0;
    IssuePlace by;
  };
  // The first column of `columns` that are free side by side; kTensorColumns: there are none.
  uint32_t find_free(uint32_t columns) const;
  uint32_t taken() const;
  // Why the columns may not be used; empty when they are allocated.
  std::string problem(uint32_t column, uint32_t columns) const;

  // What an operation that is under way reads or writes. Whoever touches it before the commit of
  // the operation has been waited for is too early.
  struct InFlight {
    uint64_t number = 0;  // of the operation
    TensorRange range;
    bool written = false;
    const ptx::Instruction* by = nullptr;
  };
  const InFlight* conflict(const TensorRange& range, bool writes) const;
  void landed(uint64_t number);

  AlignedBytes bytes;
  std::vector<Allocation> allocations;
  bool relinquished = false;
  std::vector<InFlight> in_flight;
  // Issued and not carried out, oldest first; nullptr stands for a copy.
  std::deque<TensorProduct*> products;
  uint64_t operations = 0;  // issued so far
  uint64_t last_due = 0;    // the tensor core takes them in order
};

// The block's, made when it is first asked for.
TensorMemory& tensor_memory_of(Block& block);

// The block's threads and its asynchronous work have ended: columns that are still allocated are a
// fault.
void end_tensor_memory(Block& block);

// The other block of a pair (cta_group::2); nullptr: the cluster has none.
Block* pair_of(Block& block);

// Cluster clock ticks from issue to effect of a product or copy of the tensor core.
inline constexpr uint64_t kTensorCoreLatency = 200;

// When an operation issued now on these memories (`second` may be nullptr) is carried out: not
// before those that were issued earlier.
uint64_t tensor_core_due(Cluster& cluster, TensorMemory& first, TensorMemory* second);

}  // namespace weft::emulator
