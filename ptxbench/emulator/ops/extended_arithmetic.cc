// SPDX-License-Identifier: Apache-2.0

// Extended-precision arithmetic (PTX ISA 9.7.2): sums with a carry that is kept by lane in
// Warp::carry. For subtraction the carry is the borrow.

#include "ptxbench/emulator/numeric/integer.h"
#include "ptxbench/emulator/ops/arithmetic_dispatch.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using ptx::Instruction;

// What Op::small says.
constexpr uint32_t kCarryIn = 1;
constexpr uint32_t kCarryOut = 2;

struct Sum {
  template <typename T>
  static T apply(T a, T b, T /*c*/, T carry, bool& out) {
    T value = 0;
    const bool first = __builtin_add_overflow(a, b, &value);
    out = __builtin_add_overflow(value, carry, &value) || first;
    return value;
  }
};

struct Difference {
  template <typename T>
  static T apply(T a, T b, T /*c*/, T borrow, bool& out) {
    T value = 0;
    const bool first = __builtin_sub_overflow(a, b, &value);
    out = __builtin_sub_overflow(value, borrow, &value) || first;
    return value;
  }
};

// `Product` is MultiplyLow, or MultiplyHigh of the signed or unsigned type.
template <typename Product, typename Factor>
struct ProductSum {
  template <typename T>
  static T apply(T a, T b, T c, T carry, bool& out) {
    const T product = static_cast<T>(Product{}(static_cast<Factor>(a), static_cast<Factor>(b)));
    return Sum::apply(product, c, T{0}, carry, out);
  }
};

template <typename Operation, typename T>
Outcome extended(Warp& warp, const Op& op, LaneMask exec) {
  const T* a = warp.read<T>(op.a);
  const T* b = warp.read<T>(op.b);
  const T* c = op.c == kNoSlot ? a : warp.read<T>(op.c);
  const LaneMask carry_in = op.small & kCarryIn ? warp.carry : 0;
  LaneMask carry_out = 0;
  alignas(64) T value[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    bool out = false;
    value[i] = Operation::apply(a[i], b[i], c[i], static_cast<T>(carry_in >> i & 1), out);
    carry_out |= static_cast<LaneMask>(out) << i;
  }
  merge_lanes(exec, warp.write<T>(op.d), value);
  if (op.small & kCarryOut) merge_predicate(exec, warp.carry, carry_out);
  return Outcome::Next;
}

template <typename T>
Handler product_sum(bool high, bool is_signed) {
  using Signed = std::make_signed_t<T>;
  if (!high) return extended<ProductSum<numeric::MultiplyLow, T>, T>;
  return is_signed ? extended<ProductSum<numeric::MultiplyHigh, Signed>, T>
                   : extended<ProductSum<numeric::MultiplyHigh, T>, T>;
}

}  // namespace

Result<Done> extended_arithmetic(Lowering& lowering, const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const Type type = first_type(instruction);
  const bool wide = isa::bits(type) == 64;
  const bool continues = opcode == "addc" || opcode == "subc" || opcode == "madc";
  const uint32_t carries = (continues ? kCarryIn : 0) | (instruction.has("cc") ? kCarryOut : 0);
  Handler handler = nullptr;
  if (opcode == "add" || opcode == "addc")
    handler = wide ? extended<Sum, uint64_t> : extended<Sum, uint32_t>;
  else if (opcode == "sub" || opcode == "subc")
    handler = wide ? extended<Difference, uint64_t> : extended<Difference, uint32_t>;
  else if (opcode == "mad" || opcode == "madc")
    handler = wide ? product_sum<uint64_t>(instruction.has("hi"), isa::is_signed(type))
                   : product_sum<uint32_t>(instruction.has("hi"), isa::is_signed(type));
  return emit_uniform(lowering, instruction, handler, type, carries);
}

}  // namespace weft::emulator
