// SPDX-License-Identifier: Apache-2.0

// Arithmetic in f16, f16x2, bf16 and bf16x2 (PTX ISA 9.7.4). One functor computes a half, packed
// forms apply it to both halves of a register.

#include "ptxbench/emulator/numeric/approximate.h"
#include "ptxbench/emulator/numeric/float_values.h"
#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/arithmetic_dispatch.h"
#include "ptxbench/emulator/ops/float_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::Bf16;
using numeric::F16;
using ptx::Instruction;

// Bits of Op::small.
constexpr uint32_t kFlush = 1, kSaturate = 2, kRelu = 4, kNan = 8, kXorSign = 16, kOutOfBounds = 32,
                   kAbsolute = 64;

// How the operations look to a half: f32 in, f32 out, to be rounded once.
struct Sum {
  static float apply(float a, float b) { return a + b; }
};
struct Difference {
  static float apply(float a, float b) { return a - b; }
};
struct Product {
  static float apply(float a, float b) { return a * b; }
};
struct Fused {
  static float apply(float a, float b, float c) { return numeric::fused_for_half(a, b, c); }
};
struct Exponential {
  static float apply(float a) { return numeric::exp2_approximate(a); }
};
struct HyperbolicTangent {
  static float apply(float a) { return numeric::tanh_approximate(a); }
};

// No modifiers: the form that kernels are made of.
template <typename Format, typename Operation>
struct Plain {
  template <typename... Halves>
  uint32_t operator()(Halves... halves) const {
    return Format::from_float(Operation::apply(Format::to_float(halves)...));
  }
};

// Out-of-bounds elements of a tensor copy are filled with this NaN when the map asks for it.
constexpr uint32_t kOutOfBoundsNan = 0xffff;

template <typename Format, typename Operation>
struct Modified {
  explicit Modified(const Op& op) : flags(op.small) {}
  uint32_t input(uint32_t half) const { return flags & kFlush ? Format::flushed(half) : half; }
  template <typename... Halves>
  uint32_t operator()(Halves... halves) const {
    float value = Operation::apply(Format::to_float(input(halves))...);
    if (flags & kSaturate) value = numeric::saturated(value);
    uint32_t half = input(Format::from_float(value));
    // NaN is canonical and therefore not negative.
    if (flags & kRelu) half = half & Format::kSign ? 0 : half;
    if constexpr (sizeof...(Halves) == 3)
      if (flags & kOutOfBounds) half = outside(halves...) ? 0 : half;
    return half;
  }
  static bool outside(uint32_t a, uint32_t b, uint32_t /*c*/) {
    return a == kOutOfBoundsNan || b == kOutOfBoundsNan;
  }
  uint32_t flags;
};

template <typename Format, bool kMaximum>
struct Extremum {
  explicit Extremum(const Op& op) : flags(op.small) {}
  uint32_t operator()(uint32_t a, uint32_t b) const {
    if (flags & kFlush) {
      a = Format::flushed(a);
      b = Format::flushed(b);
    }
    const uint32_t sign = (a ^ b) & Format::kSign;
    if (flags & (kXorSign | kAbsolute)) {
      a &= ~Format::kSign;
      b &= ~Format::kSign;
    }
    const bool a_nan = (a & 0x7fffu) > Format::kInfinity, b_nan = (b & 0x7fffu) > Format::kInfinity;
    const int32_t x = numeric::half_order_key(a), y = numeric::half_order_key(b);
    uint32_t value = (kMaximum ? x > y : x < y) ? a : b;
    value = a_nan ? b : value;
    value = b_nan ? a : value;
    if (flags & kXorSign) value |= sign;
    return (flags & kNan ? a_nan || b_nan : a_nan && b_nan) ? Format::kNan : value;
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return (*this)((*this)(a, b), c);
  }
  uint32_t flags;
};

template <typename Format, bool kNegate>
struct ChangeSign {
  explicit ChangeSign(const Op& op) : flags(op.small) {}
  uint32_t operator()(uint32_t a) const {
    const uint32_t value =
        numeric::canonical_half<Format>(kNegate ? a ^ Format::kSign : a & ~Format::kSign);
    return flags & kFlush ? Format::flushed(value) : value;
  }
  uint32_t flags;
};

// A half operation on 16-bit registers, and on both halves of 32-bit ones.
template <typename Operation>
struct OnOne {
  OnOne() requires std::is_default_constructible_v<Operation>
  = default;
  explicit OnOne(const Op& op) requires std::is_constructible_v<Operation, const Op&>
      : operation(op) {}
  template <typename... Registers>
  uint16_t operator()(Registers... registers) const {
    return static_cast<uint16_t>(operation(static_cast<uint32_t>(registers)...));
  }
  Operation operation;
};

template <typename Operation>
struct OnBoth {
  OnBoth() requires std::is_default_constructible_v<Operation>
  = default;
  explicit OnBoth(const Op& op) requires std::is_constructible_v<Operation, const Op&>
      : operation(op) {}
  template <typename... Registers>
  uint32_t operator()(Registers... registers) const {
    return operation((registers & 0xffffu)...) | operation((registers >> 16)...) << 16;
  }
  Operation operation;
};

bool is_pair(Type type) {
  return type == Type::F16x2 || type == Type::Bf16x2;
}
bool is_f16(Type type) {
  return type == Type::F16 || type == Type::F16x2;
}

template <typename Operation, int kOperands>
Handler register_handler(Type type) {
  return is_pair(type) ? float_handler<OnBoth<Operation>, uint32_t, kOperands>()
                       : float_handler<OnOne<Operation>, uint16_t, kOperands>();
}

uint32_t flags_of(const Instruction& i) {
  return (i.has("ftz") ? kFlush : 0) | (i.has("sat") ? kSaturate : 0) |
         (i.has("relu") ? kRelu : 0) | (i.has("NaN") ? kNan : 0) |
         (i.has("xorsign") || i.has("xorsign.abs") ? kXorSign : 0) |
         (i.has("oob") ? kOutOfBounds : 0);
}

template <typename Operation, int kOperands>
Result<Done> rounded(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const uint32_t flags = flags_of(i);
  Handler handler = nullptr;
  if (is_f16(type))
    handler = flags == 0 ? register_handler<Plain<F16, Operation>, kOperands>(type)
                         : register_handler<Modified<F16, Operation>, kOperands>(type);
  else
    handler = flags == 0 ? register_handler<Plain<Bf16, Operation>, kOperands>(type)
                         : register_handler<Modified<Bf16, Operation>, kOperands>(type);
  return emit_uniform(l, i, handler, type, flags);
}

template <bool kMaximum>
Result<Done> extremum(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  uint32_t flags = flags_of(i);
  if (i.has("abs") && !(flags & kXorSign)) flags |= kAbsolute;
  const bool three = i.operands.size() == 4;
  const Handler handler = is_f16(type)
                              ? (three ? register_handler<Extremum<F16, kMaximum>, 3>(type)
                                       : register_handler<Extremum<F16, kMaximum>, 2>(type))
                              : (three ? register_handler<Extremum<Bf16, kMaximum>, 3>(type)
                                       : register_handler<Extremum<Bf16, kMaximum>, 2>(type));
  return emit_uniform(l, i, handler, type, flags);
}

template <bool kNegate>
Result<Done> change_sign(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(l, i,
                      is_f16(type) ? register_handler<ChangeSign<F16, kNegate>, 1>(type)
                                   : register_handler<ChangeSign<Bf16, kNegate>, 1>(type),
                      type, flags_of(i));
}

constexpr Meaning kForms[] = {
    {"add", rounded<Sum, 2>},         {"sub", rounded<Difference, 2>},
    {"mul", rounded<Product, 2>},     {"fma", rounded<Fused, 3>},
    {"neg", change_sign<true>},       {"abs", change_sign<false>},
    {"min", extremum<false>},         {"max", extremum<true>},
    {"ex2", rounded<Exponential, 1>}, {"tanh", rounded<HyperbolicTangent, 1>},
};

// The opcodes shared with f32 whose home is this chapter.
constexpr Meaning kMeanings[] = {{"fma", arithmetic}, {"ex2", arithmetic}, {"tanh", arithmetic}};

}  // namespace

Result<Done> half_arithmetic(Lowering& lowering, const Instruction& instruction) {
  for (const Meaning& meaning : kForms)
    if (meaning.opcode == instruction.opcode) return meaning.lower(lowering, instruction);
  return no_such_form(lowering, instruction);
}

std::span<const Meaning> half_arithmetic_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
