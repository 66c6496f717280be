// SPDX-License-Identifier: Apache-2.0

// wgmma (PTX ISA 9.0, section 9.7.15): matrix products of four warps, asynchronous. Issuing one
// only notes it down; warpgroup_queue.h says when it is carried out.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_shape.h"
#include "ptxbench/emulator/ops/mma_plan.h"
#include "ptxbench/emulator/ops/warpgroup_queue.h"
#include "ptxbench/emulator/tile/matrix_descriptor.h"

namespace weft::emulator {

namespace {

using isa::Type;

// The value that all lanes give; false when they differ.
bool uniform(const uint64_t* lanes, uint64_t& value) {
  value = lanes[0];
  uint64_t difference = 0;
  for (int lane = 1; lane < kLanes; ++lane) difference |= lanes[lane] ^ value;
  return difference == 0;
}

// Tells the hazard check what the operation reads; false after a fault.
bool check_operands(Warp& warp, const Op& op, uint64_t number, const WgmmaPlan& plan,
                    const IssuedWgmma& issued) {
  Block& block = *warp.block;
  const auto reads = [&](uint64_t bits, TileElement element, Major major, int outer, int depth) {
    const int per_chunk = chunk_elements(element);
    const SharedOperand operand{
        .rows = descriptor_rows(decode_descriptor(bits), major, block.shared.data()),
        .groups = (major == Major::Depth ? outer : depth) / 8,
        .chunks = (major == Major::Depth ? depth : outer) / per_chunk};
    // What reaches outside is a fault when the operation is carried out.
    if (reach(operand.rows, operand.groups, operand.chunks) > block.shared.size()) return true;
    return hazards_of(warp)->warpgroup_reads(warp, op, number, operand);
  };
  const MatrixShape& shape = plan.shape;
  const int a_depth = plan.metadata != kNoSlot ? shape.depth / 2 : shape.depth;
  if (!plan.a_in_registers &&
      !reads(issued.a_descriptor, shape.a, shape.a_major, shape.rows, a_depth))
    return false;
  return reads(issued.b_descriptor, shape.b, shape.b_major, shape.columns, shape.depth);
}

Outcome run_mma_async(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  if (warp.block->warps.size() < (warp.index | 3) + 1)
    return warp.fault(op, 0, FaultKind::InvalidInstruction,
                      fmt::format("wgmma needs a whole warpgroup, but the block has {} warps",
                                  warp.block->warps.size()));
  const auto& plan = *static_cast<const WgmmaPlan*>(op.extra);
  IssuedWgmma issued{.plan = &plan, .op = &op, .frame = warp.frame};
  if (!uniform(warp.read<uint64_t>(plan.b_descriptor), issued.b_descriptor) ||
      (!plan.a_in_registers &&
       !uniform(warp.read<uint64_t>(plan.a_descriptor), issued.a_descriptor)))
    return warp.fault(op, 0, FaultKind::InvalidDescriptor,
                      "lanes of a warp give wgmma different descriptors");
  const LaneMask scale_d = warp.predicate_value(plan.scale_d) ^ plan.scale_d_flip;
  if (scale_d != 0 && scale_d != kAllLanes)
    return warp.fault(
        op, 0, FaultKind::InvalidInstruction,
        fmt::format("lanes of a warp give wgmma different values of scale-d: {:#010x}", scale_d));
  issued.accumulate = scale_d != 0;
  Warpgroup& group = warpgroup_of(warp);
  Warpgroup::Member& member = group.members[warp.index % 4];
  if (hazards_of(warp) != nullptr &&
      !check_operands(warp, op, group.issued(warp.index % 4), plan, issued))
    return Outcome::Fault;
  member.unwaited.operations.push_back({group.issued(warp.index % 4), &plan, &op, warp.frame});
  member.pending.push_back(issued);
  return Outcome::Next;
}

// Goes on once `count` operations of the warpgroup are done.
Outcome finish(Warp& warp, Warpgroup& group, uint64_t count) {
  if (group.executed >= count) return Outcome::Next;
  for (int member = 0; member < 4; ++member)
    if (group.issued(member) < count)
      return warp.retry(Split::Wait::Warpgroup, warp.index / 4, count);
  return execute_wgmma(*warp.block, warp.index / 4, count) ? Outcome::Next : Outcome::Fault;
}

// Waits for everything issued (accumulator_hazard.h).
Outcome run_settle(Warp& warp, const Op&, LaneMask) {
  Warpgroup& group = warpgroup_of(warp);
  const uint64_t count = group.issued(warp.index % 4);
  const Outcome outcome = finish(warp, group, count);
  if (HazardCheck* hazards = hazards_of(warp); hazards != nullptr && outcome == Outcome::Next)
    hazards->warpgroup_done(warp, count);
  return outcome;
}

// A schedule may have the tensor cores carry out at once what all members have issued.
Outcome carry_out_early(Warp& warp, Warpgroup& group) {
  if (!warp.block->cluster->schedule.is_early()) return Outcome::Next;
  uint64_t count = group.issued(0);
  for (int member = 1; member < 4; ++member) count = std::min(count, group.issued(member));
  if (count <= group.executed) return Outcome::Next;
  return execute_wgmma(*warp.block, warp.index / 4, count) ? Outcome::Next : Outcome::Fault;
}

Outcome run_commit_group(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  Warpgroup& group = warpgroup_of(warp);
  const int member = warp.index % 4;
  group.members[member].group_ends.push_back(group.issued(member));
  return carry_out_early(warp, group);
}

// immediate: groups that may stay in flight.
Outcome run_wait_group(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  Warpgroup& group = warpgroup_of(warp);
  Warpgroup::Member& member = group.members[warp.index % 4];
  auto& ends = member.group_ends;
  const auto allowed = static_cast<size_t>(op.immediate);
  if (ends.size() <= allowed) return Outcome::Next;
  const size_t complete = ends.size() - allowed;
  const Outcome outcome = finish(warp, group, ends[complete - 1]);
  if (outcome == Outcome::Next) {
    member.unwaited.forget(ends[complete - 1]);
    if (HazardCheck* hazards = hazards_of(warp)) hazards->warpgroup_done(warp, ends[complete - 1]);
    if (!group.parked.empty()) unpark_for(*warp.block, warp.index / 4, warp.index % 4);
    ends.erase(ends.begin(), ends.begin() + static_cast<ptrdiff_t>(complete));
  }
  return outcome;
}

// Orders accesses that are in order here anyway.
Outcome run_fence(Warp& warp, const Op& op, LaneMask exec) {
  return not_together(warp, op, exec).value_or(Outcome::Next);
}

Result<Done> lower_shape(Lowering& l, const ptx::Instruction& i, WgmmaPlan& plan) {
  const auto shape = mma_shape(i);
  if (!shape || i.types.size() < 3) return l.error("wgmma without a shape or types");
  const auto a = tile_element(i.types[1]), b = tile_element(i.types[2]);
  if (!a || !b) return l.error("wgmma of operand types that it does not have");
  plan.shape = {*a, *b, static_cast<uint16_t>(shape->m), static_cast<uint16_t>(shape->n),
                static_cast<uint16_t>(shape->k)};
  plan.sum = i.types[0] == Type::F32   ? WgmmaPlan::Sum::F32
             : i.types[0] == Type::F16 ? WgmmaPlan::Sum::F16
                                       : WgmmaPlan::Sum::S32;
  plan.saturate = i.has("satfinite");
  return Done{};
}

Result<Done> lower_operands(Lowering& l, const ptx::Instruction& i, WgmmaPlan& plan) {
  const auto accumulators = l.elements(i.operands[0]);
  const size_t expected =
      static_cast<size_t>(plan.shape.columns) / (plan.sum == WgmmaPlan::Sum::F16 ? 4 : 2);
  if (accumulators.size() != expected)
    return l.error(
        fmt::format("{} accumulator registers, the shape has {}", accumulators.size(), expected));
  for (const ptx::Operand* operand : accumulators)
    plan.accumulators.push_back(TRY(l.destination(*operand, Type::B32)));
  plan.a_in_registers = std::holds_alternative<ptx::VectorOperand>(i.operands[1].value);
  if (plan.a_in_registers) {
    const auto registers = l.elements(i.operands[1]);
    if (registers.size() != 4)
      return l.error(fmt::format("{} registers of A, wgmma takes 4", registers.size()));
    for (int r = 0; r < 4; ++r) plan.a_registers[r] = TRY(l.source(*registers[r], Type::B32));
  } else {
    plan.a_descriptor = TRY(l.source(i.operands[1], Type::B64));
  }
  plan.b_descriptor = TRY(l.source(i.operands[2], Type::B64));
  return Done{};
}

// scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b, from operand `first` on. With A in
// registers there is no imm-trans-a.
Result<Done> lower_scales(Lowering& l, const ptx::Instruction& i, size_t first, WgmmaPlan& plan) {
  const auto scale = TRY(l.predicate_source(i.operands[first]));
  plan.scale_d = scale.slot;
  plan.scale_d_flip = scale.flip;
  std::vector<int64_t> constants;
  for (size_t operand = first + 1; operand < i.operands.size(); ++operand) {
    const auto value = l.constant(i.operands[operand]);
    if (!value) return l.error("imm-scale and imm-trans of wgmma must be constants");
    constants.push_back(*value);
  }
  for (size_t k = 0; k < std::min<size_t>(2, constants.size()); ++k) {
    if (constants[k] != 1 && constants[k] != -1)
      return l.error(fmt::format("imm-scale of wgmma is {}", constants[k]),
                     "only 1 and -1 are allowed");
    if (constants[k] == -1) plan.negate = !plan.negate;
  }
  size_t next = 2;
  if (!plan.a_in_registers && constants.size() > next && constants[next++] != 0)
    plan.shape.a_major = Major::Outer;
  if (constants.size() > next && constants[next] != 0) plan.shape.b_major = Major::Outer;
  return Done{};
}

Result<Done> lower_mma_async(Lowering& l, const ptx::Instruction& i) {
  auto plan = std::make_unique<WgmmaPlan>();
  plan->code = &l.code();
  plan->serialized = !l.touches_in_flight().empty();
  TRY(lower_shape(l, i, *plan));
  TRY(lower_operands(l, i, *plan));
  const bool sparse = i.has("sp");
  if (sparse) {
    const int dense_bytes = plan->shape.depth * element_bits(plan->shape.a) / 8;
    plan->metadata = TRY(l.source(i.operands[3], Type::B32));
    plan->first_lane = TRY(first_metadata_lane(l, i.operands[4], plan->shape.a, dense_bytes));
  }
  TRY(lower_scales(l, i, sparse ? 5 : 3, *plan));
  const WgmmaPlan* kept = l.keep(std::move(plan));
  l.emit(run_mma_async).extra = kept;
  if (kept->serialized) l.emit(run_settle);
  return Done{};
}

Result<Done> lower_wgmma(Lowering& l, const ptx::Instruction& i) {
  if (i.has("mma_async")) return lower_mma_async(l, i);
  if (i.has("fence")) {
    l.emit(run_fence);
  } else if (i.has("commit_group")) {
    l.emit(run_commit_group);
  } else {
    const auto count = l.constant(i.operands[0]);
    if (!count || *count < 0) return l.error("wgmma.wait_group needs a constant");
    l.emit(run_wait_group).immediate = *count;
  }
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"wgmma", lower_wgmma},
};

}  // namespace

std::span<const Meaning> warpgroup_matrix_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
