// SPDX-License-Identifier: Apache-2.0

// Lowering and issue of tcgen05.mma: each active lane issues a product of its own. Descriptors are
// checked here, while the instruction is at hand; tensor_product.cc multiplies.

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/tensor_core.h"
#include "ptxbench/emulator/ops/tensor_operand.h"
#include "ptxbench/emulator/ops/tensor_product.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

struct TensorMmaPlan final : CountedExtra {
  MmaForm form;
  bool a_in_memory = false;
  Address d, a;  // a: in tensor memory
  Address a_scales, b_scales, metadata;
  Slot zero_columns = kNoSlot;
  Slot a_descriptor = kNoSlot, b_descriptor = kNoSlot, instruction = kNoSlot;
  std::vector<Slot> disabled;  // four or eight words of lanes
  Lowering::PredicateSource enable;
  int scale = 0;
};

bool refuse(Warp& warp, const Op& op, int lane, FaultKind kind, std::string message) {
  warp.fault(op, lane, kind, std::move(message));
  return false;
}

// Fills in the shared-memory descriptors and A's place.
bool find_operands(Warp& warp, const Op& op, int lane, const TensorMmaPlan& plan,
                   TensorProduct& product) {
  product.b_descriptor = warp.read<uint64_t>(plan.b_descriptor)[lane];
  const InstructionDescriptor& shape = product.shape;
  if (std::string why = operand_problem(product.b_descriptor, shape.b, shape.b_major); !why.empty())
    return refuse(warp, op, lane, FaultKind::InvalidDescriptor, "descriptor of B: " + why);
  product.a_in_memory = plan.a_in_memory;
  if (!plan.a_in_memory) {
    product.a_descriptor = warp.read<uint64_t>(plan.a_descriptor)[lane];
    if (std::string why = operand_problem(product.a_descriptor, shape.a, shape.a_major);
        !why.empty())
      return refuse(warp, op, lane, FaultKind::InvalidDescriptor, "descriptor of A: " + why);
    return true;
  }
  product.a_place = tensor_address(
      static_cast<uint32_t>(lane_address(warp, plan.a.slot, plan.a.wide, plan.a.offset, lane)));
  if (product.shape.a_major != Major::Depth)
    return refuse(warp, op, lane, FaultKind::InvalidDescriptor,
                  "bit 15 transposes A, which tensor memory holds row by row");
  if (plan.form.weight_stationary && product.shape.rows < 128)
    return refuse(warp, op, lane, FaultKind::Unsupported,
                  "A in tensor memory for .ws of 32 or 64 rows is not executed yet");
  return true;
}

// Lane 16 is possible for the products that use half of each quarter.
bool begins_well(const TensorProduct& product, TensorAddress at) {
  return at.lane == 0 || (product.spread() && at.lane == 16);
}

// The two highest bits of an address of scales belong to whoever made it: programs keep the byte
// there that the instruction descriptor names.
TensorAddress scale_address(Warp& warp, const Address& address, int lane) {
  constexpr uint64_t kAddressBits = 0x3fff'ffff;
  return tensor_address(static_cast<uint32_t>(
      lane_address(warp, address.slot, address.wide, address.offset, lane) & kAddressBits));
}

// Tells the hazard check what the product reads of shared memory; false after a fault.
bool check_operands(Warp& warp, const Op& op, int lane, const TensorProduct& product) {
  HazardCheck* hazards = hazards_of(warp);
  if (hazards == nullptr) return true;
  hazards->begin_tensor(warp);
  const int blocks = product.peer == nullptr ? 1 : 2;
  for (Block* block : {product.block, product.peer}) {
    if (block == nullptr) continue;
    const Operand a{&product, block, true, product.shape.rows / blocks};
    const Operand b{&product, block, false, product.shape.columns / blocks};
    if (const auto read = product.a_in_memory ? std::nullopt : checked_operand(a))
      if (!hazards->tensor_reads(warp, op, lane, *block, *read)) return false;
    if (const auto read = checked_operand(b))
      if (!hazards->tensor_reads(warp, op, lane, *block, *read)) return false;
  }
  return true;
}

bool issue(Warp& warp, const Op& op, int lane) {
  const auto& plan = *static_cast<const TensorMmaPlan*>(op.extra);
  auto product = std::make_unique<TensorProduct>();
  product->place = issue_place(warp, op, lane);
  product->block = warp.block;
  if (plan.form.pair && (product->peer = pair_of(*warp.block)) == nullptr)
    return refuse(warp, op, lane, FaultKind::InvalidInstruction,
                  "cta_group::2 needs an even number of blocks in the cluster");
  const uint32_t bits = warp.read<uint32_t>(plan.instruction)[lane];
  if (std::string why = decode_instruction_descriptor(bits, plan.form, product->shape);
      !why.empty())
    return refuse(warp, op, lane, FaultKind::InvalidDescriptor,
                  fmt::format("instruction descriptor {:#010x}: {}", bits, why));
  product->weight_stationary = plan.form.weight_stationary;
  if (plan.zero_columns != kNoSlot)
    product->zero_columns = warp.read<uint64_t>(plan.zero_columns)[lane];
  if (plan.form.sparse) {
    product->metadata = tensor_address(static_cast<uint32_t>(
        lane_address(warp, plan.metadata.slot, plan.metadata.wide, plan.metadata.offset, lane)));
    if (product->shape.rows != (plan.form.pair ? 256 : 128))
      return refuse(warp, op, lane, FaultKind::Unsupported,
                    "a sparse A of 64 rows in a block is not executed yet");
    if (product->metadata.lane != 0)
      return refuse(warp, op, lane, FaultKind::TensorMemory,
                    fmt::format("metadata begins at lane 0 of tensor memory, not at {}",
                                product->metadata.lane));
  }
  if (plan.form.scales != 0) {
    product->scales = plan.form.scales;
    product->a_scales = scale_address(warp, plan.a_scales, lane);
    product->b_scales = scale_address(warp, plan.b_scales, lane);
    if (product->a_scales.lane != 0 || product->b_scales.lane != 0)
      return refuse(warp, op, lane, FaultKind::TensorMemory,
                    fmt::format("scales begin at lane 0 of tensor memory, not at {} and {}",
                                product->a_scales.lane, product->b_scales.lane));
  }
  product->d = tensor_address(
      static_cast<uint32_t>(lane_address(warp, plan.d.slot, plan.d.wide, plan.d.offset, lane)));
  if (!find_operands(warp, op, lane, plan, *product)) return false;
  if (!begins_well(*product, product->d) ||
      (plan.a_in_memory && !begins_well(*product, product->a_place)))
    return refuse(warp, op, lane, FaultKind::TensorMemory,
                  fmt::format("a product of {} rows begins at lane 0 of tensor memory, not at {}",
                              product->shape.rows,
                              plan.a_in_memory ? product->a_place.lane : product->d.lane));
  product->accumulate =
      ((warp.predicate_value(plan.enable.slot) ^ plan.enable.flip) >> lane & 1) != 0;
  product->scale = plan.scale;
  for (size_t k = 0; k < plan.disabled.size(); ++k)
    product->disabled[k] = warp.read<uint32_t>(plan.disabled[k])[lane];
  Block* const blocks[] = {product->block, product->peer};
  for (size_t k = 0; k < 2 && blocks[k] != nullptr; ++k) {
    TensorMemory& memory = tensor_memory_of(*blocks[k]);
    product->numbers[k] = memory.operations++;
    const auto use = [&](const TensorRange& range, bool written) {
      memory.in_flight.push_back({product->numbers[k], range, written, product->place.instruction});
      std::string why = memory.problem(range.column, range.columns);
      return why.empty() || refuse(warp, op, lane, FaultKind::TensorMemory, std::move(why));
    };
    if (!use(product->written(), true)) return false;
    for (const TensorRange& range : product->read())
      if (!use(range, false)) return false;
  }
  if (!check_operands(warp, op, lane, *product)) return false;
  Cluster& cluster = *warp.block->cluster;
  TensorMemory& memory = tensor_memory_of(*warp.block);
  memory.products.push_back(product.get());
  const uint64_t due = tensor_core_due(
      cluster, memory, product->peer == nullptr ? nullptr : &tensor_memory_of(*product->peer));
  plan.operations.fetch_add(product->operations(), std::memory_order_relaxed);
  cluster.async.submit(std::move(product), due);
  return true;
}

Outcome run_mma(Warp& warp, const Op& op, LaneMask exec) {
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1)
    if (!issue(warp, op, first_lane(rest))) return Outcome::Fault;
  return Outcome::Next;
}

Result<MmaForm> form_of(Lowering& l, const ptx::Instruction& i) {
  constexpr std::pair<const char*, TensorKind> kKinds[] = {
      {"kind::f16", TensorKind::F16},           {"kind::tf32", TensorKind::Tf32},
      {"kind::f8f6f4", TensorKind::F8f6f4},     {"kind::i8", TensorKind::I8},
      {"kind::mxf8f6f4", TensorKind::Mxf8f6f4}, {"kind::mxf4", TensorKind::Mxf4},
      {"kind::mxf4nvf4", TensorKind::Mxf4nvf4}};
  MmaForm form{
      .pair = i.has("cta_group::2"), .weight_stationary = i.has("ws"), .sparse = i.has("sp")};
  for (const auto& [name, kind] : kKinds)
    if (i.has(name)) form.kind = kind;
  if (!i.has("block_scale")) return form;
  // Table 54: valid combinations of the scale vector's size and the kind.
  const bool mxf8f6f4 = form.kind == TensorKind::Mxf8f6f4;
  const bool one = i.has("scale_vec::1X"), two = i.has("scale_vec::2X"),
             four = i.has("scale_vec::4X") || i.has("block16");
  const bool given = one || two || four || i.has("block32");
  form.scales = four ? 4 : mxf8f6f4 ? 1 : 2;
  const bool fits = form.kind == TensorKind::Mxf4nvf4 ? given && !one
                    : mxf8f6f4                        ? !two && !four
                                                      : !one && !four;
  if (!fits)
    return l.error("block scales that the kind does not have",
                   "mxf8f6f4 has scale_vec::1X, mxf4 scale_vec::2X, mxf4nvf4 says 2X or 4X");
  return form;
}

}  // namespace

Result<Done> lower_tensor_mma(Lowering& l, const ptx::Instruction& i) {
  auto plan = std::make_unique<TensorMmaPlan>();
  plan->form = TRY(form_of(l, i));
  if (i.has("ashift")) return l.unsupported("tcgen05.mma with .ashift");
  plan->d = TRY(l.address(i.operands[0], i.space));
  plan->a_in_memory = std::holds_alternative<ptx::AddressOperand>(i.operands[1].value);
  if (plan->a_in_memory)
    plan->a = TRY(l.address(i.operands[1], i.space));
  else
    plan->a_descriptor = TRY(l.source(i.operands[1], Type::B64));
  plan->b_descriptor = TRY(l.source(i.operands[2], Type::B64));
  size_t next = 3;
  if (plan->form.sparse) plan->metadata = TRY(l.address(i.operands[next++], i.space));
  plan->instruction = TRY(l.source(i.operands[next++], Type::B32));
  if (plan->form.scales != 0) {
    plan->a_scales = TRY(l.address(i.operands[next++], i.space));
    plan->b_scales = TRY(l.address(i.operands[next++], i.space));
  }
  if (std::holds_alternative<ptx::VectorOperand>(i.operands[next].value)) {
    const auto words = l.elements(i.operands[next++]);
    if (words.size() != (plan->form.pair ? 8u : 4u))
      return l.error(fmt::format("{} words of lanes to leave alone, {} has {}", words.size(),
                                 plan->form.pair ? "cta_group::2" : "cta_group::1",
                                 plan->form.pair ? 8 : 4));
    for (const ptx::Operand* word : words)
      plan->disabled.push_back(TRY(l.source(*word, Type::B32)));
  }
  if (next >= i.operands.size()) return l.error("tcgen05.mma without its enable-input-d");
  plan->enable = TRY(l.predicate_source(i.operands[next++]));
  if (plan->form.weight_stationary && next < i.operands.size())
    plan->zero_columns = TRY(l.source(i.operands[next++], Type::B64));
  if (next < i.operands.size()) {
    const auto scale = l.constant(i.operands[next]);
    const bool scalable = plan->form.kind == TensorKind::F16 || plan->form.kind == TensorKind::Tf32;
    if (!scale || *scale < 0 || *scale > 15 || !scalable)
      return l.wrong_operand(i.operands[next], "scale-input-d is a constant from 0 to 15",
                             "only kind::f16 and kind::tf32 take it");
    plan->scale = static_cast<int>(*scale);
  }
  const TensorMmaPlan* kept = l.keep(std::move(plan));
  l.emit(run_mma).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
