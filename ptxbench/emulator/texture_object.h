// SPDX-License-Identifier: Apache-2.0

// What a cudaTextureObject_t or cudaSurfaceObject_t stands for: where the texels lie and how they
// are sampled. The runtime writes one into device memory and hands out its address; texture and
// surface instructions read it there.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::emulator {

struct TextureObject {
  static constexpr uint64_t kMagic = 0x54584554'54464557;  // tells an object from a stray number
  static constexpr std::string_view kLabel = "texture object";  // of its allocation
  static constexpr uint32_t kMaxLevels = 17;                    // 65536 texels down to 1
  static constexpr uint32_t kFaces = 6;
  enum class Shape : uint8_t { Linear, D1, D2, D3, Cube };
  enum class Channel : uint8_t { Signed, Unsigned, Float };
  // Numbered as cudaTextureAddressMode.
  enum class Address : uint8_t { Wrap, Clamp, Mirror, Border };

  // A mipmap level. Texels count from 1 in every direction; layers and faces count as depth.
  struct Level {
    uint64_t data = 0;   // address of texel (0, 0, 0)
    uint64_t pitch = 0;  // bytes between rows
    uint64_t slice = 0;  // bytes between slices, layers or faces
    uint32_t width = 1, height = 1, depth = 1;
    uint64_t bytes() const { return slice * depth; }
  };

  uint64_t magic = kMagic;
  Level levels[kMaxLevels];
  uint32_t level_count = 1;
  uint8_t channels = 1;      // 1, 2 or 4
  uint8_t channel_bits = 8;  // 8, 16 or 32
  Channel channel = Channel::Float;
  Shape shape = Shape::D2;
  bool layered = false;
  bool surface = false;
  Address address[3] = {};
  bool linear_filter = false;
  bool linear_mipmaps = false;
  bool normalized_coordinates = false;
  bool normalized_read = false;  // integers read as floats in [0, 1] or [-1, 1]
  bool srgb = false;
  bool seamless_cube = false;  // filters reach over the edges
  float level_bias = 0, least_level = 0, largest_level = 0;
  float border[4] = {};

  uint32_t texel_bytes() const { return uint32_t{channels} * channel_bits / 8; }
};

}  // namespace weft::emulator
