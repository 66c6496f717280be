// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic (PTX ISA 9.7.1). The values are computed in numeric/integer.h; here the forms
// find their handlers. Bit counting and bit fields are in bit_fields.cc, carries in
// extended_arithmetic.cc.

#include "ptxbench/emulator/numeric/integer.h"

#include "ptxbench/emulator/ops/arithmetic_dispatch.h"
#include "ptxbench/emulator/ops/bit_fields.h"
#include "ptxbench/emulator/ops/integer_types.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

Type widened(Type type) {
  switch (type) {
    case Type::U16:
      return Type::U32;
    case Type::S16:
      return Type::S32;
    case Type::U32:
      return Type::U64;
    case Type::S32:
      return Type::S64;
    default:
      return Type::None;
  }
}

bool is_packed(Type type) {
  return type == Type::U16x2 || type == Type::S16x2;
}

template <typename Operation>
Handler on_halves(Type type) {
  return type == Type::U16x2 ? binary<numeric::OnHalves<Operation, uint16_t>, uint32_t>
                             : binary<numeric::OnHalves<Operation, int16_t>, uint32_t>;
}

template <typename Operation, typename Saturated>
Result<Done> sum(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (i.has("sat")) return emit_uniform(l, i, binary<Saturated, int32_t>, Type::S32);
  if (is_packed(type)) return emit_uniform(l, i, on_halves<Operation>(type), type);
  return emit_uniform(
      l, i, by_width(type, []<typename T>() -> Handler { return binary<Operation, T>; }), type);
}

Result<Done> multiply(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (i.has("wide")) {
    Handler handler = nullptr;
    switch (type) {
      case Type::U16:
        handler = binary<numeric::MultiplyWide, uint32_t, uint16_t>;
        break;
      case Type::S16:
        handler = binary<numeric::MultiplyWide, int32_t, int16_t>;
        break;
      case Type::U32:
        handler = binary<numeric::MultiplyWide, uint64_t, uint32_t>;
        break;
      case Type::S32:
        handler = binary<numeric::MultiplyWide, int64_t, int32_t>;
        break;
      default:
        break;
    }
    return emit_values(l, i, handler, widened(type), {type, type});
  }
  const Handler handler =
      i.has("hi")
          ? by_integer_type(
                type, []<typename T>() -> Handler { return binary<numeric::MultiplyHigh, T>; })
          : by_width(type, []<typename T>() -> Handler { return binary<numeric::MultiplyLow, T>; });
  return emit_uniform(l, i, handler, type);
}

Result<Done> multiply_add(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (i.has("wide")) {
    Handler handler = nullptr;
    switch (type) {
      case Type::U16:
        handler = ternary<numeric::MadWide, uint32_t, uint16_t>;
        break;
      case Type::S16:
        handler = ternary<numeric::MadWide, int32_t, int16_t>;
        break;
      case Type::U32:
        handler = ternary<numeric::MadWide, uint64_t, uint32_t>;
        break;
      case Type::S32:
        handler = ternary<numeric::MadWide, int64_t, int32_t>;
        break;
      default:
        break;
    }
    return emit_values(l, i, handler, widened(type), {type, type, widened(type)});
  }
  if (i.has("sat"))
    return emit_uniform(l, i, ternary<numeric::MadHighSaturated, int32_t>, Type::S32);
  const Handler handler =
      i.has("hi")
          ? by_integer_type(type,
                            []<typename T>() -> Handler { return ternary<numeric::MadHigh, T>; })
          : by_width(type, []<typename T>() -> Handler { return ternary<numeric::MadLow, T>; });
  return emit_uniform(l, i, handler, type);
}

Result<Done> multiply24(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const bool is_signed = type == Type::S32;
  const Handler low = is_signed ? binary<numeric::Multiply24Low, int32_t>
                                : binary<numeric::Multiply24Low, uint32_t>;
  const Handler high = is_signed ? binary<numeric::Multiply24High, int32_t>
                                 : binary<numeric::Multiply24High, uint32_t>;
  return emit_uniform(l, i, i.has("hi") ? high : low, type);
}

Result<Done> multiply_add24(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const bool is_signed = type == Type::S32;
  if (i.has("sat")) return emit_uniform(l, i, ternary<numeric::Mad24HighSaturated, int32_t>, type);
  const Handler low =
      is_signed ? ternary<numeric::Mad24Low, int32_t> : ternary<numeric::Mad24Low, uint32_t>;
  const Handler high =
      is_signed ? ternary<numeric::Mad24High, int32_t> : ternary<numeric::Mad24High, uint32_t>;
  return emit_uniform(l, i, i.has("hi") ? high : low, type);
}

template <typename Operation>
Result<Done> two_operands(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i, by_integer_type(type, []<typename T>() -> Handler { return binary<Operation, T>; }),
      type);
}

Result<Done> sum_of_distances(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i, by_integer_type(type, []<typename T>() -> Handler { return ternary<numeric::Sad, T>; }),
      type);
}

Result<Done> negate(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i, by_width(type, []<typename T>() -> Handler { return unary<numeric::Negate, T>; }),
      type);
}

Result<Done> absolute(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i,
      by_integer_type(type, []<typename T>() -> Handler { return unary<numeric::Absolute, T>; }),
      type);
}

template <typename Operation>
Result<Done> extremum(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (i.has("relu")) {
    using Rectified = numeric::Relu<Operation>;
    return emit_uniform(
        l, i, type == Type::S16x2 ? on_halves<Rectified>(type) : binary<Rectified, int32_t>, type);
  }
  if (is_packed(type)) return emit_uniform(l, i, on_halves<Operation>(type), type);
  return two_operands<Operation>(l, i);
}

// Types of the two packed operands, in order.
Result<Done> dot_bytes(Lowering& l, const Instruction& i) {
  if (i.types.size() != 2) return no_such_form(l, i);
  const bool a = isa::is_signed(i.types[0]), b = isa::is_signed(i.types[1]);
  const Handler handler = a ? (b ? ternary<numeric::DotBytes<int8_t, int8_t>, uint32_t>
                                 : ternary<numeric::DotBytes<int8_t, uint8_t>, uint32_t>)
                            : (b ? ternary<numeric::DotBytes<uint8_t, int8_t>, uint32_t>
                                 : ternary<numeric::DotBytes<uint8_t, uint8_t>, uint32_t>);
  return emit_uniform(l, i, handler, Type::U32);
}

template <int kFirstByte>
Handler dot_halves_handler(bool a, bool b) {
  return a ? (b ? ternary<numeric::DotHalves<int16_t, int8_t, kFirstByte>, uint32_t>
                : ternary<numeric::DotHalves<int16_t, uint8_t, kFirstByte>, uint32_t>)
           : (b ? ternary<numeric::DotHalves<uint16_t, int8_t, kFirstByte>, uint32_t>
                : ternary<numeric::DotHalves<uint16_t, uint8_t, kFirstByte>, uint32_t>);
}

Result<Done> dot_halves(Lowering& l, const Instruction& i) {
  if (i.types.size() != 2) return no_such_form(l, i);
  const bool a = isa::is_signed(i.types[0]), b = isa::is_signed(i.types[1]);
  return emit_uniform(l, i, i.has("hi") ? dot_halves_handler<2>(a, b) : dot_halves_handler<0>(a, b),
                      Type::U32);
}

constexpr Meaning kShared[] = {
    {"add", sum<numeric::Add, numeric::AddSaturated>},
    {"sub", sum<numeric::Subtract, numeric::SubtractSaturated>},
    {"mul", multiply},
    {"mad", multiply_add},
    {"div", two_operands<numeric::Divide>},
    {"abs", absolute},
    {"neg", negate},
    {"min", extremum<numeric::Minimum>},
    {"max", extremum<numeric::Maximum>},
};

constexpr Meaning kMeanings[] = {
    {"add", arithmetic},        {"sub", arithmetic},
    {"mul", arithmetic},        {"mad", arithmetic},
    {"div", arithmetic},        {"abs", arithmetic},
    {"neg", arithmetic},        {"min", arithmetic},
    {"max", arithmetic},        {"addc", arithmetic},
    {"subc", arithmetic},       {"madc", arithmetic},
    {"mul24", multiply24},      {"mad24", multiply_add24},
    {"sad", sum_of_distances},  {"rem", two_operands<numeric::Remainder>},
    {"popc", population_count}, {"clz", leading_zeros},
    {"bfind", find_bit},        {"fns", find_nth_set},
    {"brev", reverse_bits},     {"bfe", extract_field},
    {"bfi", insert_field},      {"szext", extend_sign},
    {"bmsk", make_mask},        {"dp4a", dot_bytes},
    {"dp2a", dot_halves},
};

}  // namespace

Result<Done> integer_arithmetic(Lowering& lowering, const Instruction& instruction) {
  for (const Meaning& meaning : kShared)
    if (meaning.opcode == instruction.opcode) return meaning.lower(lowering, instruction);
  return no_such_form(lowering, instruction);
}

std::span<const Meaning> integer_arithmetic_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
