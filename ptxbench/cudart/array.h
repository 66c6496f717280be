// SPDX-License-Identifier: Apache-2.0

// CUDA arrays, and the texture and surface objects that look at them. An array here is pitched
// memory in row order: the layout that hardware hides is ours to choose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/texture_object.h"

namespace weft::cudart {

struct Array : Live<Array> {
  abi::ChannelFormat format{};
  abi::Extent extent{};  // elements; 0 height or depth of arrays with fewer dimensions
  unsigned flags = 0;    // 1 layered, 2 surface, 4 cube map, 8 gather
  size_t element_bytes = 0;
  size_t pitch = 0;  // bytes
  std::byte* data = nullptr;
  bool owns = true;  // false for the levels of a mipmapped array
  ~Array();

  size_t rows() const { return extent.height ? extent.height : 1; }
  size_t slices() const { return extent.depth ? extent.depth : 1; }
};

Status create_array(abi::Array** array, const abi::ChannelFormat* format, abi::Extent extent,
                    unsigned flags);
Status destroy_array(abi::Array* array);  // null is allowed
Status get_array_info(abi::ChannelFormat* format, abi::Extent* extent, unsigned* flags,
                      abi::Array* array);

Status get_element_bytes(abi::Array* array, size_t* bytes);
// Bytes that run on from row to row of the array (cudaMemcpyToArray). `x` in bytes, `y` in rows.
Status copy_linear_to_array(abi::Array* target, size_t x, size_t y, const void* source, size_t size,
                            int kind);
Status copy_linear_from_array(void* target, abi::Array* source, size_t x, size_t y, size_t size,
                              int kind);

Status create_mipmapped_array(abi::MipmappedArray** array, const abi::ChannelFormat* format,
                              abi::Extent extent, unsigned levels, unsigned flags);
Status destroy_mipmapped_array(abi::MipmappedArray* array);
Status get_mipmap_level(abi::Array** level, abi::MipmappedArray* array, unsigned number);

// Driver formats (CUarray_format) and channel counts, both ways. False for a format of video planes
// or compressed blocks.
bool to_channel_format(int driver_format, unsigned channels, abi::ChannelFormat& format);
bool to_driver_format(const abi::ChannelFormat& format, int& driver_format, unsigned& channels);

Status create_texture(uint64_t* object, const abi::ResourceDescription* resource,
                      const abi::TextureDescription* texture, const abi::ResourceView* view);
Status create_surface(uint64_t* object, const abi::ResourceDescription* resource);
Status destroy_texture(uint64_t object);
Status get_texture_resource(abi::ResourceDescription* resource, uint64_t object);
Status get_texture_description(abi::TextureDescription* texture, uint64_t object);
Status get_texture_view(abi::ResourceView* view, uint64_t object);

}  // namespace weft::cudart
