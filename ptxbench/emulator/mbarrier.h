// SPDX-License-Identifier: Apache-2.0

// mbarrier objects in the memory of a running cluster: where they lie, and how asynchronous work
// signals them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/mbarrier_word.h"
#include "ptxbench/isa/spaces.h"

namespace weft::emulator {

// An mbarrier that has been found: `word` points into the owner's shared memory.
struct BarrierPlace {
  Block* owner = nullptr;
  uint32_t offset = 0;       // in the owner's shared memory
  uint64_t* word = nullptr;  // nullptr: there is none at the address
};

// The barrier at an address of `space` (Shared, SharedCluster or Generic) as block `block` sees it.
// On failure `word` is nullptr and `why` says what is wrong with the address.
BarrierPlace find_barrier(Block& block, isa::Space space, uint64_t address, std::string_view& why);

// The barrier at the same offset in another block of the cluster (multicast); nullptr word: none.
BarrierPlace barrier_at(Block& owner, uint32_t offset);

std::string_view describe(BarrierMistake mistake);
// "mbarrier at shared offset 0x40 of block rank 0: phase parity 1, 3 of 128 arrivals pending, ...".
std::string describe_barrier(const BarrierPlace& place);

}  // namespace weft::emulator
