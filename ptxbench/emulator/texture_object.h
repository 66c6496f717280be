// SPDX-License-Identifier: Apache-2.0

// What a cudaTextureObject_t or cudaSurfaceObject_t points to: where the texels lie and how they
// are sampled. The runtime fills it; texture and surface instructions read it.
#pragma once

#include <cstdint>

namespace weft::emulator {

struct TextureObject {
  static constexpr uint64_t kMagic = 0x54584554'54464557;  // tells an object from a stray number
  enum class Shape : uint8_t { Linear, D1, D2, D3, Cube };
  enum class Channel : uint8_t { Signed, Unsigned, Float };
  enum class Address : uint8_t {
    Wrap,
    Clamp,
    Mirror,
    Border
  };  // numbered as cudaTextureAddressMode

  uint64_t magic = kMagic;
  uint64_t data = 0;                          // address of texel (0, 0, 0)
  uint64_t pitch = 0;                         // bytes between rows
  uint64_t slice = 0;                         // bytes between slices, layers or faces
  uint32_t width = 0, height = 0, depth = 0;  // texels; layers and faces count as depth
  uint8_t channels = 0;                       // 1, 2 or 4
  uint8_t channel_bits = 0;                   // 8, 16 or 32
  Channel channel = Channel::Float;
  Shape shape = Shape::D2;
  bool layered = false;
  bool surface = false;  // coordinates in bytes along x
  Address address[3] = {};
  bool linear_filter = false;
  bool normalized_coordinates = false;
  bool normalized_read = false;  // integers read as floats in [0, 1] or [-1, 1]
  bool srgb = false;
  float border[4] = {};
};

}  // namespace weft::emulator
