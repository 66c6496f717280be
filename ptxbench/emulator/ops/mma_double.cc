// SPDX-License-Identifier: Apache-2.0

// mma.sync on f64: m8n8k4 and m16n8k4/8/16. Each element is a chain of fused multiply-adds in order
// of the depth, beginning with c, every one rounded as the instruction says.

#include <cfenv>
#include <cmath>
#include <cstring>
#include <memory>

#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"
#include "ptxbench/emulator/ops/matrix_shape.h"
#include "ptxbench/emulator/ops/mma_plan.h"
#include "ptxbench/emulator/tile/fragment.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

struct DoublePlan final : Extra {
  int rows = 0, depth = 0;
  int rounding = FE_TONEAREST;
  std::array<Slot, 8> a{}, b{}, c{}, d{};
};

Outcome run_double(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const DoublePlan*>(op.extra);
  double a[16][16], b[8][16], sums[16][8];
  const auto each = [&](const FragmentLayout& layout, auto f) {
    for (int r = 0; r < layout.elements(); ++r)
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto [row, column] = layout.position(lane, r);
        f(r, lane, row, column);
      }
  };
  const auto accumulators = accumulator_fragment(plan.rows, 8);
  each(operand_fragment(plan.rows, plan.depth, 64),
       [&](int r, int lane, int row, int k) { a[row][k] = warp.read<double>(plan.a[r])[lane]; });
  each(operand_fragment(8, plan.depth, 64), [&](int r, int lane, int column, int k) {
    b[column][k] = warp.read<double>(plan.b[r])[lane];
  });
  each(accumulators, [&](int r, int lane, int row, int column) {
    sums[row][column] = warp.read<double>(plan.c[r])[lane];
  });
  if (plan.rounding != FE_TONEAREST) std::fesetround(plan.rounding);
  for (int row = 0; row < plan.rows; ++row)
    for (int column = 0; column < 8; ++column)
      for (int k = 0; k < plan.depth; ++k)
        sums[row][column] = std::fma(a[row][k], b[column][k], sums[row][column]);
  if (plan.rounding != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  each(accumulators, [&](int r, int lane, int row, int column) {
    warp.write<double>(plan.d[r])[lane] = sums[row][column];
  });
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_mma_double(Lowering& l, const ptx::Instruction& i) {
  const auto shape = mma_shape(i);
  if (!shape) return l.error("mma without a shape");
  auto plan = std::make_unique<DoublePlan>();
  plan->rows = shape->m;
  plan->depth = shape->k;
  plan->rounding = i.has("rz")   ? FE_TOWARDZERO
                   : i.has("rm") ? FE_DOWNWARD
                   : i.has("rp") ? FE_UPWARD
                                 : FE_TONEAREST;
  const int c_count = shape->m / 4;
  TRY(register_destinations(l, i.operands[0], Type::F64, c_count, plan->d));
  TRY(register_sources(l, i.operands[1], Type::F64, shape->m * shape->k / 32, plan->a));
  TRY(register_sources(l, i.operands[2], Type::F64, shape->k / 4, plan->b));
  TRY(register_sources(l, i.operands[3], Type::F64, c_count, plan->c));
  l.emit(run_double).extra = l.keep(std::move(plan));
  return Done{};
}

}  // namespace weft::emulator
