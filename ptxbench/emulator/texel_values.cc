// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/texel_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/floats.h"

namespace weft::emulator {

namespace {

using Channel = TextureObject::Channel;

// The curve of IEC 61966-2-1, as coarse as an H200 has it: 8 significant bits, and steps of 2^-14
// at least. (A few entries of its table are one step off.)
float srgb_to_linear(float value) {
  const double linear =
      value <= 0.04045f ? value / 12.92 : std::pow((double{value} + 0.055) / 1.055, 2.4);
  if (linear == 0) return 0;
  const double step = std::ldexp(1.0, std::max(std::ilogb(linear) - 7, -14));
  return static_cast<float>(std::floor(linear / step + 0.5) * step);
}

bool is_srgb(const TextureObject& t, size_t channel) {
  return t.srgb && t.channel == Channel::Unsigned && t.channel_bits == 8 && channel < 3;
}

uint32_t channel_value(const TextureObject& t, const std::byte* at, int channel, Reading reading) {
  uint32_t raw = 0;
  std::memcpy(&raw, at, t.channel_bits / 8u);
  if (t.channel == Channel::Float)
    return t.channel_bits == 16 ? std::bit_cast<uint32_t>(f16_to_float(static_cast<uint16_t>(raw)))
                                : raw;
  const int unused = 32 - t.channel_bits;
  const auto extended = static_cast<int32_t>(raw << unused) >> unused;
  if (!t.normalized_read)
    return t.channel == Channel::Signed ? static_cast<uint32_t>(extended) : raw;
  float value = 0;
  if (t.channel == Channel::Signed) {
    value = static_cast<float>(extended) / static_cast<float>((1u << (t.channel_bits - 1)) - 1);
    if (reading == Reading::Plain) value = std::max(value, -1.0f);
  } else {
    value = static_cast<float>(raw) / static_cast<float>((1u << t.channel_bits) - 1);
    if (is_srgb(t, static_cast<size_t>(channel))) value = srgb_to_linear(value);
  }
  return std::bit_cast<uint32_t>(value);
}

// The nearest float, halves away from zero; sums of weighted texels are exact before this.
uint32_t round_away(double value) {
  const auto bits = std::bit_cast<uint64_t>(value) + (uint64_t{1} << 28);
  const auto up = std::bit_cast<double>(bits & ~((uint64_t{1} << 29) - 1));
  return std::bit_cast<uint32_t>(static_cast<float>(std::isfinite(up) ? up : value));
}

// The same among the values of f16.
float half_away(double value) {
  const uint16_t bits = float_to_f16(static_cast<float>(value));
  const double near = f16_to_float(bits), next = f16_to_float(static_cast<uint16_t>(bits + 1));
  const bool further = std::fabs(value) - std::fabs(near) >= std::fabs(next) - std::fabs(value);
  return static_cast<float>(further ? next : near);
}

}  // namespace

bool reads_floats(const TextureObject& t) {
  return t.channel == Channel::Float || t.normalized_read;
}

Texel decode_texel(const TextureObject& t, const std::byte* bytes) {
  return decode(t, bytes, Reading::Plain);
}

Texel decode(const TextureObject& t, const std::byte* bytes, Reading reading) {
  Texel texel{};
  for (int c = 0; c < t.channels; ++c)
    texel[static_cast<size_t>(c)] = channel_value(t, bytes + c * t.channel_bits / 8, c, reading);
  return texel;
}

double in_filter(const TextureObject& t, size_t channel, float value) {
  if (t.channel == Channel::Float || is_srgb(t, channel)) return value;
  if (t.channel == Channel::Unsigned) return std::round(value * 65535.0);
  const double largest = t.channel_bits == 8 ? 127 : 32767;
  return std::round(value * largest) * (32767 / largest);
}

uint32_t filtered(const TextureObject& t, size_t channel, double sum) {
  const double value = sum / kFraction;
  if (is_srgb(t, channel) || (t.channel == Channel::Float && t.channel_bits == 16))
    return std::bit_cast<uint32_t>(half_away(value));
  if (t.channel == Channel::Float) return round_away(value);
  const double largest = t.channel == Channel::Unsigned ? 65535 : 32767;
  return std::bit_cast<uint32_t>(
      static_cast<float>(std::max(std::floor(value + 0.5) / largest, -1.0)));
}

}  // namespace weft::emulator
