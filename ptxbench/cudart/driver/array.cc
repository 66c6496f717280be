// SPDX-License-Identifier: Apache-2.0

// Arrays and tensor maps of the driver API.
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
int cuMipmappedArrayCreate(abi::MipmappedArray** array, const abi::DriverArray3D* wanted,
                           unsigned levels) {
  return context_answer([&] {
    abi::ChannelFormat format;
    if (wanted == nullptr || !to_channel_format(wanted->format, wanted->channels, format))
      return Status::InvalidValue;
    return create_mipmapped_array(array, &format, {wanted->width, wanted->height, wanted->depth},
                                  levels, wanted->flags);
  });
}
int cuMipmappedArrayDestroy(abi::MipmappedArray* array) {
  return context_answer([&] {
    return array != nullptr ? destroy_mipmapped_array(array) : Status::InvalidResourceHandle;
  });
}
int cuMipmappedArrayGetLevel(abi::Array** level, abi::MipmappedArray* array, unsigned number) {
  return context_answer([&] { return get_mipmap_level(level, array, number); });
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
