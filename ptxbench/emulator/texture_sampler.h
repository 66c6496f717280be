// SPDX-License-Identifier: Apache-2.0

// Looking up texels: addressing modes, point and linear filters, mipmap levels, cube faces. Pure
// functions on a texture object (CUDA programming guide, "Texture Fetching"). Positions are turned
// into fixed point with 8 bits of fraction before they are filtered, as the guide says of the
// weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/texture_object.h"

namespace weft::emulator {

// Four channels as an instruction returns them: integers, or the patterns of floats.
using Texel = std::array<uint32_t, 4>;

// Where an instruction looks, by its geometry: .1d .2d .3d .cube and their arrays.
struct TexturePlace {
  int dimensions = 2;  // coordinates in use; a cube has 3
  bool cube = false;
  float at[3] = {};
  int64_t layer = 0;
  int32_t offset[3] = {};  // texels, added after scaling
};

// Whether texels come out as floats: float channels, and integers read as normalised ones.
bool reads_floats(const TextureObject& texture);
// One texel from memory, decoded.
Texel decode_texel(const TextureObject& texture, const std::byte* bytes);

// tex with float coordinates. `lod` counts mipmap levels before the object's bias and limits.
Texel sample(const TextureObject& texture, const TexturePlace& place, float lod);
// The level of detail that gradients of the coordinates along two directions ask for.
float level_of_gradients(const TextureObject& texture, int dimensions, const float* dx,
                         const float* dy);
// tex with integer coordinates: no scaling, no filter; zero outside, or the edge in mipmapped
// textures, as on an H200.
Texel fetch(const TextureObject& texture, const TexturePlace& place, const int32_t* at,
            int64_t level);
// tld4: one channel of the four texels that a linear filter would blend, counter-clockwise from the
// lower left: (x, y+1), (x+1, y+1), (x+1, y), (x, y).
Texel gather(const TextureObject& texture, const TexturePlace& place, int channel);

}  // namespace weft::emulator
