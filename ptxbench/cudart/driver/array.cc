// SPDX-License-Identifier: Apache-2.0

// Arrays, textures, surfaces and tensor maps of the driver API.
#include "ptxbench/cudart/array.h"

#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/tensor_map.h"

using namespace weft::cudart;
using weft::emulator::TensorMap;

namespace {

Status create(abi::Array** array, const abi::DriverArray3D& wanted) {
  abi::ChannelFormat format;
  if (!to_channel_format(wanted.format, wanted.channels, format)) return Status::InvalidValue;
  return create_array(array, &format, {wanted.width, wanted.height, wanted.depth}, wanted.flags);
}

Status describe(abi::DriverArray3D& description, abi::Array* array) {
  abi::ChannelFormat format;
  abi::Extent extent;
  EXPECT_SUCCESS(get_array_info(&format, &extent, &description.flags, array));
  description.width = extent.width;
  description.height = extent.height;
  description.depth = extent.depth;
  return to_driver_format(format, description.format, description.channels) ? Status::Success
                                                                            : Status::InvalidValue;
}

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

template <typename Encode>
int encode(Encode call) {
  return device_answer([&] {
    std::string why;
    const Status status = call(why);
    if (status != Status::Success) complain_once("tensor map refused: " + why);
    return status;
  });
}

}  // namespace

extern "C" {

int cuArrayCreate_v2(abi::Array** array, const abi::DriverArray* wanted) {
  return context_answer([&] {
    if (wanted == nullptr) return Status::InvalidValue;
    return create(array, {wanted->width, wanted->height, 0, wanted->format, wanted->channels, 0});
  });
}
int cuArray3DCreate_v2(abi::Array** array, const abi::DriverArray3D* wanted) {
  return context_answer(
      [&] { return wanted != nullptr ? create(array, *wanted) : Status::InvalidValue; });
}
int cuArrayDestroy(abi::Array* array) {
  return context_answer(
      [&] { return array != nullptr ? destroy_array(array) : Status::InvalidResourceHandle; });
}
int cuArray3DGetDescriptor_v2(abi::DriverArray3D* description, abi::Array* array) {
  return context_answer([&] {
    return description != nullptr ? describe(*description, array) : Status::InvalidValue;
  });
}
int cuArrayGetDescriptor_v2(abi::DriverArray* description, abi::Array* array) {
  return context_answer([&] {
    if (description == nullptr) return Status::InvalidValue;
    abi::DriverArray3D full;
    EXPECT_SUCCESS(describe(full, array));
    *description = {full.width, full.height, full.format, full.channels};
    return Status::Success;
  });
}
int cuTexObjectCreate(uint64_t* object, const abi::ResourceDescription* resource,
                      const DriverTexture* texture, const abi::ResourceView* view) {
  return context_answer([&] {
    if (resource == nullptr || texture == nullptr) return Status::InvalidValue;
    abi::ResourceDescription translated;
    EXPECT_SUCCESS(translate(*resource, translated));
    abi::TextureDescription description{};
    for (int i = 0; i < 3; ++i) description.address_mode[i] = texture->address_mode[i];
    for (int i = 0; i < 4; ++i) description.border[i] = texture->border[i];
    description.filter_mode = texture->filter_mode;
    description.normalized = (texture->flags & 2) != 0;
    description.srgb = (texture->flags & 16) != 0;
    // Integers of up to 16 bits read as normalised floats unless the flag says otherwise.
    abi::ChannelFormat format{};
    if (translated.type == 0)
      EXPECT_SUCCESS(get_array_info(&format, nullptr, nullptr, translated.array.array));
    else
      format = translated.linear.format;
    description.read_mode =
        !(texture->flags & 1) && format.kind != abi::kFloat && format.x <= 16 ? 1 : 0;
    return create_texture(object, &translated, &description, view);
  });
}
int cuTexObjectDestroy(uint64_t object) {
  return context_answer([&] { return destroy_texture(object); });
}
int cuSurfObjectCreate(uint64_t* object, const abi::ResourceDescription* resource) {
  return context_answer([&] { return create_surface(object, resource); });
}
int cuSurfObjectDestroy(uint64_t object) {
  return context_answer([&] { return destroy_texture(object); });
}

int cuTensorMapEncodeTiled(TensorMap* map, int element, uint32_t rank, void* address,
                           const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                           const uint32_t* element_strides, int interleave, int swizzle,
                           int promotion, int fill) {
  return encode([&](std::string& why) {
    return encode_tiled(map,
                        {element, rank, address, extents, strides, element_strides, interleave,
                         swizzle, promotion, fill},
                        box, model().compute_major, why);
  });
}
int cuTensorMapEncodeIm2col(TensorMap* map, int element, uint32_t rank, void* address,
                            const uint64_t* extents, const uint64_t* strides, const int* lower,
                            const int* upper, uint32_t channels, uint32_t pixels,
                            const uint32_t* element_strides, int interleave, int swizzle,
                            int promotion, int fill) {
  return encode([&](std::string& why) {
    return encode_im2col(map,
                         {element, rank, address, extents, strides, element_strides, interleave,
                          swizzle, promotion, fill},
                         lower, upper, channels, pixels, model().compute_major, why);
  });
}
int cuTensorMapReplaceAddress(TensorMap* map, void* address) {
  return encode([&](std::string& why) { return replace_address(map, address, why); });
}

}  // extern "C"
