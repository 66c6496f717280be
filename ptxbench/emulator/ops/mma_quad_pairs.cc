// SPDX-License-Identifier: Apache-2.0

// mma.sync.m8n8k4 on f16: the shape of the first tensor cores. Quarters of the warp (lanes 4p to
// 4p+3 and 16 lanes above them) each do a product of their own. Layouts are those of PTX ISA 9.0,
// section 9.7.14.5.1; `half` is 0 for the lower lanes of a quarter and 1 for the upper ones.

#include <cstring>
#include <memory>

#include "base/floats.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"
#include "ptxbench/emulator/ops/mma_plan.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

struct QuadPairPlan final : Extra {
  bool a_by_row = true, b_by_row = false;
  bool c_is_half = false, d_is_half = false;
  std::array<Slot, 8> a{}, b{}, c{}, d{};
};

struct Place {
  int row, column;
};

Place operand_place(bool along_lane, int lane, int i) {
  const int half = lane >= 16 ? 4 : 0;
  return along_lane ? Place{lane % 4 + half, i} : Place{i + half, lane % 4};
}
Place sum_place(bool is_half, int lane, int i) {
  const int half = lane >= 16 ? 4 : 0;
  if (is_half) return {lane % 4 + half, i};
  return {(lane & 1) + (i & 2) + half, (i & 4) + (lane & 2) + (i & 1)};
}

float half_at(const Warp& warp, const std::array<Slot, 8>& slots, int lane, int i) {
  return f16_to_float(
      static_cast<uint16_t>(warp.read<uint32_t>(slots[i / 2])[lane] >> (i % 2 * 16)));
}

Outcome run_quad_pairs(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const QuadPairPlan*>(op.extra);
  float a[4][8][4], b[4][8][4], sums[4][8][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int quarter = lane % 16 / 4;
    for (int i = 0; i < 4; ++i) {
      // A is (row, k). B by columns has its column where A by rows has its row, and the other way
      // round.
      const auto [row, k] = operand_place(plan.a_by_row, lane, i);
      a[quarter][row][k] = half_at(warp, plan.a, lane, i);
      const auto [column, depth] = operand_place(!plan.b_by_row, lane, i);
      b[quarter][column][depth] = half_at(warp, plan.b, lane, i);
    }
    for (int i = 0; i < 8; ++i) {
      const auto [row, column] = sum_place(plan.c_is_half, lane, i);
      sums[quarter][row][column] =
          plan.c_is_half ? half_at(warp, plan.c, lane, i) : warp.read<float>(plan.c[i])[lane];
    }
  }
  for (int quarter = 0; quarter < 4; ++quarter)
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column)
        for (int k = 0; k < 4; ++k)
          sums[quarter][row][column] += a[quarter][row][k] * b[quarter][column][k];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 8; ++i) {
      const auto [row, column] = sum_place(plan.d_is_half, lane, i);
      const float sum = sums[lane % 16 / 4][row][column];
      if (plan.d_is_half) {
        uint32_t& pair = warp.write<uint32_t>(plan.d[i / 2])[lane];
        const uint32_t bits = float_to_f16(sum);
        pair = i % 2 == 0 ? (pair & 0xffff0000) | bits : (pair & 0xffff) | bits << 16;
      } else {
        warp.write<float>(plan.d[i])[lane] = sum;
      }
    }
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_mma_quad_pairs(Lowering& l, const ptx::Instruction& i) {
  if (i.types.size() < 4) return l.error("mma without types");
  auto plan = std::make_unique<QuadPairPlan>();
  // The layout words stand in the order of A and B.
  bool first = true;
  for (std::string_view modifier : i.modifiers)
    if (modifier == "row" || modifier == "col") {
      (first ? plan->a_by_row : plan->b_by_row) = modifier == "row";
      first = false;
    }
  plan->d_is_half = i.types[0] == Type::F16;
  plan->c_is_half = i.types[3] == Type::F16;
  TRY(register_destinations(l, i.operands[0], Type::B32, plan->d_is_half ? 4 : 8, plan->d));
  TRY(register_sources(l, i.operands[1], Type::B32, 2, plan->a));
  TRY(register_sources(l, i.operands[2], Type::B32, 2, plan->b));
  TRY(register_sources(l, i.operands[3], plan->c_is_half ? Type::B32 : Type::F32,
                       plan->c_is_half ? 4 : 8, plan->c));
  l.emit(run_quad_pairs).extra = l.keep(std::move(plan));
  return Done{};
}

}  // namespace weft::emulator
