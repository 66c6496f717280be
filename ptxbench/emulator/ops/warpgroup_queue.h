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

struct Warpgroup {
  struct Member {
    std::vector<IssuedWgmma> pending;  // issued and not carried out, oldest first
    std::deque<uint64_t> group_ends;   // operations issued when each group was committed
  };
  std::array<Member, 4> members;
  uint64_t executed = 0;  // operations carried out

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

}  // namespace weft::emulator
