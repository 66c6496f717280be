// SPDX-License-Identifier: Apache-2.0

// cvt.rs (PTX ISA 9.0, 9.7.9.22): random bits that the program supplies are added to the mantissa's
// bits that fall away, and the carry decides. f16 takes 13 bits, bf16 and the 8 and 6-bit formats
// 16, e2m1 eight. The manual says which bits of the operand belong to which value, but of e2m1x4
// only which four bytes belong to which two: the first value of each pair takes the upper one here.
// Where more bits fall away than there are random ones, those meet the highest.

#include <memory>

#include "ptxbench/emulator/ops/conversion_forms.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::NarrowFormat;

struct StochasticPlan final : Extra {
  NarrowFormat format{};
  int random_bits = 0;
  int field = 0;  // bits of the destination for each value
  bool relu = false, finite = false;
  int count = 0;
  Slot values[4] = {};  // the first goes to the highest field
  int random_shift[4] = {};
  Slot random = kNoSlot, destination = kNoSlot;
  int destination_bits = 32;
};

Outcome convert_stochastically(Warp& warp, const Op& op, LaneMask exec) {
  const auto& plan = *static_cast<const StochasticPlan*>(static_cast<const Extra*>(op.extra));
  const auto overflow = plan.finite ? numeric::Overflow::Finite : numeric::Overflow::Infinity;
  const uint32_t sign = 1u << (plan.format.exponent_bits + plan.format.mantissa_bits);
  uint32_t packed[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t random = warp.read<uint32_t>(plan.random)[lane];
    packed[lane] = 0;
    for (int k = 0; k < plan.count; ++k) {
      const uint32_t bits = random >> plan.random_shift[k] & ((1u << plan.random_bits) - 1);
      uint32_t code =
          numeric::encode_stochastic(plan.format, double{warp.read<float>(plan.values[k])[lane]},
                                     bits, plan.random_bits, overflow);
      if (plan.relu && (code & sign) != 0) code = 0;
      packed[lane] = packed[lane] << plan.field | code;
    }
  }
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if (plan.destination_bits == 16)
      warp.write<uint16_t>(plan.destination)[lane] = static_cast<uint16_t>(packed[lane]);
    else
      warp.write<uint32_t>(plan.destination)[lane] = packed[lane];
  }
  return Outcome::Next;
}

}  // namespace

Result<Done> convert_stochastic(Lowering& l, const ptx::Instruction& i) {
  auto plan = std::make_unique<StochasticPlan>();
  const Type target = i.types[0];
  switch (target) {
    case Type::F16x2:
      plan->format = numeric::kF16Format;
      break;
    case Type::Bf16x2:
      plan->format = numeric::kBf16Format;
      break;
    case Type::E4m3x4:
      plan->format = numeric::kE4m3Format;
      break;
    case Type::E5m2x4:
      plan->format = numeric::kE5m2Format;
      break;
    case Type::E2m3x4:
      plan->format = numeric::kE2m3Format;
      break;
    case Type::E3m2x4:
      plan->format = numeric::kE3m2Format;
      break;
    case Type::E2m1x4:
      plan->format = numeric::kE2m1Format;
      break;
    default:
      return l.unsupported(i.spelling());
  }
  const bool four_bits = target == Type::E2m1x4;
  const bool pair = target == Type::F16x2 || target == Type::Bf16x2;
  plan->random_bits = target == Type::F16x2 ? 13 : four_bits ? 8 : 16;
  plan->field = pair ? 16 : four_bits ? 4 : 8;
  plan->destination_bits = four_bits ? 16 : 32;
  plan->relu = i.has("relu");
  plan->finite = i.has("satfinite");
  std::vector<const ptx::Operand*> values;
  if (pair)
    values = {&i.operands[1], &i.operands[2]};
  else
    values = l.elements(i.operands[1]);
  plan->count = pair ? 2 : 4;
  if (values.size() != static_cast<size_t>(plan->count))
    return l.error("cvt.rs to four narrow values takes four in braces");
  constexpr int kPairShift[] = {16, 0}, kFourShift[] = {16, 16, 0, 0},
                kFourBitShift[] = {24, 8, 16, 0};
  for (int k = 0; k < plan->count; ++k) {
    plan->values[k] = TRY(l.source(*values[static_cast<size_t>(k)], Type::F32));
    plan->random_shift[k] = pair ? kPairShift[k] : four_bits ? kFourBitShift[k] : kFourShift[k];
  }
  plan->random = TRY(l.source(i.operands.back(), Type::B32));
  plan->destination = TRY(l.destination(i.operands[0], four_bits ? Type::B16 : Type::B32));
  const StochasticPlan* kept = l.keep(std::move(plan));
  l.emit(convert_stochastically).extra = static_cast<const Extra*>(kept);
  return Done{};
}

}  // namespace weft::emulator
