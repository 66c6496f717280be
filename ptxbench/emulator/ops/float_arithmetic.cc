// SPDX-License-Identifier: Apache-2.0

// Floating-point arithmetic in f32, f32x2 and f64 (PTX ISA 9.7.3), and the f32 forms that take a
// half operand (9.7.5). The plain nearest forms have handlers of their own; directed rounding
// shares one handler for each mode.

#include "ptxbench/emulator/ops/arithmetic_dispatch.h"

#include "ptxbench/emulator/numeric/approximate.h"
#include "ptxbench/emulator/numeric/float_values.h"
#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/float_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::Extremum;
using numeric::Subnormals;
using ptx::Instruction;

#if defined(__AVX2__)
// fma.f32 in a directed mode, which exp() is made of, by the host's own rounding. One piece of
// assembly, because the compiler moves arithmetic across a change of the mode.
template <uint32_t kControl>
Outcome directed_fma(Warp& w, const Op& op, LaneMask exec) {
  alignas(64) float value[kLanes];
  const uint32_t mode = kControl;
  uint32_t before = 0;
  asm volatile(
      "vstmxcsr %[before]\n\t"
      "vldmxcsr %[mode]\n\t"
      "vmovups (%[a]), %%ymm0\n\t"
      "vmovups 32(%[a]), %%ymm1\n\t"
      "vmovups 64(%[a]), %%ymm2\n\t"
      "vmovups 96(%[a]), %%ymm3\n\t"
      "vmovups (%[b]), %%ymm4\n\t"
      "vmovups 32(%[b]), %%ymm5\n\t"
      "vmovups 64(%[b]), %%ymm6\n\t"
      "vmovups 96(%[b]), %%ymm7\n\t"
      "vfmadd213ps (%[c]), %%ymm4, %%ymm0\n\t"
      "vfmadd213ps 32(%[c]), %%ymm5, %%ymm1\n\t"
      "vfmadd213ps 64(%[c]), %%ymm6, %%ymm2\n\t"
      "vfmadd213ps 96(%[c]), %%ymm7, %%ymm3\n\t"
      "vmovaps %%ymm0, (%[value])\n\t"
      "vmovaps %%ymm1, 32(%[value])\n\t"
      "vmovaps %%ymm2, 64(%[value])\n\t"
      "vmovaps %%ymm3, 96(%[value])\n\t"
      "vldmxcsr %[before]"
      : [before] "+m"(before)
      : [mode] "m"(mode), [a] "r"(w.read<float>(op.a)), [b] "r"(w.read<float>(op.b)),
        [c] "r"(w.read<float>(op.c)), [value] "r"(value)
      : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
  fill_lanes(exec, w.write<float>(op.d), [&](int i) { return numeric::canonical(value[i]); });
  return Outcome::Next;
}

// The host's control words: all exceptions masked, and where to round.
Handler directed_fma_handler(numeric::Rounding rounding) {
  constexpr uint32_t kMasked = 0x1f80, kDown = 0x2000, kUp = 0x4000;
  switch (rounding) {
    case numeric::Rounding::Down:
      return directed_fma<kMasked | kDown>;
    case numeric::Rounding::Up:
      return directed_fma<kMasked | kUp>;
    case numeric::Rounding::Zero:
      return directed_fma<kMasked | kDown | kUp>;
    case numeric::Rounding::Nearest:
      break;
  }
  return nullptr;
}
#endif

// fma and mad. `mad.f32` has the meaning of fma on every target since sm_20.
Result<Done> multiply_add(Lowering& l, const Instruction& i) {
#if defined(__AVX2__)
  const numeric::Rounding rounding = rounding_of(i);
  if (first_type(i) == Type::F32 && rounding != numeric::Rounding::Nearest && rounded_flags(i) == 0)
    return emit_uniform(l, i, directed_fma_handler(rounding), Type::F32);
#endif
  return rounded_form<numeric::FloatFma, 3>(l, i);
}

struct DivideApproximate {
  float operator()(float a, float b) const { return numeric::divide_approximate(a, b); }
};

Result<Done> divide(Lowering& l, const Instruction& i) {
  if (i.has("approx"))
    return emit_uniform(l, i,
                        i.has("ftz")
                            ? binary<numeric::Nearest<DivideApproximate, Subnormals::Flush>, float>
                            : binary<DivideApproximate, float>,
                        Type::F32);
  // `.full` promises 2 ulp; the correctly rounded quotient is within.
  return rounded_form<numeric::FloatDivide, 2>(l, i);
}

// abs and neg change the sign only. An f32 NaN becomes the canonical one. A f64 NaN keeps its sign,
// as recorded on an H200: there the sign is a modifier of an addition's operand, which spares NaN.
template <bool kNegate, bool kFlush>
struct ChangeSign {
  template <std::floating_point T>
  T operator()(T a) const {
    using F = numeric::FloatBits<T>;
    const auto bits = numeric::bits_of(a);
    T value = numeric::from_bits<T>(kNegate ? bits ^ F::kSign : bits & ~F::kSign);
    if constexpr (sizeof(T) == 8)
      value = numeric::is_nan(a) ? numeric::quieted(a) : value;
    else
      value = numeric::canonical(value);
    return kFlush ? numeric::flushed(value) : value;
  }
};

template <bool kNegate>
Result<Done> change_sign(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  const Handler single = i.has("ftz") ? unary<ChangeSign<kNegate, true>, float>
                                      : unary<ChangeSign<kNegate, false>, float>;
  const Handler handler = type == Type::F64 ? unary<ChangeSign<kNegate, false>, double> : single;
  return emit_uniform(l, i, handler, type);
}

constexpr uint32_t kFlush = 1, kNan = 2, kXorSign = 4, kAbsolute = 8;

template <Extremum kExtremum, uint32_t kFlags>
struct PlainExtremum {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return numeric::extremum<kExtremum>(
        a, b, {.flush = (kFlags & kFlush) != 0, .nan = (kFlags & kNan) != 0});
  }
};

// The rarer forms, two operands or three.
template <Extremum kExtremum>
struct AnyExtremum {
  explicit AnyExtremum(const Op& op)
      : form{.flush = (op.small & kFlush) != 0,
             .nan = (op.small & kNan) != 0,
             .xor_sign = (op.small & kXorSign) != 0,
             .absolute = (op.small & kAbsolute) != 0} {}
  float operator()(float a, float b) const { return numeric::extremum<kExtremum>(a, b, form); }
  float operator()(float a, float b, float c) const { return (*this)((*this)(a, b), c); }
  numeric::ExtremumForm form;
};

template <Extremum kExtremum>
Result<Done> extremum(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  if (type == Type::F64)
    return emit_uniform(l, i, binary<PlainExtremum<kExtremum, 0>, double>, type);
  const uint32_t flags = (i.has("ftz") ? kFlush : 0) | (i.has("NaN") ? kNan : 0) |
                         (i.has("xorsign") || i.has("xorsign.abs") ? kXorSign : 0);
  const bool absolute = flags < kXorSign && i.has("abs");
  if (i.operands.size() == 4)
    return emit_uniform(l, i, ternary<AnyExtremum<kExtremum>, float>, type,
                        flags | (absolute ? kAbsolute : 0));
  switch (flags) {
    case 0:
      return emit_uniform(l, i, binary<PlainExtremum<kExtremum, 0>, float>, type);
    case kFlush:
      return emit_uniform(l, i, binary<PlainExtremum<kExtremum, kFlush>, float>, type);
    case kNan:
      return emit_uniform(l, i, binary<PlainExtremum<kExtremum, kNan>, float>, type);
    default:
      return emit_uniform(l, i, binary<AnyExtremum<kExtremum>, float>, type, flags);
  }
}

// The sign of a on the value of b.
struct CopySign {
  template <std::unsigned_integral T>
  T operator()(T a, T b) const {
    constexpr T kSign = T{1} << (sizeof(T) * 8 - 1);
    return (a & kSign) | (b & ~kSign);
  }
};

Result<Done> copy_sign(Lowering& l, const Instruction& i) {
  const Type type = first_type(i);
  return emit_uniform(
      l, i, type == Type::F64 ? binary<CopySign, uint64_t> : binary<CopySign, uint32_t>, type);
}

constexpr Meaning kShared[] = {
    {"add", rounded_form<numeric::FloatAdd, 2>},
    {"sub", rounded_form<numeric::FloatSubtract, 2>},
    {"mul", rounded_form<numeric::FloatMultiply, 2>},
    {"fma", multiply_add},
    {"mad", multiply_add},
    {"div", divide},
    {"abs", change_sign<false>},
    {"neg", change_sign<true>},
    {"min", extremum<Extremum::Minimum>},
    {"max", extremum<Extremum::Maximum>},
};

constexpr Meaning kMeanings[] = {
    {"rcp", arithmetic}, {"sqrt", arithmetic}, {"rsqrt", arithmetic},   {"sin", arithmetic},
    {"cos", arithmetic}, {"lg2", arithmetic},  {"copysign", copy_sign},
};

// Widens 16-bit registers to f32.
template <typename Format>
struct Widen {
  float operator()(uint16_t half) const { return Format::to_float(half); }
};

}  // namespace

Result<Done> float_arithmetic(Lowering& lowering, const Instruction& instruction) {
  for (const Meaning& meaning : kShared)
    if (meaning.opcode == instruction.opcode) return meaning.lower(lowering, instruction);
  return no_such_form(lowering, instruction);
}

// add and sub: d, a (half), c (f32); fma: d, a, b (halves), c (f32). The halves are widened first,
// which is exact, and the f32 instruction does the rest.
Result<Done> mixed_arithmetic(Lowering& l, const Instruction& i) {
  const size_t halves = i.opcode == "fma" ? 2 : 1;
  if (i.types.size() != 2 || i.operands.size() != halves + 2) return no_such_form(l, i);
  const Type half = i.types[1];
  Slot sources[3] = {kNoSlot, kNoSlot, kNoSlot};
  for (size_t k = 0; k < halves; ++k) {
    const Slot narrow = TRY(l.source(i.operands[k + 1], half));
    sources[k] = l.scratch(32);
    Op& widen = l.emit(half == Type::F16 ? unary<Widen<numeric::F16>, float, uint16_t>
                                         : unary<Widen<numeric::Bf16>, float, uint16_t>);
    widen.d = sources[k];
    widen.a = narrow;
  }
  sources[halves] = TRY(l.source(i.operands[halves + 1], Type::F32));
  const Slot d = TRY(l.destination(i.operands[0], Type::F32));
  Handler handler = nullptr;
  if (i.opcode == "add")
    handler = rounded_handler<numeric::FloatAdd, 2>(i, Type::F32);
  else if (i.opcode == "sub")
    handler = rounded_handler<numeric::FloatSubtract, 2>(i, Type::F32);
  else if (i.opcode == "fma")
    handler = rounded_handler<numeric::FloatFma, 3>(i, Type::F32);
  if (handler == nullptr) return no_such_form(l, i);
  Op& op = l.emit(handler);
  op.d = d;
  op.a = sources[0];
  op.b = sources[1];
  op.c = sources[2];
  op.small = rounded_flags(i);
  return Done{};
}

std::span<const Meaning> float_arithmetic_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
