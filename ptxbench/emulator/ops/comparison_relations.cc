// SPDX-License-Identifier: Apache-2.0

// Comparison operators (PTX ISA 9.7.6, tables of operators). Ordered float relations are false when
// an operand is NaN, unordered ones true. `.ftz` flushes f32 and f16 operands before they are
// compared.

#include "ptxbench/emulator/ops/comparison_relations.h"

#include "ptxbench/emulator/numeric/comparison.h"
#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/integer_types.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using namespace numeric;

template <typename Relation, typename T>
Outcome compare(Warp& warp, const Op& op, LaneMask exec) {
  merge_predicate(exec, warp.predicate(op.d),
                  compare_lanes<Relation>(warp.read<T>(op.a), warp.read<T>(op.b)));
  return Outcome::Next;
}

template <typename Relation>
Outcome compare_flushed(Warp& warp, const Op& op, LaneMask exec) {
  const float* a = warp.read<float>(op.a);
  const float* b = warp.read<float>(op.b);
  alignas(64) float x[kLanes];
  alignas(64) float y[kLanes];
  for (int i = 0; i < kLanes; ++i) x[i] = flushed(a[i]);
  for (int i = 0; i < kLanes; ++i) y[i] = flushed(b[i]);
  merge_predicate(exec, warp.predicate(op.d), compare_lanes<Relation>(x, y));
  return Outcome::Next;
}

// How a half operand becomes f32. Every f16 and bf16 number is an f32 number.
template <typename Format, typename Register, int kShift, bool kFlush>
struct Widen {
  float operator()(Register bits) const {
    const auto half = static_cast<uint16_t>(bits >> kShift);
    return Format::to_float(kFlush ? Format::flushed(half) : half);
  }
};

template <typename Relation, typename Widening, typename Register>
Outcome compare_halves(Warp& warp, const Op& op, LaneMask exec) {
  const Register* a = warp.read<Register>(op.a);
  const Register* b = warp.read<Register>(op.b);
  alignas(64) float x[kLanes];
  alignas(64) float y[kLanes];
  for (int i = 0; i < kLanes; ++i) x[i] = Widening{}(a[i]);
  for (int i = 0; i < kLanes; ++i) y[i] = Widening{}(b[i]);
  merge_predicate(exec, warp.predicate(op.d), compare_lanes<Relation>(x, y));
  return Outcome::Next;
}

template <typename Relation>
Handler float_handler(Type type, bool flush, HalfOfPair half) {
  switch (type) {
    case Type::F32:
      return flush ? compare_flushed<Relation> : compare<Relation, float>;
    case Type::F64:
      return compare<Relation, double>;
    case Type::F16:
      return flush ? compare_halves<Relation, Widen<F16, uint16_t, 0, true>, uint16_t>
                   : compare_halves<Relation, Widen<F16, uint16_t, 0, false>, uint16_t>;
    case Type::Bf16:
      return compare_halves<Relation, Widen<Bf16, uint16_t, 0, false>, uint16_t>;
    case Type::F16x2:
      if (half == HalfOfPair::Lower)
        return flush ? compare_halves<Relation, Widen<F16, uint32_t, 0, true>, uint32_t>
                     : compare_halves<Relation, Widen<F16, uint32_t, 0, false>, uint32_t>;
      return flush ? compare_halves<Relation, Widen<F16, uint32_t, 16, true>, uint32_t>
                   : compare_halves<Relation, Widen<F16, uint32_t, 16, false>, uint32_t>;
    case Type::Bf16x2:
      return half == HalfOfPair::Lower
                 ? compare_halves<Relation, Widen<Bf16, uint32_t, 0, false>, uint32_t>
                 : compare_halves<Relation, Widen<Bf16, uint32_t, 16, false>, uint32_t>;
    default:
      return nullptr;
  }
}

template <typename Relation>
Handler integer_handler(Type type) {
  return by_integer_type(type, []<typename T>() -> Handler { return compare<Relation, T>; });
}

// lo, ls, hi and hs compare unsigned, whatever the type says.
template <typename Relation>
Handler unsigned_handler(Type type) {
  return by_width(type, []<typename T>() -> Handler { return compare<Relation, T>; });
}

}  // namespace

Handler comparison_handler(const ptx::Instruction& instruction, Type type, HalfOfPair half) {
  const auto is = [&](std::string_view name) { return instruction.has(name); };
  if (isa::is_float(type)) {
    const bool flush = is("ftz");
    if (is("eq")) return float_handler<Equal>(type, flush, half);
    if (is("ne")) return float_handler<OrderedNotEqual>(type, flush, half);
    if (is("lt")) return float_handler<Less>(type, flush, half);
    if (is("le")) return float_handler<LessEqual>(type, flush, half);
    if (is("gt")) return float_handler<Greater>(type, flush, half);
    if (is("ge")) return float_handler<GreaterEqual>(type, flush, half);
    if (is("equ")) return float_handler<Not<OrderedNotEqual>>(type, flush, half);
    if (is("neu")) return float_handler<Not<Equal>>(type, flush, half);
    if (is("ltu")) return float_handler<Not<GreaterEqual>>(type, flush, half);
    if (is("leu")) return float_handler<Not<Greater>>(type, flush, half);
    if (is("gtu")) return float_handler<Not<LessEqual>>(type, flush, half);
    if (is("geu")) return float_handler<Not<Less>>(type, flush, half);
    if (is("num")) return float_handler<Ordered>(type, flush, half);
    if (is("nan")) return float_handler<Not<Ordered>>(type, flush, half);
    return nullptr;
  }
  if (is("eq")) return unsigned_handler<Equal>(type);
  if (is("ne")) return unsigned_handler<Not<Equal>>(type);
  if (is("lt")) return integer_handler<Less>(type);
  if (is("le")) return integer_handler<LessEqual>(type);
  if (is("gt")) return integer_handler<Greater>(type);
  if (is("ge")) return integer_handler<GreaterEqual>(type);
  if (is("lo")) return unsigned_handler<Less>(type);
  if (is("ls")) return unsigned_handler<LessEqual>(type);
  if (is("hi")) return unsigned_handler<Greater>(type);
  if (is("hs")) return unsigned_handler<GreaterEqual>(type);
  return nullptr;
}

}  // namespace weft::emulator
