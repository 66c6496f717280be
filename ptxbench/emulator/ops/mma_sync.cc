// SPDX-License-Identifier: Apache-2.0

// mma.sync and mma.sp (PTX ISA 9.0, sections 9.7.14.5 and 9.7.14.6) for every type but f64.
// Registers of A and B are core matrices as they stand, so the warp's operands are copied together
// and multiplied as one small tile.

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/matrix_lowering.h"
#include "ptxbench/emulator/ops/matrix_shape.h"
#include "ptxbench/emulator/ops/mma_plan.h"
#include "ptxbench/emulator/tile/half_pairs.h"
#include "ptxbench/emulator/tile/sparse_rows.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

constexpr int kRegisterBytes = 128;  // of a warp, 32 bits wide

std::optional<MmaSum> sum_type(Type type) {
  switch (type) {
    case Type::F32:
      return MmaSum::F32;
    case Type::F16:
      return MmaSum::F16;
    case Type::S32:
      return MmaSum::S32;
    default:
      return std::nullopt;
  }
}

int32_t add_saturating(int32_t a, int32_t b) {
  return static_cast<int32_t>(std::clamp<int64_t>(
      int64_t{a} + b, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

void multiply_floats(Warp& warp, const MmaPlan& plan, const MatrixStep& step) {
  alignas(64) float sums[4][32];
  float* parts[4] = {sums[0], sums[1], sums[2], sums[3]};
  if (plan.c_sum == MmaSum::F16)
    for (int r = 0; r < plan.c_count; ++r)
      widen_pairs(warp.read<uint32_t>(plan.c[r]), parts[2 * r], parts[2 * r + 1]);
  else
    for (int r = 0; r < plan.c_count; ++r)
      std::memcpy(parts[r], warp.read<std::byte>(plan.c[r]), kRegisterBytes);
  accumulate(tile_engine(), plan.shape, {&step, 1}, parts);
  if (plan.d_sum == MmaSum::F16)
    for (int r = 0; r < plan.d_count; ++r)
      narrow_pairs(parts[2 * r], parts[2 * r + 1], warp.write<uint32_t>(plan.d[r]));
  else
    for (int r = 0; r < plan.d_count; ++r)
      std::memcpy(warp.write<std::byte>(plan.d[r]), parts[r], kRegisterBytes);
}

// The products of one instruction fit 32 bits; only their sum with c may not.
void multiply_integers(Warp& warp, const MmaPlan& plan, const MatrixStep& step) {
  alignas(64) int32_t sums[4][32];
  const int count = std::min<int>(plan.d_count, 4);
  int32_t* parts[4] = {sums[0], sums[1], sums[2], sums[3]};
  std::memset(sums, 0, sizeof sums);
  if (plan.shape.a == TileElement::B1)
    accumulate_bits(plan.shape, {&step, 1}, plan.bits, parts);
  else
    accumulate(tile_engine(), plan.shape, {&step, 1}, parts);
  for (int r = 0; r < count; ++r) {
    const auto* c = warp.read<int32_t>(plan.c[r]);
    for (int lane = 0; lane < 32; ++lane)
      sums[r][lane] = plan.saturate ? add_saturating(c[lane], sums[r][lane])
                                    : static_cast<int32_t>(static_cast<uint32_t>(c[lane]) +
                                                           static_cast<uint32_t>(sums[r][lane]));
  }
  for (int r = 0; r < count; ++r)
    std::memcpy(warp.write<std::byte>(plan.d[r]), sums[r], kRegisterBytes);
}

// Gives the rows of a sparse A their zeros back: registers of 16-byte rows as stored, with those of
// the upper and the lower eight rows in turn, become twice as many.
void spread_registers(const Warp& warp, const MmaPlan& plan,
                      const std::byte (*stored)[kRegisterBytes],
                      std::byte (*dense)[kRegisterBytes]) {
  const SparseMetadata metadata{warp.read<uint32_t>(plan.metadata), plan.first_lane,
                                sparse_unit_bytes(plan.shape.a)};
  const int chunks = plan.a_count / 2;  // of 16 bytes, as stored
  for (int row = 0; row < 16; ++row) {
    std::byte narrow[32], wide[64];
    for (int c = 0; c < chunks; ++c)
      std::memcpy(narrow + 16 * c, stored[2 * c + row / 8] + row % 8 * 16, 16);
    spread_row(metadata, row, narrow, 16 * chunks, wide);
    for (int c = 0; c < 2 * chunks; ++c)
      std::memcpy(dense[2 * c + row / 8] + row % 8 * 16, wide + 16 * c, 16);
  }
}

Outcome run_mma(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const MmaPlan*>(op.extra);
  alignas(64) std::byte a[4][kRegisterBytes], b[4][kRegisterBytes], spread[8][kRegisterBytes];
  // At most four registers each; GCC warns of more unless it sees the bound.
  for (int r = 0; r < 4 && r < plan.a_count; ++r)
    std::memcpy(a[r], warp.read<std::byte>(plan.a[r]), kRegisterBytes);
  for (int r = 0; r < 4 && r < plan.b_count; ++r)
    std::memcpy(b[r], warp.read<std::byte>(plan.b[r]), kRegisterBytes);
  const bool sparse = plan.metadata != kNoSlot;
  if (sparse) spread_registers(warp, plan, a, spread);
  // Registers run down the rows of A first, then along its depth.
  const MatrixStep step{
      .a = {.base = sparse ? spread[0] : a[0],
            .group_stride = kRegisterBytes,
            .chunk_stride = static_cast<uint32_t>(kRegisterBytes * plan.shape.rows / 8)},
      .b = {.base = b[0], .chunk_stride = kRegisterBytes}};
  if (plan.d_sum == MmaSum::S32)
    multiply_integers(warp, plan, step);
  else
    multiply_floats(warp, plan, step);
  return Outcome::Next;
}

template <typename Find>
Result<Done> registers(Lowering& l, const ptx::Operand& operand, int count,
                       std::array<Slot, 8>& slots, Find find) {
  const auto elements = l.elements(operand);
  if (elements.size() != static_cast<size_t>(count))
    return l.error(fmt::format("{} registers where the shape has {}", elements.size(), count));
  for (int r = 0; r < count; ++r) slots[r] = TRY(find(*elements[r]));
  return Done{};
}

}  // namespace

Result<Done> register_sources(Lowering& l, const ptx::Operand& operand, Type type, int count,
                              std::array<Slot, 8>& slots) {
  return registers(l, operand, count, slots,
                   [&](const ptx::Operand& element) { return l.source(element, type); });
}

Result<Done> register_destinations(Lowering& l, const ptx::Operand& operand, Type type, int count,
                                   std::array<Slot, 8>& slots) {
  return registers(l, operand, count, slots,
                   [&](const ptx::Operand& element) { return l.destination(element, type); });
}

Result<uint8_t> first_metadata_lane(Lowering& l, const ptx::Operand& selector, TileElement element,
                                    int dense_bytes) {
  const auto value = l.constant(selector);
  const int lanes = sparse_lanes(sparse_unit_bytes(element), dense_bytes);
  if (!value || *value < 0 || *value >= 4 / lanes)
    return l.error("the sparsity selector of this shape is a constant from 0 on, at most " +
                   std::to_string(4 / lanes - 1));
  return static_cast<uint8_t>(*value * lanes);
}

namespace {

Result<Done> lower_operands(Lowering& l, const ptx::Instruction& i, MmaPlan& plan) {
  const auto shape = mma_shape(i);
  if (!shape || i.types.size() < 4) return l.error("mma without a shape or types");
  const auto a = tile_element(i.types[1]), b = tile_element(i.types[2]);
  const auto d_sum = sum_type(i.types[0]), c_sum = sum_type(i.types[3]);
  if (!a || !b || !d_sum || !c_sum) return l.error("mma of types that it does not have");
  plan.shape = {*a, *b, static_cast<uint16_t>(shape->m), static_cast<uint16_t>(shape->n),
                static_cast<uint16_t>(shape->k)};
  plan.d_sum = *d_sum;
  plan.c_sum = *c_sum;
  plan.saturate = i.has("satfinite");
  plan.bits = i.has("xor") ? BitOperation::Xor : BitOperation::And;
  const int bits = element_bits(*a), values = shape->m * shape->n / 32;
  const bool sparse = i.has("sp") || i.has("sp::ordered_metadata");
  plan.a_count = static_cast<uint8_t>(shape->m * shape->k * bits / (sparse ? 2048 : 1024));
  plan.b_count = static_cast<uint8_t>(shape->n * shape->k * bits / 1024);
  plan.c_count = static_cast<uint8_t>(*c_sum == MmaSum::F16 ? values / 2 : values);
  plan.d_count = static_cast<uint8_t>(*d_sum == MmaSum::F16 ? values / 2 : values);
  TRY(register_destinations(l, i.operands[0], Type::B32, plan.d_count, plan.d));
  TRY(register_sources(l, i.operands[1], Type::B32, plan.a_count, plan.a));
  TRY(register_sources(l, i.operands[2], Type::B32, plan.b_count, plan.b));
  // A literal zero accumulator is typed as what is added up.
  const Type c_type = *c_sum == MmaSum::F32 ? Type::F32 : Type::B32;
  if (sparse) {
    plan.metadata = TRY(l.source(i.operands[4], Type::B32));
    plan.first_lane = TRY(first_metadata_lane(l, i.operands[5], *a, shape->k * bits / 8));
  }
  return register_sources(l, i.operands[3], c_type, plan.c_count, plan.c);
}

}  // namespace

Result<Done> lower_mma(Lowering& l, const ptx::Instruction& i) {
  for (std::string_view modifier : i.modifiers)
    if (modifier.starts_with("kind::"))
      return l.unsupported(fmt::format("mma.{} (sm_120a)", modifier));
  if (!i.types.empty() && i.types[0] == Type::F64) return lower_mma_double(l, i);
  if (i.has("m8n8k4")) return lower_mma_quad_pairs(l, i);
  auto plan = std::make_unique<MmaPlan>();
  TRY(lower_operands(l, i, *plan));
  l.emit(run_mma).extra = l.keep(std::move(plan));
  return Done{};
}

}  // namespace weft::emulator
