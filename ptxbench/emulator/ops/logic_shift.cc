// SPDX-License-Identifier: Apache-2.0

// Logic and shift instructions (PTX ISA 9.7.8), with prmt. The forms on predicates work on whole
// lane masks.

#include "ptxbench/emulator/numeric/bit_logic.h"
#include "ptxbench/emulator/ops/integer_types.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

// Predicate forms. Op::small bit 0 negates a, bit 1 negates b.
LaneMask flipped(uint32_t small, int bit) {
  return small >> bit & 1 ? kAllLanes : 0;
}

template <typename Operation>
Outcome predicate_binary(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask a = warp.predicate_value(op.a) ^ flipped(op.small, 0);
  const LaneMask b = warp.predicate_value(op.b) ^ flipped(op.small, 1);
  merge_predicate(exec, warp.predicate(op.d), Operation{}(a, b));
  return Outcome::Next;
}

Outcome predicate_not(Warp& warp, const Op& op, LaneMask exec) {
  merge_predicate(exec, warp.predicate(op.d), ~(warp.predicate_value(op.a) ^ flipped(op.small, 0)));
  return Outcome::Next;
}

template <typename Operation>
Result<Done> logic(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (type != Type::Pred)
    return emit_uniform(
        l, i, by_width(type, []<typename T>() -> Handler { return binary<Operation, T>; }), type);
  if (i.operands.size() != 3) return no_such_form(l, i);
  const auto a = TRY(l.predicate_source(i.operands[1]));
  const auto b = TRY(l.predicate_source(i.operands[2]));
  const Slot d = TRY(l.predicate_destination(i.operands[0]));
  Op& op = l.emit(predicate_binary<Operation>);
  op.d = d;
  op.a = a.slot;
  op.b = b.slot;
  op.small = (a.flip != 0 ? 1u : 0u) | (b.flip != 0 ? 2u : 0u);
  return Done{};
}

Result<Done> complement(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (type != Type::Pred)
    return emit_uniform(
        l, i, by_width(type, []<typename T>() -> Handler { return unary<numeric::Complement, T>; }),
        type);
  if (i.operands.size() != 2) return no_such_form(l, i);
  const auto a = TRY(l.predicate_source(i.operands[1]));
  const Slot d = TRY(l.predicate_destination(i.operands[0]));
  Op& op = l.emit(predicate_not);
  op.d = d;
  op.a = a.slot;
  op.small = a.flip != 0 ? 1u : 0u;
  return Done{};
}

Result<Done> logical_not(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i, by_width(type, []<typename T>() -> Handler { return unary<numeric::LogicalNot, T>; }),
      type);
}

// The table is an immediate; it travels in Op::small.
struct LookUp {
  explicit LookUp(const Op& op) : table(op.small) {}
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return numeric::look_up(a, b, c, table);
  }
  uint32_t table;
};

// Tables that compilers emit all the time, computed with two operations.
template <uint32_t kTable>
struct FixedLookUp {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return numeric::look_up(a, b, c, kTable);
  }
};

Handler look_up_handler(uint32_t table) {
  switch (table) {
    case 0x80:
      return ternary<FixedLookUp<0x80>, uint32_t>;  // a & b & c
    case 0xfe:
      return ternary<FixedLookUp<0xfe>, uint32_t>;  // a | b | c
    case 0x96:
      return ternary<FixedLookUp<0x96>, uint32_t>;  // a ^ b ^ c
    case 0xca:
      return ternary<FixedLookUp<0xca>, uint32_t>;  // a ? b : c
    case 0xea:
      return ternary<FixedLookUp<0xea>, uint32_t>;  // (a & b) | c
    case 0xf8:
      return ternary<FixedLookUp<0xf8>, uint32_t>;  // a | (b & c)
    default:
      return ternary<LookUp, uint32_t>;
  }
}

enum class Combine : uint32_t { And, Or, Xor };

// p = (d != 0) op q, after a lop3 that wrote d to `a`.
Outcome combine_nonzero(Warp& warp, const Op& op, LaneMask exec) {
  const uint32_t* value = warp.read<uint32_t>(op.a);
  LaneMask nonzero = 0;
  for (int i = 0; i < kLanes; ++i) nonzero |= static_cast<LaneMask>(value[i] != 0) << i;
  const LaneMask q = warp.predicate_value(op.b) ^ static_cast<LaneMask>(op.immediate);
  const auto combine = static_cast<Combine>(op.small);
  const LaneMask result = combine == Combine::And  ? nonzero & q
                          : combine == Combine::Or ? nonzero | q
                                                   : nonzero ^ q;
  merge_predicate(exec, warp.predicate(op.d), result);
  return Outcome::Next;
}

Result<Done> look_up(Lowering& l, const Instruction& i) {
  if (i.operands.size() < 5) return no_such_form(l, i);
  const auto* pair = std::get_if<ptx::PairOperand>(&i.operands[0].value);
  const ptx::Operand& target = pair != nullptr ? pair->elements[0] : i.operands[0];
  const Slot a = TRY(l.source(i.operands[1], Type::B32));
  const Slot b = TRY(l.source(i.operands[2], Type::B32));
  const Slot c = TRY(l.source(i.operands[3], Type::B32));
  const auto table = l.constant(i.operands[4]);
  if (!table) return l.error("the look-up table of lop3 must be a constant");
  const Slot d = TRY(l.destination(target, Type::B32));
  const auto bits = static_cast<uint32_t>(*table) & 0xff;
  Op& op = l.emit(look_up_handler(bits));
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.small = bits;
  if (pair == nullptr) return Done{};
  if (i.operands.size() != 6) return no_such_form(l, i);
  const auto q = TRY(l.predicate_source(i.operands[5]));
  const Slot p = TRY(l.predicate_destination(pair->elements[1]));
  Op& second = l.emit(combine_nonzero);
  second.d = p;
  second.a = d;
  second.b = q.slot;
  second.immediate = q.flip;
  second.small = static_cast<uint32_t>(i.has("or")    ? Combine::Or
                                       : i.has("xor") ? Combine::Xor
                                                      : Combine::And);
  return Done{};
}

Result<Done> shift_left(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_values(
      l, i,
      by_width(type,
               []<typename T>() -> Handler { return binary<numeric::ShiftLeft, T, T, uint32_t>; }),
      type, {type, Type::U32});
}

Result<Done> shift_right(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_values(l, i,
                     by_integer_type(type,
                                     []<typename T>() -> Handler {
                                       return binary<numeric::ShiftRight, T, T, uint32_t>;
                                     }),
                     type, {type, Type::U32});
}

Result<Done> funnel_shift(Lowering& l, const Instruction& i) {
  using numeric::Excess;
  const bool clamp = i.has("clamp");
  const Handler left = clamp ? ternary<numeric::FunnelLeft<Excess::Clamp>, uint32_t>
                             : ternary<numeric::FunnelLeft<Excess::Wrap>, uint32_t>;
  const Handler right = clamp ? ternary<numeric::FunnelRight<Excess::Clamp>, uint32_t>
                              : ternary<numeric::FunnelRight<Excess::Wrap>, uint32_t>;
  return emit_uniform(l, i, i.has("l") ? left : right, Type::B32);
}

struct PermuteBytes {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return numeric::permute_bytes(a, b, c);
  }
};

// Op::small is the index of the mode.
struct PermuteByMode {
  explicit PermuteByMode(const Op& op) : mode(numeric::kPermuteModes[op.small]) {}
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return numeric::permute_bytes(a, b, mode.selectors[c & 3]);
  }
  const numeric::PermuteMode& mode;
};

Result<Done> permute(Lowering& l, const Instruction& i) {
  for (uint32_t mode = 0; mode < std::size(numeric::kPermuteModes); ++mode)
    if (i.has(numeric::kPermuteModes[mode].name))
      return emit_uniform(l, i, ternary<PermuteByMode, uint32_t>, Type::B32, mode);
  return emit_uniform(l, i, ternary<PermuteBytes, uint32_t>, Type::B32);
}

constexpr Meaning kMeanings[] = {
    {"and", logic<numeric::And>}, {"or", logic<numeric::Or>},
    {"xor", logic<numeric::Xor>}, {"not", complement},
    {"cnot", logical_not},        {"lop3", look_up},
    {"shf", funnel_shift},        {"shl", shift_left},
    {"shr", shift_right},         {"prmt", permute},
};

}  // namespace

std::span<const Meaning> logic_shift_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
