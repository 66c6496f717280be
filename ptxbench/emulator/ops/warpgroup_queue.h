// SPDX-License-Identifier: Apache-2.0

// What the warpgroups of a block have asked of the tensor cores and not yet got.
//
// Each of the four warps issues the same operations at its own pace. An operation is carried out
// when some warp waits for a group that holds it, which needs all four to have issued it; only then
// are shared memory and registers read and accumulators written. So a kernel that forgets to wait,
// or refills shared memory too early, sees what it did.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/code.h"
#include "ptxbench/emulator/tile/matrix_product.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

// The operands of one wgmma.mma_async as lowered.
struct WgmmaPlan final : Extra {
  MatrixShape shape;
  enum class Sum : uint8_t { F32, F16, S32 };
  Sum sum = Sum::F32;
  bool saturate = false;  // .satfinite
  bool negate = false;    // imm-scale-a times imm-scale-b is -1
  bool a_in_registers = false;
  std::vector<Slot> accumulators;  // columns / 2 registers; columns / 4 of f16 pairs
  std::array<Slot, 4> a_registers{};
  Slot a_descriptor = kNoSlot, b_descriptor = kNoSlot;
  Slot scale_d = kNoSlot;  // predicate
  LaneMask scale_d_flip = 0;
  // wgmma.sp: A has half the depth of the shape. The metadata register is read with A's.
  Slot metadata = kNoSlot;
  uint8_t first_lane = 0;   // sparse_rows.h
  bool serialized = false;  // waits at once (accumulator_hazard.h)
  const FunctionCode* code = nullptr;
};

// One that a warp has issued.
struct IssuedWgmma {
  const WgmmaPlan* plan = nullptr;
  const Op* op = nullptr;
  uint64_t a_descriptor = 0, b_descriptor = 0;
  bool accumulate = true;  // scale-d
  Frame* frame = nullptr;  // whose registers it names
};

// What a warp has issued and not waited for, and which registers hold its values: for the warp they
// are in flight, carried out or not.
struct UnwaitedOperations {
  struct Operation {
    uint64_t number = 0;  // of the warp's wgmma, from 0
    const WgmmaPlan* plan = nullptr;
    const Op* op = nullptr;
    const Frame* frame = nullptr;
  };
  struct Copy {           // of an accumulator, made by a move; noted only where code is checked
    uint32_t number = 0;  // of the register: places are shared
    uint64_t operation = 0;
  };
  std::vector<Operation> operations;  // oldest first
  std::vector<Copy> copies;

  // Operations with numbers below `count` are waited for.
  void forget(uint64_t count) {
    std::erase_if(operations, [&](const Operation& o) { return o.number < count; });
    std::erase_if(copies, [&](const Copy& c) { return c.operation < count; });
  }
};

// Sums that stay with the tile engine (SumPlaces) because wgmma that are issued already will add to
// them: nobody may touch the registers before the wait for those, so the registers are out of date
// meanwhile.
struct ParkedSums {
  const WgmmaPlan* plan = nullptr;  // the last that added to them
  std::array<Frame*, 4> frames{};   // of the members
  AlignedBytes values;
};

struct Warpgroup {
  struct Member {
    std::vector<IssuedWgmma> pending;  // issued and not carried out, oldest first
    std::deque<uint64_t> group_ends;   // operations issued when each group was committed
    UnwaitedOperations unwaited;
  };
  std::array<Member, 4> members;
  uint64_t executed = 0;  // operations carried out
  std::vector<ParkedSums> parked;

  uint64_t issued(int member) const { return executed + members[member].pending.size(); }
};

struct Warpgroups final : FamilyState {
  std::vector<Warpgroup> groups;
};

// The warpgroup of the warp.
Warpgroup& warpgroup_of(Warp& warp);

// Carries out operations until `count` of them are done; all members must have issued as many.
// False after a fault, which is recorded.
bool execute_wgmma(Block& block, uint32_t group_index, uint64_t count);

// After a wait of a member (0-3): puts parked sums into their registers unless they are in flight
// for the member still, so that it cannot look at them.
void unpark_for(Block& block, uint32_t group_index, int member);

}  // namespace weft::emulator
