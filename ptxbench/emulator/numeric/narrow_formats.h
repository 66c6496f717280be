// SPDX-License-Identifier: Apache-2.0

// Rounding to any small floating-point format: f16, bf16, and the 8, 6 and 4-bit formats of the
// matrix instructions. One integer algorithm serves them all; the formats are rows of constants.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ptxbench/emulator/numeric/float_bits.h"

namespace weft::emulator::numeric {

struct NarrowFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  uint32_t maximum;   // pattern of the largest finite number
  uint32_t infinity;  // 0: the format has none, and overflow saturates or gives NaN
  uint32_t nan;       // 0: the format has none, and NaN becomes the largest number
};

inline constexpr NarrowFormat kF16Format = {5, 10, 15, 0x7bff, 0x7c00, 0x7fff};
inline constexpr NarrowFormat kBf16Format = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fff};
inline constexpr NarrowFormat kE4m3Format = {4, 3, 7, 0x7e, 0, 0x7f};
inline constexpr NarrowFormat kE5m2Format = {5, 2, 15, 0x7b, 0x7c, 0x7f};
inline constexpr NarrowFormat kE2m3Format = {2, 3, 1, 0x1f, 0, 0};
inline constexpr NarrowFormat kE3m2Format = {3, 2, 3, 0x1f, 0, 0};
inline constexpr NarrowFormat kE2m1Format = {2, 1, 1, 0x07, 0, 0};

enum class NarrowRounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };
enum class Overflow : uint8_t { Infinity, Finite };  // Finite: .satfinite

// The bits of a mantissa that do not fit, `dropped` of them, and what is kept.
struct DroppedBits {
  uint64_t kept, rest;
  int dropped;
};

// The pattern of `value` in the format, sign bit included. `rounds_up(DroppedBits, negative)` says
// whether the magnitude grows.
template <typename RoundsUp>
constexpr uint32_t encode_by(const NarrowFormat& format, double value, Overflow overflow,
                             bool keeps_finite, const RoundsUp& rounds_up) {
  const uint64_t bits = bits_of(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63)
                        << (format.exponent_bits + format.mantissa_bits);
  const uint64_t magnitude = bits & ~FloatBits<double>::kSign;
  if (magnitude > FloatBits<double>::kInfinity)
    return format.nan != 0 ? format.nan : format.maximum;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  // A subnormal double is below every format's smallest number: its bits matter only as "not zero".
  const uint64_t mantissa =
      (magnitude & ((uint64_t{1} << 52) - 1)) | (exponent > -1023 ? uint64_t{1} << 52 : 0);
  const int least = 1 - format.bias;
  // Bits to drop: down to the format's mantissa, and more below its smallest normal number.
  const int all = 52 - format.mantissa_bits + std::max(least - exponent, 0);
  const int drop = std::min(all, 62);
  const uint64_t kept = mantissa >> drop;
  const uint64_t rest = mantissa & ((uint64_t{1} << drop) - 1);
  const bool up = rounds_up(DroppedBits{kept, rest, all}, sign != 0);
  // Normal numbers bring their implicit bit, which counts as one in the exponent field; so does a
  // carry.
  const int64_t field = std::max(exponent - least, 0);
  const int64_t code = (field << format.mantissa_bits) + static_cast<int64_t>(kept) + (up ? 1 : 0);
  if (code <= static_cast<int64_t>(format.maximum)) return sign | static_cast<uint32_t>(code);
  if (overflow == Overflow::Finite) return sign | format.maximum;
  if (keeps_finite && magnitude != FloatBits<double>::kInfinity) return sign | format.maximum;
  return format.infinity != 0 ? sign | format.infinity
                              : (format.nan != 0 ? sign | format.nan : sign | format.maximum);
}

constexpr uint32_t encode(const NarrowFormat& format, double value, NarrowRounding rounding,
                          Overflow overflow) {
  const bool negative = bits_of(value) >> 63 != 0;
  const bool inward = rounding == NarrowRounding::Zero ||
                      (rounding == NarrowRounding::Down && !negative) ||
                      (rounding == NarrowRounding::Up && negative);
  return encode_by(format, value, overflow, inward, [rounding](DroppedBits bits, bool minus) {
    const uint64_t middle = uint64_t{1} << (std::min(bits.dropped, 62) - 1);
    switch (rounding) {
      case NarrowRounding::Nearest:
        return bits.rest > middle || (bits.rest == middle && (bits.kept & 1) != 0);
      case NarrowRounding::NearestAway:
        return bits.rest >= middle;
      case NarrowRounding::Down:
        return minus && bits.rest != 0;
      case NarrowRounding::Up:
        return !minus && bits.rest != 0;
      case NarrowRounding::Zero:
        break;
    }
    return false;
  });
}

// Stochastic rounding: `random`, of `random_bits`, is added to the highest bits that fall away, and
// a carry rounds up. A finite number too large for the format is the largest only with .satfinite.
constexpr uint32_t encode_stochastic(const NarrowFormat& format, double value, uint32_t random,
                                     int random_bits, Overflow overflow) {
  return encode_by(format, value, overflow, false, [=](DroppedBits bits, bool) {
    const int below = bits.dropped - random_bits;
    const uint64_t highest = below < 64 ? bits.rest >> below : 0;
    return (highest + random) >> random_bits != 0;
  });
}

// The value of a pattern; every one fits an f32.
constexpr float decode(const NarrowFormat& format, uint32_t code) {
  const uint32_t sign = code >> (format.exponent_bits + format.mantissa_bits) & 1;
  const uint32_t magnitude = code & ((1u << (format.exponent_bits + format.mantissa_bits)) - 1);
  if (format.nan != 0 && magnitude > format.maximum && magnitude != format.infinity)
    return canonical_nan<float>();
  uint32_t bits = 0;
  if (format.infinity != 0 && magnitude == format.infinity) {
    bits = FloatBits<float>::kInfinity;
  } else {
    const uint32_t exponent = magnitude >> format.mantissa_bits;
    const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
    // Subnormal numbers are whole multiples of the format's smallest.
    const int scale =
        (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias - format.mantissa_bits;
    const auto whole =
        static_cast<double>(exponent == 0 ? mantissa : mantissa | 1u << format.mantissa_bits);
    const double power = from_bits<double>(static_cast<uint64_t>(scale + 1023) << 52);
    bits = bits_of(static_cast<float>(whole * power));
  }
  return from_bits<float>(bits | sign << 31);
}

// ue8m0: a power of two and nothing else, 2^(code - 127). The sign is ignored; 0xff is NaN.
constexpr uint32_t encode_ue8m0(float value, NarrowRounding rounding, Overflow overflow) {
  const uint32_t magnitude = bits_of(value) & ~FloatBits<float>::kSign;
  if (magnitude > FloatBits<float>::kInfinity) return 0xff;
  if (magnitude == FloatBits<float>::kInfinity) return overflow == Overflow::Finite ? 0xfe : 0xff;
  const uint32_t exponent = magnitude >> 23, mantissa = magnitude & 0x7fffff;
  // 2^-127 itself is subnormal: its pattern is 0x400000.
  const bool up =
      rounding == NarrowRounding::Up && (exponent == 0 ? mantissa > 0x400000u : mantissa != 0);
  const uint32_t code = exponent + (up ? 1 : 0);
  if (code > 0xfe) return overflow == Overflow::Finite ? 0xfe : 0xff;
  return code;
}

constexpr float decode_ue8m0(uint32_t code) {
  if (code == 0xff) return canonical_nan<float>();
  return from_bits<float>(code == 0 ? 0x400000u : code << 23);
}

// tf32: an f32 whose low 13 bits are zero. .rna keeps the upper bits of a NaN, whatever they are;
// the other roundings make one of their own. Both as recorded on an H200.
constexpr uint32_t round_to_tf32(float value, NarrowRounding rounding, Overflow overflow) {
  const uint32_t bits = bits_of(value), magnitude = bits & ~FloatBits<float>::kSign;
  const uint32_t sign = bits & FloatBits<float>::kSign;
  if (magnitude > FloatBits<float>::kInfinity)
    return (rounding == NarrowRounding::NearestAway ? bits : FloatBits<float>::kNan) & ~0x1fffu;
  uint32_t rounded = magnitude;
  if (rounding == NarrowRounding::NearestAway)
    rounded += 0x1000;
  else if (rounding == NarrowRounding::Nearest)
    rounded += 0xfff + (magnitude >> 13 & 1);
  rounded &= ~0x1fffu;
  if (overflow == Overflow::Finite && rounded >= FloatBits<float>::kInfinity) rounded = 0x7f7fe000;
  return sign | rounded;
}

}  // namespace weft::emulator::numeric
