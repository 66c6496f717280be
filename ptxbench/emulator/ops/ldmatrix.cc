// SPDX-License-Identifier: Apache-2.0

// ldmatrix, stmatrix, movmatrix: 8 x 8 blocks of 16-bit elements between shared memory and
// registers. A register of the warp is such a block, row after row, so a block is eight copies of
// 16 bytes; .trans turns it on the way.

#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"
#include "ptxbench/emulator/tile/block_transpose.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

constexpr int kRowBytes = 16;

struct BlockPlan final : Extra {
  std::array<Slot, 4> registers{};
  int count = 0;
  bool transposed = false;
  Address address;
};

// Tells the hazard check which rows are touched; false after a fault.
bool check_rows(Warp& warp, const Op& op, const BlockPlan& plan, Touch kind,
                std::byte* const* places) {
  HazardCheck* hazards = hazards_of(warp);
  if (hazards == nullptr) return true;
  for (int row = 0; row < 8 * plan.count; ++row)
    if (!hazards->touch(warp, op, row, places[row], kRowBytes, kind)) return false;
  return true;
}

// Where the rows lie, by the lane that gives the address; false after a fault.
bool row_places(Warp& warp, const Op& op, const BlockPlan& plan, AccessKind kind,
                std::byte** places) {
  const int rows = 8 * plan.count;
  if (plan.address.space == Space::Shared && !plan.address.wide) [[likely]] {
    const auto* addresses = warp.read<uint32_t>(plan.address.slot);
    const auto offset = static_cast<uint32_t>(plan.address.offset);
    std::byte* const shared = warp.block->shared.data();
    const size_t size = warp.block->shared.size();
    bool good = true;
    for (int row = 0; row < rows; ++row) {
      const uint32_t at = (addresses[row] + offset) & kSharedOffsetMask;
      good &= at % kRowBytes == 0 && at + kRowBytes <= size;
      places[row] = shared + at;
    }
    if (good) [[likely]]
      return true;
  }
  for (int row = 0; row < rows; ++row) {
    const uint64_t address =
        lane_address(warp, plan.address.slot, plan.address.wide, plan.address.offset, row);
    places[row] = access(warp, op, row, plan.address.space, address, kRowBytes, kRowBytes, kind);
    if (places[row] == nullptr) return false;
  }
  return true;
}

Outcome run_load(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const BlockPlan*>(op.extra);
  // All addresses first: a destination may be the address register.
  std::byte* places[kLanes];
  if (!row_places(warp, op, plan, AccessKind::Read, places) ||
      !check_rows(warp, op, plan, Touch::Read, places))
    return Outcome::Fault;
  for (int i = 0; i < plan.count; ++i) {
    auto* to = warp.write<std::byte>(plan.registers[i]);
    for (int row = 0; row < 8; ++row)
      std::memcpy(to + row * kRowBytes, places[8 * i + row], kRowBytes);
    if (plan.transposed) transpose_block(to, to);
  }
  return Outcome::Next;
}

Outcome run_store(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const BlockPlan*>(op.extra);
  std::byte* places[kLanes];
  if (!row_places(warp, op, plan, AccessKind::Write, places) ||
      !check_rows(warp, op, plan, Touch::Write, places))
    return Outcome::Fault;
  for (int i = 0; i < plan.count; ++i) {
    const auto* from = warp.read<std::byte>(plan.registers[i]);
    alignas(64) std::byte turned[8 * kRowBytes];
    if (plan.transposed) {
      transpose_block(from, turned);
      from = turned;
    }
    for (int row = 0; row < 8; ++row)
      std::memcpy(places[8 * i + row], from + row * kRowBytes, kRowBytes);
  }
  return Outcome::Next;
}

Outcome run_move(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  transpose_block(warp.read<std::byte>(op.a), warp.write<std::byte>(op.d));
  return Outcome::Next;
}

Result<Done> lower_blocks(Lowering& l, const ptx::Instruction& i, Handler handler) {
  const bool load = handler == run_load;
  if (!i.has("m8n8")) return lower_byte_blocks(l, i);
  auto plan = std::make_unique<BlockPlan>();
  plan->transposed = i.has("trans");
  const size_t count = i.has("x4") ? 4 : i.has("x2") ? 2 : 1;
  const auto registers = l.elements(i.operands[load ? 0 : 1]);
  if (registers.size() != count)
    return l.error(fmt::format("{} registers for .x{}", registers.size(), count));
  plan->count = static_cast<int>(count);
  for (size_t r = 0; r < count; ++r)
    plan->registers[r] = load ? TRY(l.destination(*registers[r], Type::B32))
                              : TRY(l.source(*registers[r], Type::B32));
  plan->address = TRY(l.address(i.operands[load ? 1 : 0], i.space));
  l.emit(handler).extra = l.keep(std::move(plan));
  return Done{};
}

}  // namespace

Result<Done> lower_ldmatrix(Lowering& l, const ptx::Instruction& i) {
  return lower_blocks(l, i, run_load);
}

Result<Done> lower_stmatrix(Lowering& l, const ptx::Instruction& i) {
  return lower_blocks(l, i, run_store);
}

Result<Done> lower_movmatrix(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], Type::B32));
  const Slot a = TRY(l.source(i.operands[1], Type::B32));
  Op& op = l.emit(run_move);
  op.d = d;
  op.a = a;
  return Done{};
}

}  // namespace weft::emulator
