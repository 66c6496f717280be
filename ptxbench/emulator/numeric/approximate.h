// SPDX-License-Identifier: Apache-2.0

// The approximate functions of PTX (9.7.3): ex2, lg2, sin, cos, tanh, rsqrt and the gross f64 ones.
// The hardware's tables are not public; these stay well within the manual's error bounds and give
// its special values. They are polynomials without branches, so that loops over lanes vectorise.
#pragma once

#include <cmath>

#include "ptxbench/emulator/numeric/float_bits.h"
#include "ptxbench/emulator/numeric/rounding.h"

namespace weft::emulator::numeric {

// 2^r for r in [-0.5, 0.5]: the series of exp(r ln 2), whose next term is below 2^-27.
inline float exp2_fraction(float r) {
  float p = 1.5252734e-5f;                  // ln2^7 / 7!
  p = __builtin_fmaf(p, r, 1.5403530e-4f);  // ln2^6 / 6!
  p = __builtin_fmaf(p, r, 1.3333558e-3f);  // ln2^5 / 5!
  p = __builtin_fmaf(p, r, 9.6181291e-3f);  // ln2^4 / 4!
  p = __builtin_fmaf(p, r, 5.5504109e-2f);  // ln2^3 / 3!
  p = __builtin_fmaf(p, r, 2.4022651e-1f);  // ln2^2 / 2
  p = __builtin_fmaf(p, r, 6.9314718e-1f);  // ln2
  return __builtin_fmaf(p, r, 1.0f);
}

// 2^x for x in [-126.5, 129). The sum with 1.5 * 2^23 rounds to the nearest integer and leaves it
// in the low bits of the pattern.
inline float exp2_normal(float x) {
  constexpr float kRound = 12582912.0f;
  const float shifted = x + kRound;
  const float fraction = exp2_fraction(x - (shifted - kRound));
  return from_bits<float>(bits_of(fraction) + (bits_of(shifted) << 23));
}

// ex2.approx.f32: subnormal results are kept. Small arguments are moved up by 24 and the result
// down.
inline float exp2_approximate(float x) {
  const bool small = x < -125.0f;
  const float above = x > -150.0f ? x : -150.0f;
  const float inside = above < 127.99999f ? above : 127.99999f;
  const float value = exp2_normal(small ? inside + 24.0f : inside) * (small ? 0x1p-24f : 1.0f);
  const float result = x >= 128.0f ? from_bits<float>(FloatBits<float>::kInfinity) : value;
  return x != x ? canonical_nan<float>() : result;
}

// ex2.approx.ftz.f32: subnormal results are zero.
inline float exp2_flushed(float x) {
  const float above = x > -126.0f ? x : -126.0f;
  const float value = exp2_normal(above < 127.99999f ? above : 127.99999f);
  float result = x < -126.0f ? 0.0f : value;
  result = x >= 128.0f ? from_bits<float>(FloatBits<float>::kInfinity) : result;
  return x != x ? canonical_nan<float>() : result;
}

// log2(x) as a double, for positive finite x: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// log2(m) = 2/ln2 (f + f^3/3 + f^5/5 + ...) with f = (m - 1) / (m + 1), |f| < 0.172.
inline double log2_double(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdull;
  const uint64_t bits = bits_of(x);
  const uint64_t scaled = bits - kSqrtHalf;
  // The exponent, as an unsigned count from 2^-1023 on so that it can become a double by pattern.
  const uint64_t biased = (scaled + (uint64_t{1023} << 52)) >> 52;
  const double exponent = from_bits<double>(biased | 0x4330000000000000ull) - (0x1p52 + 1023.0);
  const double m = from_bits<double>(bits - (biased << 52) + (uint64_t{1023} << 52));
  const double f = (m - 1.0) / (m + 1.0);
  const double s = f * f;
  double p = 1.0 / 15;
  p = __builtin_fma(p, s, 1.0 / 13);
  p = __builtin_fma(p, s, 1.0 / 11);
  p = __builtin_fma(p, s, 1.0 / 9);
  p = __builtin_fma(p, s, 1.0 / 7);
  p = __builtin_fma(p, s, 1.0 / 5);
  p = __builtin_fma(p, s, 1.0 / 3);
  p = __builtin_fma(p, s, 1.0);
  return __builtin_fma(2.8853900817779268 * f, p, exponent);
}

inline float log2_approximate(float x) {
  const bool positive = x > 0.0f;
  float value = static_cast<float>(log2_double(positive ? double{x} : 1.0));
  value = x == std::bit_cast<float>(0x7f800000u) ? x : value;
  value = x == 0.0f ? std::bit_cast<float>(0xff800000u) : value;
  return positive | (x == 0.0f) ? value : canonical_nan<float>();
}

// sin(2 pi t) in double: t is brought to [-1/4, 1/4] by whole half turns, each of which flips the
// sign.
inline double sine_of_turns(double t) {
  constexpr double kRound = 0x1.8p52;
  const double shifted = t * 2.0 + kRound;
  const double h = t - (shifted - kRound) * 0.5;
  const double x = h * 6.283185307179586;
  const double s = x * x;
  double p = -7.647163731819816e-13;  // -1/15!
  p = __builtin_fma(p, s, 1.605904383682161e-10);
  p = __builtin_fma(p, s, -2.505210838544172e-8);
  p = __builtin_fma(p, s, 2.755731922398589e-6);
  p = __builtin_fma(p, s, -1.984126984126984e-4);
  p = __builtin_fma(p, s, 8.333333333333333e-3);
  p = __builtin_fma(p, s, -1.6666666666666666e-1);
  // As a product, so that -0 stays -0.
  const double sine = x * __builtin_fma(s, p, 1.0);
  return from_bits<double>(bits_of(sine) ^ (bits_of(shifted) << 63));
}

// The device reduces the argument by one f32 product with 1/(2 pi), rounded towards zero, and then
// counts in steps of 2^-25 turns: as recorded on an H200, sines of smaller arguments are zero.
inline double turns(float x) {
  const double product = to_float(double{x} * double{0x1.45f306p-3f}, Rounding::Zero);
  const double t = __builtin_trunc(product * 0x1p25) * 0x1p-25;
  // From 2^24 turns on an f32 is a whole number of turns.
  return std::fabs(t) < 0x1p24 ? t : t * 0.0;
}

inline float sin_approximate(float x) {
  return canonical(static_cast<float>(sine_of_turns(turns(x))));
}

inline float cos_approximate(float x) {
  return canonical(static_cast<float>(sine_of_turns(turns(x) + 0.25)));
}

// 2^x in double for |x| < 1000, to 2^-40.
inline double exp2_double(double x) {
  constexpr double kRound = 0x1.8p52;
  const double shifted = x + kRound;
  const double r = (x - (shifted - kRound)) * 0.6931471805599453;
  double p = 1.0 / 3628800;
  p = __builtin_fma(p, r, 1.0 / 362880);
  p = __builtin_fma(p, r, 1.0 / 40320);
  p = __builtin_fma(p, r, 1.0 / 5040);
  p = __builtin_fma(p, r, 1.0 / 720);
  p = __builtin_fma(p, r, 1.0 / 120);
  p = __builtin_fma(p, r, 1.0 / 24);
  p = __builtin_fma(p, r, 1.0 / 6);
  p = __builtin_fma(p, r, 0.5);
  p = __builtin_fma(p, r, 1.0);
  p = __builtin_fma(p, r, 1.0);
  return from_bits<double>(bits_of(p) + (bits_of(shifted) << 52));
}

// tanh(x) = (e - 1) / (e + 1) with e = exp(2 |x|); from 20 on it is 1, below 2^-12 it is x.
inline float tanh_approximate(float x) {
  const double magnitude = std::fabs(double{x});
  const double e = exp2_double((magnitude < 20.0 ? magnitude : 20.0) * 2.885390081777927);
  const double value = magnitude < 0x1p-12 ? magnitude : (e - 1.0) / (e + 1.0);
  const float result =
      from_bits<float>(bits_of(static_cast<float>(value)) | (bits_of(x) & FloatBits<float>::kSign));
  return x != x ? canonical_nan<float>() : result;
}

// Two roundings of at most 2^-24 each; the manual allows 2^-22.9.
inline float rsqrt_approximate(float x) {
  return canonical(1.0f / __builtin_sqrtf(x));
}

// div.approx.f32: divisors above 2^126 have a reciprocal that the device flushes, so the quotient
// is zero, or NaN for an infinite dividend.
inline float divide_approximate(float a, float b) {
  const float quotient = a / b;
  const uint32_t magnitude = bits_of(b) & ~FloatBits<float>::kSign;
  const bool flushes = magnitude > bits_of(0x1p126f) && magnitude < FloatBits<float>::kInfinity;
  const float zero = from_bits<float>((bits_of(a) ^ bits_of(b)) & FloatBits<float>::kSign);
  const float flushed_quotient = a - a == 0.0f ? zero : canonical_nan<float>();
  return canonical(flushes ? flushed_quotient : quotient);
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper word only and give an upper word.
inline double upper_word(double x) {
  return from_bits<double>(bits_of(x) & 0xffffffff00000000ull);
}

inline double reciprocal_gross(double x) {
  const double a = flushed(upper_word(x));
  const double value = flushed(upper_word(1.0 / a));
  return is_nan(x) ? from_bits<double>(0x7fffffff00000000ull) : value;
}

inline double rsqrt_gross(double x) {
  const double a = flushed(upper_word(x));
  const double value = upper_word(1.0 / __builtin_sqrt(a));
  return is_nan(value) ? from_bits<double>(0x7fffffff00000000ull) : value;
}

}  // namespace weft::emulator::numeric
