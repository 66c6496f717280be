// SPDX-License-Identifier: Apache-2.0

// Texture and surface objects of the driver API: its descriptions, translated to the runtime's and
// back.
#include "ptxbench/cudart/texture.h"

#include <cstring>

#include "ptxbench/cudart/array.h"
#include "ptxbench/cudart/driver/edge.h"

using namespace weft::cudart;

namespace {

// CUDA_RESOURCE_DESC differs from the runtime's in how it writes formats: a driver format and a
// number of channels stand where the runtime has five ints.
struct DriverLinear {
  uint64_t address;
  int format;
  unsigned channels;
  size_t bytes;
};
struct DriverPitched {
  uint64_t address;
  int format;
  unsigned channels;
  size_t width, height, pitch;
};

Status translate(const abi::ResourceDescription& from, abi::ResourceDescription& to) {
  to = from;
  if (from.type == 2) {
    const auto& linear = reinterpret_cast<const DriverLinear&>(from.reserved);
    to.linear.pointer = reinterpret_cast<void*>(linear.address);
    to.linear.bytes = linear.bytes;
    return to_channel_format(linear.format, linear.channels, to.linear.format)
               ? Status::Success
               : Status::InvalidValue;
  }
  if (from.type == 3) {
    const auto& pitched = reinterpret_cast<const DriverPitched&>(from.reserved);
    to.pitched.pointer = reinterpret_cast<void*>(pitched.address);
    to.pitched.width = pitched.width;
    to.pitched.height = pitched.height;
    to.pitched.pitch = pitched.pitch;
    return to_channel_format(pitched.format, pitched.channels, to.pitched.format)
               ? Status::Success
               : Status::InvalidValue;
  }
  return Status::Success;
}

Status translate_back(const abi::ResourceDescription& from, abi::ResourceDescription& to) {
  to = from;
  if (from.type == 2) {
    DriverLinear linear{reinterpret_cast<uint64_t>(from.linear.pointer), 0, 0, from.linear.bytes};
    if (!to_driver_format(from.linear.format, linear.format, linear.channels))
      return Status::InvalidValue;
    std::memcpy(&to.reserved, &linear, sizeof linear);
  } else if (from.type == 3) {
    DriverPitched pitched{reinterpret_cast<uint64_t>(from.pitched.pointer),
                          0,
                          0,
                          from.pitched.width,
                          from.pitched.height,
                          from.pitched.pitch};
    if (!to_driver_format(from.pitched.format, pitched.format, pitched.channels))
      return Status::InvalidValue;
    std::memcpy(&to.reserved, &pitched, sizeof pitched);
  }
  return Status::Success;
}

// CUDA_TEXTURE_DESC.
struct DriverTexture {
  int address_mode[3];
  int filter_mode;
  unsigned flags;  // 1 read as integer, 2 normalised coordinates, 16 sRGB
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, min_mipmap, max_mipmap;
  float border[4];
  int reserved[12];
};

// CU_TRSF_*.
constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 16,
                   kDisableTrilinear = 32, kSeamlessCubemap = 64;

Status channel_format(const abi::ResourceDescription& resource, abi::ChannelFormat& format) {
  switch (resource.type) {
    case 0:
      return get_array_info(&format, nullptr, nullptr, resource.array.array);
    case 1: {
      abi::Array* level = nullptr;
      EXPECT_SUCCESS(get_mipmap_level(&level, resource.mipmap.mipmap, 0));
      return get_array_info(&format, nullptr, nullptr, level);
    }
    case 2:
      format = resource.linear.format;
      return Status::Success;
    default:
      format = resource.pitched.format;
      return Status::Success;
  }
}

// Integers of up to 16 bits read as normalised floats unless the flag says otherwise.
abi::TextureDescription to_runtime(const DriverTexture& from, const abi::ChannelFormat& format) {
  abi::TextureDescription to{};
  for (int i = 0; i < 3; ++i) to.address_mode[i] = from.address_mode[i];
  for (int i = 0; i < 4; ++i) to.border[i] = from.border[i];
  to.filter_mode = from.filter_mode;
  to.read_mode =
      !(from.flags & kReadAsInteger) && format.kind != abi::kFloat && format.x <= 16 ? 1 : 0;
  to.normalized = (from.flags & kNormalizedCoordinates) != 0;
  to.srgb = (from.flags & kSrgb) != 0;
  to.disable_trilinear = (from.flags & kDisableTrilinear) != 0;
  to.seamless_cubemap = (from.flags & kSeamlessCubemap) != 0;
  to.max_anisotropy = from.max_anisotropy;
  to.mipmap_filter_mode = from.mipmap_filter_mode;
  to.mipmap_bias = from.mipmap_bias;
  to.min_mipmap = from.min_mipmap;
  to.max_mipmap = from.max_mipmap;
  return to;
}

DriverTexture to_driver(const abi::TextureDescription& from) {
  DriverTexture to{};
  for (int i = 0; i < 3; ++i) to.address_mode[i] = from.address_mode[i];
  for (int i = 0; i < 4; ++i) to.border[i] = from.border[i];
  to.filter_mode = from.filter_mode;
  to.flags = (from.read_mode == 0 ? kReadAsInteger : 0) |
             (from.normalized ? kNormalizedCoordinates : 0) | (from.srgb ? kSrgb : 0) |
             (from.disable_trilinear ? kDisableTrilinear : 0) |
             (from.seamless_cubemap ? kSeamlessCubemap : 0);
  to.max_anisotropy = from.max_anisotropy;
  to.mipmap_filter_mode = from.mipmap_filter_mode;
  to.mipmap_bias = from.mipmap_bias;
  to.min_mipmap = from.min_mipmap;
  to.max_mipmap = from.max_mipmap;
  return to;
}

Status describe_resource(abi::ResourceDescription* resource, uint64_t object) {
  abi::ResourceDescription found;
  EXPECT_SUCCESS(get_texture_resource(&found, object));
  return resource != nullptr ? translate_back(found, *resource) : Status::InvalidValue;
}

}  // namespace

extern "C" {

int cuTexObjectCreate(uint64_t* object, const abi::ResourceDescription* resource,
                      const DriverTexture* texture, const abi::ResourceView* view) {
  return context_answer([&] {
    if (resource == nullptr || texture == nullptr) return Status::InvalidValue;
    abi::ResourceDescription translated;
    EXPECT_SUCCESS(translate(*resource, translated));
    abi::ChannelFormat format{};
    EXPECT_SUCCESS(channel_format(translated, format));
    const abi::TextureDescription description = to_runtime(*texture, format);
    return create_texture(object, &translated, &description, view);
  });
}
int cuTexObjectDestroy(uint64_t object) {
  return context_answer([&] { return destroy_texture(object); });
}
int cuTexObjectGetResourceDesc(abi::ResourceDescription* resource, uint64_t object) {
  return context_answer([&] { return describe_resource(resource, object); });
}
int cuTexObjectGetTextureDesc(DriverTexture* texture, uint64_t object) {
  return context_answer([&] {
    abi::TextureDescription found;
    EXPECT_SUCCESS(get_texture_description(&found, object));
    if (texture == nullptr) return Status::InvalidValue;
    *texture = to_driver(found);
    return Status::Success;
  });
}
int cuTexObjectGetResourceViewDesc(abi::ResourceView* view, uint64_t object) {
  return context_answer([&] { return get_texture_view(view, object); });
}
int cuSurfObjectCreate(uint64_t* object, const abi::ResourceDescription* resource) {
  return context_answer([&] { return create_surface(object, resource); });
}
int cuSurfObjectDestroy(uint64_t object) {
  return context_answer([&] { return destroy_texture(object); });
}
int cuSurfObjectGetResourceDesc(abi::ResourceDescription* resource, uint64_t object) {
  return context_answer([&] { return describe_resource(resource, object); });
}

}  // extern "C"
