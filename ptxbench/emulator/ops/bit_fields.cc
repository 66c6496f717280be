// SPDX-License-Identifier: Apache-2.0

// Forms of popc, clz, bfind, fns, brev, bfe, bfi, szext and bmsk (PTX ISA 9.7.1.14 to 9.7.1.23).

#include "ptxbench/emulator/ops/bit_fields.h"

#include "ptxbench/emulator/numeric/bit_fields.h"
#include "ptxbench/emulator/ops/integer_types.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

template <typename Operation>
Result<Done> count(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_values(l, i,
                     isa::bits(type) == 64 ? unary<Operation, uint32_t, uint64_t>
                                           : unary<Operation, uint32_t, uint32_t>,
                     Type::U32, {type});
}

// bfi has four sources; the place of the fourth travels in Op::small.
template <typename T>
Outcome insert(Warp& warp, const Op& op, LaneMask exec) {
  const T* a = warp.read<T>(op.a);
  const T* b = warp.read<T>(op.b);
  const uint32_t* position = warp.read<uint32_t>(op.c);
  const uint32_t* length = warp.read<uint32_t>(op.small);
  T* d = warp.write<T>(op.d);
  alignas(64) T value[kLanes];
  for (int i = 0; i < kLanes; ++i)
    value[i] = numeric::InsertField{}(a[i], b[i], position[i], length[i]);
  merge_lanes(exec, d, value);
  return Outcome::Next;
}

}  // namespace

Result<Done> population_count(Lowering& l, const Instruction& i) {
  return count<numeric::PopulationCount>(l, i);
}

Result<Done> leading_zeros(Lowering& l, const Instruction& i) {
  return count<numeric::LeadingZeros>(l, i);
}

Result<Done> find_bit(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const Handler handler =
      i.has("shiftamt")
          ? by_long_type(
                type,
                []<typename T>() -> Handler { return unary<numeric::FindBitShift, uint32_t, T>; })
          : by_long_type(
                type, []<typename T>() -> Handler { return unary<numeric::FindBit, uint32_t, T>; });
  return emit_values(l, i, handler, Type::U32, {type});
}

Result<Done> find_nth_set(Lowering& l, const Instruction& i) {
  return emit_values(l, i, ternary<numeric::FindNthSet, uint32_t, uint32_t, uint32_t, int32_t>,
                     Type::B32, {Type::B32, Type::B32, Type::S32});
}

Result<Done> reverse_bits(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(l, i,
                      isa::bits(type) == 64 ? unary<numeric::ReverseBits, uint64_t>
                                            : unary<numeric::ReverseBits, uint32_t>,
                      type);
}

Result<Done> extract_field(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const Handler handler = by_long_type(type, []<typename T>() -> Handler {
    return ternary<numeric::ExtractField, T, T, uint32_t, uint32_t>;
  });
  return emit_values(l, i, handler, type, {type, Type::U32, Type::U32});
}

Result<Done> insert_field(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (i.operands.size() != 5) return no_such_form(l, i);
  const Slot a = TRY(l.source(i.operands[1], type));
  const Slot b = TRY(l.source(i.operands[2], type));
  const Slot c = TRY(l.source(i.operands[3], Type::U32));
  const Slot length = TRY(l.source(i.operands[4], Type::U32));
  const Slot d = TRY(l.destination(i.operands[0], type));
  Op& op = l.emit(isa::bits(type) == 64 ? insert<uint64_t> : insert<uint32_t>);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.small = length;
  return Done{};
}

Result<Done> extend_sign(Lowering& l, const Instruction& i) {
  using numeric::Excess;
  const Type type = first_type(i);
  const bool clamp = i.has("clamp");
  const Handler handler =
      type == Type::S32 ? (clamp ? binary<numeric::ExtendSign<int32_t, Excess::Clamp>, uint32_t>
                                 : binary<numeric::ExtendSign<int32_t, Excess::Wrap>, uint32_t>)
                        : (clamp ? binary<numeric::ExtendSign<uint32_t, Excess::Clamp>, uint32_t>
                                 : binary<numeric::ExtendSign<uint32_t, Excess::Wrap>, uint32_t>);
  return emit_values(l, i, handler, type, {type, Type::U32});
}

Result<Done> make_mask(Lowering& l, const Instruction& i) {
  using numeric::Excess;
  return emit_values(l, i,
                     i.has("clamp") ? binary<numeric::MakeMask<Excess::Clamp>, uint32_t>
                                    : binary<numeric::MakeMask<Excess::Wrap>, uint32_t>,
                     Type::B32, {Type::U32, Type::U32});
}

}  // namespace weft::emulator
