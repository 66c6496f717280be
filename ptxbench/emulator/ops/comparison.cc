// SPDX-License-Identifier: Apache-2.0

// Comparison and selection (PTX ISA 9.7.6, for halves 9.7.7): set, setp, selp, slct and testp. A
// comparison writes a lane mask; combining it with a predicate, the second destination `q` and the
// values of `set` are ops of their own after it.

#include "ptxbench/emulator/numeric/comparison.h"

#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/comparison_relations.h"
#include "ptxbench/emulator/ops/integer_types.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

enum class Combine : uint32_t { And, Or, Xor };

// Op::small of combine_masks: the operation in the low bits, then what to negate.
constexpr uint32_t kOperation = 3;
constexpr uint32_t kNone = 3;  // the masks pass as they are
constexpr uint32_t kNegateSecond = 4;
constexpr uint32_t kNegatePredicate = 8;

LaneMask combined(uint32_t small, LaneMask mask, LaneMask predicate) {
  switch (small & kOperation) {
    case static_cast<uint32_t>(Combine::And):
      return mask & predicate;
    case static_cast<uint32_t>(Combine::Or):
      return mask | predicate;
    case static_cast<uint32_t>(Combine::Xor):
      return mask ^ predicate;
    default:
      return mask;
  }
}

// d = a op c, and the predicate in slot `immediate` = b op c. One op writes both, since either may
// be the guard or the predicate c.
Outcome combine_masks(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask predicate =
      op.c == kNoSlot ? 0
                      : warp.predicate_value(op.c) ^ (op.small & kNegatePredicate ? kAllLanes : 0);
  const LaneMask first = combined(op.small, warp.predicate_value(op.a), predicate);
  if (op.b != kNoSlot) {
    const LaneMask mask = warp.predicate_value(op.b) ^ (op.small & kNegateSecond ? kAllLanes : 0);
    merge_predicate(exec, warp.predicate(static_cast<Slot>(op.immediate)),
                    combined(op.small, mask, predicate));
  }
  merge_predicate(exec, warp.predicate(op.d), first);
  return Outcome::Next;
}

std::optional<Combine> combination(const Instruction& i) {
  if (i.has("and")) return Combine::And;
  if (i.has("or")) return Combine::Or;
  if (i.has("xor")) return Combine::Xor;
  return std::nullopt;
}

bool is_packed(Type type) {
  return type == Type::F16x2 || type == Type::Bf16x2;
}

// Emits the comparison of operands `first` and the next one into `mask`. `upper` compares the upper
// halves of packed types.
Result<Done> emit_comparison(Lowering& l, const Instruction& i, Type type, size_t first, Slot mask,
                             HalfOfPair half) {
  const Handler handler = comparison_handler(i, type, half);
  if (handler == nullptr) return no_such_form(l, i);
  const Slot a = TRY(l.source(i.operands[first], type));
  const Slot b = TRY(l.source(i.operands[first + 1], type));
  Op& op = l.emit(handler);
  op.d = mask;
  op.a = a;
  op.b = b;
  return Done{};
}

// The op that combines; b and the second destination are for the caller to fill.
Op& emit_combination(Lowering& l, std::optional<Combine> combine, Slot d, Slot a,
                     Lowering::PredicateSource c) {
  Op& op = l.emit(combine_masks);
  op.d = d;
  op.a = a;
  op.c = c.slot;
  op.small =
      (combine ? static_cast<uint32_t>(*combine) : kNone) | (c.flip != 0 ? kNegatePredicate : 0);
  return op;
}

// setp.cmp{.bool}.type p{|q}, a, b{, {!}c}
Result<Done> set_predicate(Lowering& l, const Instruction& i) {
  if (i.operands.size() < 3) return no_such_form(l, i);
  const Type type = first_type(i);
  const auto combine = combination(i);
  const auto* pair = std::get_if<ptx::PairOperand>(&i.operands[0].value);
  const Slot p = TRY(l.predicate_destination(pair != nullptr ? pair->elements[0] : i.operands[0]));
  Slot q = kNoSlot;
  if (pair != nullptr) q = TRY(l.predicate_destination(pair->elements[1]));
  if (!combine && q == kNoSlot) return emit_comparison(l, i, type, 1, p, HalfOfPair::Lower);
  Lowering::PredicateSource c;
  if (combine) {
    if (i.operands.size() != 4) return no_such_form(l, i);
    c = TRY(l.predicate_source(i.operands[3]));
  }
  const Slot mask = l.scratch(32);
  TRY(emit_comparison(l, i, type, 1, mask, HalfOfPair::Lower));
  Slot second = mask;
  if (is_packed(type)) {
    second = l.scratch(32);
    TRY(emit_comparison(l, i, type, 1, second, HalfOfPair::Upper));
  }
  Op& op = emit_combination(l, combine, p, mask, c);
  if (q != kNoSlot) {
    op.b = second;
    op.immediate = q;
    if (!is_packed(type)) op.small |= kNegateSecond;
  }
  return Done{};
}

// d = immediate where the mask holds, else 0.
template <typename T>
Outcome values_of_mask(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask mask = warp.predicate_value(op.a);
  const T one = static_cast<T>(op.immediate);
  alignas(64) T value[kLanes];
  for (int i = 0; i < kLanes; ++i) value[i] = mask >> i & 1 ? one : T{0};
  merge_lanes(exec, warp.write<T>(op.d), value);
  return Outcome::Next;
}

Outcome values_of_two_masks(Warp& warp, const Op& op, LaneMask exec) {
  const LaneMask low = warp.predicate_value(op.a), high = warp.predicate_value(op.b);
  const auto one = static_cast<uint32_t>(op.immediate);
  alignas(64) uint32_t value[kLanes];
  for (int i = 0; i < kLanes; ++i)
    value[i] = (low >> i & 1 ? one : 0) | (high >> i & 1 ? one << 16 : 0);
  merge_lanes(exec, warp.write<uint32_t>(op.d), value);
  return Outcome::Next;
}

// What "true" is in the destination of set: all ones for integers, 1.0 for floats.
int64_t true_value(Type type) {
  switch (type) {
    case Type::F32:
      return 0x3f800000;
    case Type::F16:
    case Type::F16x2:
      return 0x3c00;
    case Type::Bf16:
    case Type::Bf16x2:
      return 0x3f80;
    case Type::U16:
    case Type::S16:
      return 0xffff;
    default:
      return 0xffffffff;
  }
}

// set.cmp{.bool}.dtype.stype d, a, b{, {!}c}
Result<Done> set_value(Lowering& l, const Instruction& i) {
  if (i.types.size() != 2 || i.operands.size() < 3) return no_such_form(l, i);
  const Type target = i.types[0], type = i.types[1];
  const Slot d = TRY(l.destination(i.operands[0], target));
  const auto combine = combination(i);
  Lowering::PredicateSource c;
  if (combine) {
    if (i.operands.size() != 4) return no_such_form(l, i);
    c = TRY(l.predicate_source(i.operands[3]));
  }
  const Slot low = l.scratch(32);
  TRY(emit_comparison(l, i, type, 1, low, HalfOfPair::Lower));
  if (combine) emit_combination(l, combine, low, low, c);
  if (!is_packed(type)) {
    Op& op = l.emit(isa::bits(target) == 16 ? values_of_mask<uint16_t> : values_of_mask<uint32_t>);
    op.d = d;
    op.a = low;
    op.immediate = true_value(target);
    return Done{};
  }
  const Slot high = l.scratch(32);
  TRY(emit_comparison(l, i, type, 1, high, HalfOfPair::Upper));
  if (combine) emit_combination(l, combine, high, high, c);
  Op& op = l.emit(values_of_two_masks);
  op.d = d;
  op.a = low;
  op.b = high;
  op.immediate = isa::is_float(target) ? true_value(target) : 0xffff;
  return Done{};
}

template <typename T>
inline void select_lanes(LaneMask exec, LaneMask mask, T* d, const T* a, const T* b) {
  const SelectorOf<T> chosen = mask;
  fill_lanes(exec, d, [=](int i) {
    const T x = a[i], y = b[i];
    return (kLaneBits<SelectorOf<T>>.bit[i] & chosen) != 0 ? x : y;
  });
}

template <typename T>
Outcome select_by_predicate(Warp& warp, const Op& op, LaneMask exec) {
  select_lanes(exec, warp.predicate_value(op.c) ^ op.small, warp.write<T>(op.d), warp.read<T>(op.a),
               warp.read<T>(op.b));
  return Outcome::Next;
}

Result<Done> select(Lowering& l, const Instruction& i) {
  if (i.operands.size() != 4) return no_such_form(l, i);
  const Type type = first_type(i);
  const Slot a = TRY(l.source(i.operands[1], type));
  const Slot b = TRY(l.source(i.operands[2], type));
  const auto c = TRY(l.predicate_source(i.operands[3]));
  const Slot d = TRY(l.destination(i.operands[0], type));
  const Handler handler =
      by_width(type, []<typename T>() -> Handler { return select_by_predicate<T>; });
  if (handler == nullptr) return no_such_form(l, i);
  Op& op = l.emit(handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c.slot;
  op.small = c.flip;
  return Done{};
}

// slct: a where c >= 0. -0 counts as zero, NaN as negative; subnormals matter only without .ftz.
template <typename T, typename C>
Outcome select_by_sign(Warp& warp, const Op& op, LaneMask exec) {
  const C* c = warp.read<C>(op.c);
  alignas(64) C value[kLanes];
  alignas(64) C zero[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (std::is_same_v<C, float>)
      value[i] = op.small != 0 ? numeric::flushed(c[i]) : c[i];
    else
      value[i] = c[i];
  }
  select_lanes(exec, numeric::compare_lanes<numeric::GreaterEqual>(value, zero),
               warp.write<T>(op.d), warp.read<T>(op.a), warp.read<T>(op.b));
  return Outcome::Next;
}

Result<Done> select_sign(Lowering& l, const Instruction& i) {
  if (i.types.size() != 2) return no_such_form(l, i);
  const Type type = i.types[0];
  const bool by_float = i.types[1] == Type::F32;
  const Handler handler = by_width(type, [by_float]<typename T>() -> Handler {
    return by_float ? select_by_sign<T, float> : select_by_sign<T, int32_t>;
  });
  return emit_values(l, i, handler, type, {type, type, i.types[1]}, i.has("ftz") ? 1 : 0);
}

enum class Test : uint32_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <typename T>
Outcome test_property(Warp& warp, const Op& op, LaneMask exec) {
  using F = numeric::FloatBits<T>;
  const T* a = warp.read<T>(op.a);
  const auto test = static_cast<Test>(op.small);
  LaneMask mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    const auto bits = numeric::bits_of(a[i]) & ~F::kSign;
    const bool has_exponent = (bits & F::kInfinity) != 0;
    bool holds = false;
    switch (test) {
      case Test::Finite:
        holds = bits < F::kInfinity;
        break;
      case Test::Infinite:
        holds = bits == F::kInfinity;
        break;
      case Test::Number:
        holds = bits <= F::kInfinity;
        break;
      case Test::NotANumber:
        holds = bits > F::kInfinity;
        break;
      case Test::Normal:
        // Zero is normal too, as recorded on an H200.
        holds = bits == 0 || (has_exponent && bits < F::kInfinity);
        break;
      case Test::Subnormal:
        holds = bits != 0 && !has_exponent;
        break;
    }
    mask |= static_cast<LaneMask>(holds) << i;
  }
  merge_predicate(exec, warp.predicate(op.d), mask);
  return Outcome::Next;
}

Result<Done> test_float(Lowering& l, const Instruction& i) {
  if (i.operands.size() != 2) return no_such_form(l, i);
  constexpr std::string_view kNames[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};
  const Type type = first_type(i);
  for (uint32_t test = 0; test < std::size(kNames); ++test) {
    if (!i.has(kNames[test])) continue;
    const Slot a = TRY(l.source(i.operands[1], type));
    const Slot d = TRY(l.predicate_destination(i.operands[0]));
    Op& op = l.emit(type == Type::F64 ? test_property<double> : test_property<float>);
    op.d = d;
    op.a = a;
    op.small = test;
    return Done{};
  }
  return no_such_form(l, i);
}

constexpr Meaning kMeanings[] = {
    {"setp", set_predicate}, {"set", set_value},    {"selp", select},
    {"slct", select_sign},   {"testp", test_float},
};

}  // namespace

std::span<const Meaning> comparison_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
