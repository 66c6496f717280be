// SPDX-License-Identifier: Apache-2.0

// cvt to and from packed formats: two floats into f16x2, bf16x2 and the 8, 6 and 4-bit pairs, those
// pairs back into f16x2, and cvt.pack of integers. The first source goes to the upper half.

#include "ptxbench/emulator/numeric/half.h"
#include "ptxbench/emulator/numeric/narrow_formats.h"
#include "ptxbench/emulator/ops/conversion_forms.h"
#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

using isa::Type;
using numeric::NarrowFormat;
using ptx::Instruction;

struct FlaggedFunctor {
  explicit FlaggedFunctor(const Op& op) : flags(op.small) {}
  uint32_t flags;
};

// Two f32 into a pair of halves, rounded to nearest.
template <typename Format>
struct PackHalves {
  uint32_t operator()(float upper, float lower) const {
    return Format::from_float(upper) << 16 | Format::from_float(lower);
  }
};

template <NarrowFormat kFormat>
uint32_t encode_with(uint32_t flags, double value) {
  const uint32_t code = numeric::encode(kFormat, value, rounding_of(flags), overflow_of(flags));
  const uint32_t sign = 1u << (kFormat.exponent_bits + kFormat.mantissa_bits);
  return flags & kRelu && code & sign ? 0 : code;
}

// Each code takes kField bits of the pair.
template <NarrowFormat kFormat, int kField, typename D>
struct PackFloats : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  D operator()(float upper, float lower) const {
    return static_cast<D>(encode_with<kFormat>(flags, double{upper}) << kField |
                          encode_with<kFormat>(flags, double{lower}));
  }
};

// The same from a register that holds two halves.
template <typename Half, NarrowFormat kFormat, int kField, typename D>
struct PackHalfPair : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  D operator()(uint32_t pair) const {
    return static_cast<D>(encode_with<kFormat>(flags, double{Half::to_float(pair >> 16)})
                              << kField |
                          encode_with<kFormat>(flags, double{Half::to_float(pair & 0xffff)}));
  }
};

// A pair of codes into two halves: exact, every code is a half.
template <NarrowFormat kFormat, int kField>
struct UnpackHalves : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint32_t half_of(uint32_t code) const {
    const uint32_t half = numeric::F16::from_float(numeric::decode(kFormat, code));
    return flags & kRelu && half & 0x8000 ? 0 : half;
  }
  template <typename A>
  uint32_t operator()(A pair) const {
    const uint32_t codes = pair;
    constexpr uint32_t kMask = (1u << kField) - 1;
    return half_of(codes >> kField & kMask) << 16 | half_of(codes & kMask);
  }
};

struct PackPowers : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint16_t operator()(float upper, float lower) const {
    return static_cast<uint16_t>(
        numeric::encode_ue8m0(upper, rounding_of(flags), overflow_of(flags)) << 8 |
        numeric::encode_ue8m0(lower, rounding_of(flags), overflow_of(flags)));
  }
  uint16_t operator()(uint32_t pair) const {
    return (*this)(numeric::Bf16::to_float(pair >> 16), numeric::Bf16::to_float(pair & 0xffff));
  }
};

struct UnpackPowers {
  uint32_t operator()(uint16_t pair) const {
    return numeric::Bf16::from_float(numeric::decode_ue8m0(static_cast<uint32_t>(pair) >> 8))
               << 16 |
           numeric::Bf16::from_float(numeric::decode_ue8m0(pair & 0xffu));
  }
};

template <NarrowFormat kFormat, int kField, typename D>
Handler pack_handler(Type source) {
  switch (source) {
    case Type::F32:
      return binary<PackFloats<kFormat, kField, D>, D, float>;
    case Type::F16x2:
      return unary<PackHalfPair<numeric::F16, kFormat, kField, D>, D, uint32_t>;
    case Type::Bf16x2:
      return unary<PackHalfPair<numeric::Bf16, kFormat, kField, D>, D, uint32_t>;
    default:
      return nullptr;
  }
}

Handler packing(Type target, Type source, uint32_t flags) {
  switch (target) {
    case Type::F16x2:
      if (source != Type::F32) return nullptr;
      return flags == 0 ? binary<PackHalves<numeric::F16>, uint32_t, float>
                        : binary<PackFloats<numeric::kF16Format, 16, uint32_t>, uint32_t, float>;
    case Type::Bf16x2:
      if (source != Type::F32) return nullptr;
      return flags == 0 ? binary<PackHalves<numeric::Bf16>, uint32_t, float>
                        : binary<PackFloats<numeric::kBf16Format, 16, uint32_t>, uint32_t, float>;
    case Type::E4m3x2:
      return pack_handler<numeric::kE4m3Format, 8, uint16_t>(source);
    case Type::E5m2x2:
      return pack_handler<numeric::kE5m2Format, 8, uint16_t>(source);
    case Type::E2m3x2:
      return pack_handler<numeric::kE2m3Format, 8, uint16_t>(source);
    case Type::E3m2x2:
      return pack_handler<numeric::kE3m2Format, 8, uint16_t>(source);
    case Type::E2m1x2:
      return pack_handler<numeric::kE2m1Format, 4, uint8_t>(source);
    case Type::Ue8m0x2:
      return source == Type::F32      ? binary<PackPowers, uint16_t, float>
             : source == Type::Bf16x2 ? unary<PackPowers, uint16_t, uint32_t>
                                      : nullptr;
    default:
      return nullptr;
  }
}

Handler unpacking(Type target, Type source) {
  if (target == Type::Bf16x2)
    return source == Type::Ue8m0x2 ? unary<UnpackPowers, uint32_t, uint16_t> : nullptr;
  if (target != Type::F16x2) return nullptr;
  switch (source) {
    case Type::E4m3x2:
      return unary<UnpackHalves<numeric::kE4m3Format, 8>, uint32_t, uint16_t>;
    case Type::E5m2x2:
      return unary<UnpackHalves<numeric::kE5m2Format, 8>, uint32_t, uint16_t>;
    case Type::E2m3x2:
      return unary<UnpackHalves<numeric::kE2m3Format, 8>, uint32_t, uint16_t>;
    case Type::E3m2x2:
      return unary<UnpackHalves<numeric::kE3m2Format, 8>, uint32_t, uint16_t>;
    case Type::E2m1x2:
      return unary<UnpackHalves<numeric::kE2m1Format, 4>, uint32_t, uint8_t>;
    default:
      return nullptr;
  }
}

// What a packed type lives in.
Type container(Type type) {
  switch (type) {
    case Type::F16x2:
    case Type::Bf16x2:
      return Type::B32;
    case Type::E2m1x2:
      return Type::B8;
    case Type::F32:
      return Type::F32;
    default:
      return Type::B16;
  }
}

// cvt.pack.sat: both sources clamped to the small type, side by side; a third source moves up to
// make room. Op::small is the width, with the sign in bit 8.
struct PackIntegers : FlaggedFunctor {
  using FlaggedFunctor::FlaggedFunctor;
  uint32_t clamped(int32_t value) const {
    const int width = static_cast<int>(flags & 0xff);
    const bool is_signed = flags >> 8 & 1;
    const int32_t low = is_signed ? -(1 << (width - 1)) : 0;
    const int32_t high = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
    const int32_t inside = value < low ? low : value > high ? high : value;
    return static_cast<uint32_t>(inside) & ((1u << width) - 1);
  }
  uint32_t operator()(int32_t a, int32_t b) const {
    return clamped(a) << (flags & 0xff) | clamped(b);
  }
  uint32_t operator()(int32_t a, int32_t b, uint32_t c) const {
    return c << (2 * (flags & 0xff)) | (*this)(a, b);
  }
};

Result<Done> pack_integers(Lowering& l, const Instruction& i) {
  constexpr struct {
    std::string_view name;
    uint32_t width;
    bool is_signed;
  } kTypes[] = {{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true},
                {"u4", 4, false},   {"s4", 4, true},   {"u2", 2, false}, {"s2", 2, true}};
  for (const auto& type : kTypes) {
    if (!i.has(type.name)) continue;
    const uint32_t small = type.width | (type.is_signed ? 1u << 8 : 0);
    if (i.operands.size() == 4)
      return emit_values(l, i, ternary<PackIntegers, uint32_t, int32_t, int32_t, uint32_t>,
                         Type::B32, {Type::S32, Type::S32, Type::B32}, small);
    return emit_values(l, i, binary<PackIntegers, uint32_t, int32_t>, Type::B32,
                       {Type::S32, Type::S32}, small);
  }
  return no_such_form(l, i);
}

Result<Done> convert(Lowering& l, const Instruction& i) {
  if (i.has("pack")) return pack_integers(l, i);
  if (i.types.size() != 2) return no_such_form(l, i);
  const Type target = i.types[0], source = i.types[1];
  if (isa::bits(target) == 0 || isa::bits(source) == 0) return no_such_form(l, i);
  if (is_integer(target) && is_integer(source)) return convert_integer(l, i);
  const auto single = [](Type type) {
    return is_integer(type) || type == Type::F16 || type == Type::Bf16 || type == Type::F32 ||
           type == Type::F64 || type == Type::Tf32;
  };
  return single(target) && single(source) ? convert_float(l, i) : convert_packed(l, i);
}

constexpr Meaning kMeanings[] = {{"cvt", convert}};

}  // namespace

uint32_t conversion_flags(const Instruction& i) {
  using numeric::NarrowRounding;
  const NarrowRounding rounding = i.has("rz")    ? NarrowRounding::Zero
                                  : i.has("rm")  ? NarrowRounding::Down
                                  : i.has("rp")  ? NarrowRounding::Up
                                  : i.has("rna") ? NarrowRounding::NearestAway
                                                 : NarrowRounding::Nearest;
  return static_cast<uint32_t>(rounding) | (i.has("ftz") ? kFlush : 0) |
         (i.has("sat") ? kSaturate : 0) | (i.has("relu") ? kRelu : 0) |
         (i.has("satfinite") ? kSatFinite : 0);
}

Result<Done> convert_packed(Lowering& l, const Instruction& i) {
  const Type target = i.types[0], source = i.types[1];
  if (i.has("rs")) return convert_stochastic(l, i);
  const uint32_t flags = conversion_flags(i);
  Handler handler = packing(target, source, flags);
  if (handler == nullptr) handler = unpacking(target, source);
  if (handler == nullptr) return l.unsupported(i.spelling());
  if (source == Type::F32)
    return emit_values(l, i, handler, container(target), {Type::F32, Type::F32}, flags);
  return emit_values(l, i, handler, container(target), {container(source)}, flags);
}

std::span<const Meaning> conversion_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
