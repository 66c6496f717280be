// SPDX-License-Identifier: Apache-2.0

// ldmatrix, stmatrix, movmatrix: 8 x 8 blocks of 16-bit elements between shared memory and
// registers. A register of the warp is such a block, row after row, so a block is eight copies of
// 16 bytes; .trans turns it on the way.

#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"

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

// Where the row whose address `lane` gives lies; nullptr after a fault.
std::byte* row_place(Warp& warp, const Op& op, const BlockPlan& plan, int lane, AccessKind kind) {
  const uint64_t address =
      lane_address(warp, plan.address.slot, plan.address.wide, plan.address.offset, lane);
  if (plan.address.space == Space::Shared) [[likely]] {
    const uint32_t offset = static_cast<uint32_t>(address) & kSharedOffsetMask;
    if (offset % kRowBytes == 0 && offset + kRowBytes <= warp.block->shared.size()) [[likely]]
      return warp.block->shared.data() + offset;
  }
  return access(warp, op, lane, plan.address.space, address, kRowBytes, kRowBytes, kind);
}

using Halves = uint16_t[8][8];

void transpose(const std::byte* from, std::byte* to) {
  Halves block, turned;
  std::memcpy(block, from, sizeof block);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) turned[j][i] = block[i][j];
  std::memcpy(to, turned, sizeof turned);
}

Outcome run_load(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const BlockPlan*>(op.extra);
  // All rows first: a destination may be the address register.
  alignas(64) std::byte blocks[4][8 * kRowBytes];
  for (int row = 0; row < 8 * plan.count; ++row) {
    const std::byte* place = row_place(warp, op, plan, row, AccessKind::Read);
    if (place == nullptr) return Outcome::Fault;
    std::memcpy(blocks[0] + row * kRowBytes, place, kRowBytes);
  }
  for (int i = 0; i < plan.count; ++i) {
    auto* to = warp.write<std::byte>(plan.registers[i]);
    if (plan.transposed)
      transpose(blocks[i], to);
    else
      std::memcpy(to, blocks[i], sizeof blocks[i]);
  }
  return Outcome::Next;
}

Outcome run_store(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const BlockPlan*>(op.extra);
  for (int i = 0; i < plan.count; ++i) {
    alignas(64) std::byte block[8 * kRowBytes];
    const auto* from = warp.read<std::byte>(plan.registers[i]);
    if (plan.transposed)
      transpose(from, block);
    else
      std::memcpy(block, from, sizeof block);
    for (int row = 0; row < 8; ++row) {
      std::byte* place = row_place(warp, op, plan, 8 * i + row, AccessKind::Write);
      if (place == nullptr) return Outcome::Fault;
      std::memcpy(place, block + row * kRowBytes, kRowBytes);
    }
  }
  return Outcome::Next;
}

Outcome run_move(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  transpose(warp.read<std::byte>(op.a), warp.write<std::byte>(op.d));
  return Outcome::Next;
}

Result<Done> lower_blocks(Lowering& l, const ptx::Instruction& i, Handler handler) {
  const bool load = handler == run_load;
  if (!i.has("m8n8"))
    return l.unsupported(fmt::format("{} of 8-bit and narrower elements", i.opcode));
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
