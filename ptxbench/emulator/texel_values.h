// SPDX-License-Identifier: Apache-2.0

// What the bytes of a texel mean, and what a filter makes of several: formats, normalised integers,
// sRGB, and the arithmetic of weighted sums. As an H200 does it, where the manual is silent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/texture_sampler.h"

namespace weft::emulator {

constexpr int kFraction = 256;  // steps of a weight

// A filter sees the most negative integer as it is; else it stands for -1 like its neighbour.
enum class Reading : uint8_t { Plain, ForFilter };

// Channels that the format lacks are zero, alpha too.
Texel decode(const TextureObject& texture, const std::byte* bytes, Reading reading);

// A texel's channel as it is summed, and the channel from a sum of 256 of them. Integers are summed
// in 16 bits, halves and sRGB give halves, floats are rounded with halves away from zero.
double in_filter(const TextureObject& texture, size_t channel, float value);
uint32_t filtered(const TextureObject& texture, size_t channel, double sum);

}  // namespace weft::emulator
