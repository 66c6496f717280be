// SPDX-License-Identifier: Apache-2.0

// cvt where a float takes part: to and from integers, and between f16, bf16, f32 and f64. A half
// source is widened to f32 first, which is exact; an integer source becomes 32 or 64 bits. Then one
// handler rounds, and a last one extends the result when its register is wider.

#include "ptxbench/emulator/numeric/conversion.h"

#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/ops/conversion_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::Rounding;
using ptx::Instruction;

bool is_half(Type type) {
  return type == Type::F16 || type == Type::Bf16;
}

Rounding float_rounding(uint32_t flags) {
  return static_cast<Rounding>(flags & 3);
}

struct FlaggedFunctor {
  explicit FlaggedFunctor(const Op& op) : flags(op.small) {}
  uint32_t flags;
};

template <typename Format>
struct Widen {
  float operator()(uint16_t half) const { return Format::to_float(half); }
};

struct Keep {
  uint32_t operator()(uint32_t bits) const { return bits; }
};

// --- integers to floats --------------------------------------------------------------------------

template <typename F>
struct NearestFloat {
  template <std::integral I>
  F operator()(I value) const {
    return static_cast<F>(value);
  }
};

struct DirectedDouble : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  template <std::integral I>
  double operator()(I value) const {
    const double result = numeric::to_double(value, float_rounding(flags));
    return flags & kSaturate ? numeric::saturated(result) : result;
  }
};

struct StickyDouble {
  double operator()(int32_t value) const { return value; }
  double operator()(uint32_t value) const { return value; }
  double operator()(int64_t value) const { return numeric::sticky_double(value); }
  double operator()(uint64_t value) const { return numeric::sticky_double(value); }
};

// The four integer types that narrower ones are extended to.
template <typename F, typename D>
Handler from_integer(Type type) {
  const bool is_signed = isa::is_signed(type);
  if (isa::bits(type) == 64) return is_signed ? unary<F, D, int64_t> : unary<F, D, uint64_t>;
  if (isa::bits(type) == 32 && !is_signed) return unary<F, D, uint32_t>;
  return unary<F, D, int32_t>;
}

// --- floats to integers --------------------------------------------------------------------------

// Integers narrower than 32 bits are clamped to their own range within one of 32.
template <typename Register, Rounding kRounding>
struct ToInteger {
  explicit ToInteger(const Op& op)
      : flush(op.small & kFlush),
        low(static_cast<Register>(op.immediate)),
        high(static_cast<Register>(~static_cast<std::make_unsigned_t<Register>>(0) >>
                                   (op.small >> 8 & 63))) {}
  template <std::floating_point F>
  Register operator()(F value) const {
    const F input = flush ? numeric::flushed(value) : value;
    return numeric::to_integer<Register>(numeric::to_whole<kRounding>(input), low, high);
  }
  bool flush;
  Register low, high;
};

template <typename F, typename Register>
Handler to_integer_handler(Rounding rounding) {
  switch (rounding) {
    case Rounding::Nearest:
      return unary<ToInteger<Register, Rounding::Nearest>, Register, F>;
    case Rounding::Zero:
      return unary<ToInteger<Register, Rounding::Zero>, Register, F>;
    case Rounding::Down:
      return unary<ToInteger<Register, Rounding::Down>, Register, F>;
    default:
      return unary<ToInteger<Register, Rounding::Up>, Register, F>;
  }
}

template <typename F>
Handler to_integer_handler(int bits, bool is_signed, Rounding rounding) {
  if (bits == 64)
    return is_signed ? to_integer_handler<F, int64_t>(rounding)
                     : to_integer_handler<F, uint64_t>(rounding);
  return is_signed ? to_integer_handler<F, int32_t>(rounding)
                   : to_integer_handler<F, uint32_t>(rounding);
}

std::optional<Rounding> integer_rounding(const Instruction& i) {
  if (i.has("rni")) return Rounding::Nearest;
  if (i.has("rzi")) return Rounding::Zero;
  if (i.has("rmi")) return Rounding::Down;
  if (i.has("rpi")) return Rounding::Up;
  return std::nullopt;
}

// f64 to integers below 64 bits: NaN gives the top bit of the target type, which for 8 and 16 bits
// is not that of the 32-bit register.
struct NarrowNan : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint32_t operator()(uint32_t value, double source) const {
    return source != source ? flags : value;
  }
};

// --- floats to floats ----------------------------------------------------------------------------

// To f32 or f64 from the same type: a whole number, flushing, saturation.
template <typename F>
struct Adjust : FlaggedFunctor {
  explicit Adjust(const Op& op) : FlaggedFunctor(op), whole(op.immediate != 0) {}
  F operator()(F value) const {
    F result = flags & kFlush ? numeric::flushed(value) : value;
    if (whole) {
      switch (float_rounding(flags)) {
        case Rounding::Nearest:
          result = numeric::to_whole<Rounding::Nearest>(result);
          break;
        case Rounding::Zero:
          result = numeric::to_whole<Rounding::Zero>(result);
          break;
        case Rounding::Down:
          result = numeric::to_whole<Rounding::Down>(result);
          break;
        case Rounding::Up:
          result = numeric::to_whole<Rounding::Up>(result);
          break;
      }
    }
    result = numeric::canonical(result);
    return flags & kSaturate ? numeric::saturated(result) : result;
  }
  bool whole;
};

struct ToDouble : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  double operator()(float value) const {
    // Without .ftz a NaN keeps its sign and payload.
    const double result = flags & kFlush ? numeric::canonical(numeric::flushed(value)) : value;
    return flags & kSaturate ? numeric::saturated(result) : result;
  }
};

struct ToFloat : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  float operator()(double value) const {
    // A NaN keeps its sign and the upper bits of its payload.
    float result = numeric::to_float(value, float_rounding(flags));
    if (flags & kFlush) result = numeric::flushed(result);
    return flags & kSaturate ? numeric::saturated(result) : result;
  }
};

template <typename Format>
struct ToHalf {
  uint16_t operator()(float value) const {
    return static_cast<uint16_t>(Format::from_float(value));
  }
};

// f16 from a f64 NaN: its sign and the upper bits of its payload. f32 ones become canonical.
uint16_t half_of_nan(double nan) {
  const uint64_t bits = numeric::bits_of(nan);
  return static_cast<uint16_t>((bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x1ff));
}

template <numeric::NarrowFormat kFormat>
struct ToHalfModified : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint16_t operator()(double value) const {
    const bool from_nan = kFormat.mantissa_bits == 10 && numeric::is_nan(value);
    return from_nan && (flags & kSaturate) == 0 ? half_of_nan(value) : rounded(value);
  }
  uint16_t operator()(float value) const { return rounded(double{value}); }

 private:
  uint16_t rounded(double value) const {
    const double input = flags & kSaturate ? numeric::saturated(value) : value;
    const uint32_t half = numeric::encode(kFormat, input, rounding_of(flags), overflow_of(flags));
    return static_cast<uint16_t>(flags & kRelu && half & 0x8000 ? 0 : half);
  }
};

struct ToTf32 : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint32_t operator()(float value) const {
    const uint32_t bits = numeric::round_to_tf32(value, rounding_of(flags), overflow_of(flags));
    return flags & kRelu && bits >> 31 ? 0 : bits;
  }
};

struct Source {
  Slot slot = kNoSlot;
  bool is_double = false;
};

// The source as f32 or f64.
Result<Source> float_source(Lowering& l, const Instruction& i, Type type) {
  const auto a = TRY(l.any_source(i.operands[1], type));
  const int bits = isa::bits(type);
  const Slot slot = fitted(l, a, bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64, bits);
  if (!is_half(type)) return Source{slot, type == Type::F64};
  const Slot wide = l.scratch(32);
  Op& op = l.emit(type == Type::F16 ? unary<Widen<numeric::F16>, float, uint16_t>
                                    : unary<Widen<numeric::Bf16>, float, uint16_t>);
  op.d = wide;
  op.a = slot;
  return Source{wide, false};
}

// The handler from f32 or f64 to the float type.
Handler to_float_handler(Type target, bool from_double, uint32_t flags, bool whole) {
  const bool plain = (flags & ~kFlush) == 0 && !whole;
  switch (target) {
    case Type::F64:
      return from_double ? unary<Adjust<double>, double> : unary<ToDouble, double, float>;
    case Type::F32:
      return from_double ? unary<ToFloat, float, double> : unary<Adjust<float>, float>;
    case Type::F16:
      if (from_double) return unary<ToHalfModified<numeric::kF16Format>, uint16_t, double>;
      return plain ? unary<ToHalf<numeric::F16>, uint16_t, float>
                   : unary<ToHalfModified<numeric::kF16Format>, uint16_t, float>;
    case Type::Bf16:
      if (from_double) return unary<ToHalfModified<numeric::kBf16Format>, uint16_t, double>;
      return plain ? unary<ToHalf<numeric::Bf16>, uint16_t, float>
                   : unary<ToHalfModified<numeric::kBf16Format>, uint16_t, float>;
    case Type::Tf32:
      return from_double ? nullptr : unary<ToTf32, uint32_t, float>;
    default:
      return nullptr;
  }
}

Result<Done> integer_to_float(Lowering& l, const Instruction& i, Slot d) {
  const Type target = i.types[0], type = i.types[1];
  const uint32_t flags = conversion_flags(i);
  const auto a = TRY(l.any_source(i.operands[1], type));
  const Slot source = fitted(l, a, type, isa::bits(type) == 64 ? 64 : 32);
  const bool plain = (flags & ~kFlush) == 0;
  if (target == Type::F64 || (target == Type::F32 && plain)) {
    Op& op = l.emit(target == Type::F32 ? from_integer<NearestFloat<float>, float>(type)
                    : plain             ? from_integer<NearestFloat<double>, double>(type)
                                        : from_integer<DirectedDouble, double>(type));
    op.d = d;
    op.a = source;
    op.small = flags;
    return Done{};
  }
  const Slot exact = l.scratch(64);
  Op& first = l.emit(from_integer<StickyDouble, double>(type));
  first.d = exact;
  first.a = source;
  const Handler handler = to_float_handler(target, true, flags, false);
  if (handler == nullptr) return no_such_form(l, i);
  Op& second = l.emit(handler);
  second.d = d;
  second.a = exact;
  second.small = flags;
  return Done{};
}

// Leaves the result in `result` of 32 or 64 bits.
Result<Done> float_to_integer(Lowering& l, const Instruction& i, Slot result) {
  const Type target = i.types[0];
  const Source source = TRY(float_source(l, i, i.types[1]));
  const int bits = isa::bits(target), width = bits == 64 ? 64 : 32;
  const bool is_signed = isa::is_signed(target);
  const Rounding rounding = integer_rounding(i).value_or(Rounding::Zero);
  Op& op = l.emit(source.is_double ? to_integer_handler<double>(bits, is_signed, rounding)
                                   : to_integer_handler<float>(bits, is_signed, rounding));
  op.d = result;
  op.a = source.slot;
  // The range: `immediate` is the low end, and the high end is all ones shifted right.
  op.immediate = is_signed ? -(int64_t{1} << (bits - 2)) * 2 : 0;
  op.small = (i.has("ftz") ? kFlush : 0) | static_cast<uint32_t>(width - bits + (is_signed ? 1 : 0))
                                               << 8;
  if (source.is_double && bits < 32) {
    Op& nan = l.emit(binary<NarrowNan, uint32_t, uint32_t, double>);
    nan.d = result;
    nan.a = result;
    nan.b = source.slot;
    nan.small = 1u << (bits - 1);
  }
  return Done{};
}

Result<Done> float_to_float(Lowering& l, const Instruction& i, Slot d) {
  const Type target = i.types[0];
  Source source = TRY(float_source(l, i, i.types[1]));
  uint32_t flags = conversion_flags(i);
  const auto whole = integer_rounding(i);
  // The upper half of an f32 as it is, NaN included.
  if (target == Type::F32 && i.types[1] == Type::Bf16 && flags == 0 && !whole) {
    Op& op = l.emit(unary<Keep, uint32_t>);
    op.d = d;
    op.a = source.slot;
    return Done{};
  }
  if (whole) flags = (flags & ~kRoundingBits) | static_cast<uint32_t>(*whole);
  // A half rounded to a whole number: round in f32, then narrow, which is exact.
  if (whole && is_half(target)) {
    const Slot rounded = l.scratch(32);
    Op& op = l.emit(unary<Adjust<float>, float>);
    op.d = rounded;
    op.a = source.slot;
    op.small = flags;
    op.immediate = 1;
    source.slot = rounded;
    flags &= ~kRoundingBits;
  }
  const bool adjust = whole && !is_half(target);
  const Handler handler = to_float_handler(target, source.is_double, flags, adjust);
  if (handler == nullptr) return no_such_form(l, i);
  Op& op = l.emit(handler);
  op.d = d;
  op.a = source.slot;
  op.small = flags;
  op.immediate = adjust ? 1 : 0;
  return Done{};
}

}  // namespace

Result<Done> convert_float(Lowering& l, const Instruction& i) {
  const Type target = i.types[0];
  const auto d = TRY(l.any_destination(i.operands[0], target));
  // What the conversion itself writes; whole integers are made in 32 or 64 bits.
  const bool integer = is_integer(target);
  const int made = integer ? (isa::bits(target) == 64 ? 64 : 32) : isa::bits(target);
  const Slot slot = d.bits == made ? d.slot : l.scratch(made);
  if (is_integer(i.types[1]))
    TRY(integer_to_float(l, i, slot));
  else if (integer)
    TRY(float_to_integer(l, i, slot));
  else
    TRY(float_to_float(l, i, slot));
  // A 32-bit register for a narrower integer type holds it extended already.
  if (slot == d.slot) return Done{};
  const Type by = integer ? target : made == 16 ? Type::B16 : Type::B32;
  const Handler handler = extension(by, made, d.bits);
  if (handler == nullptr) return no_such_form(l, i);
  Op& op = l.emit(handler);
  op.d = d.slot;
  op.a = slot;
  return Done{};
}

}  // namespace weft::emulator
