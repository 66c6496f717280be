// SPDX-License-Identifier: Apache-2.0

// CUDA arrays, plain and mipmapped. An array here is pitched memory in row order: the layout that
// hardware hides is ours to choose. texture.h has the objects that look at them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

struct Array : Live<Array> {
  static constexpr unsigned kLayered = 1, kCubemap = 4;  // flags
  abi::ChannelFormat format{};
  abi::Extent extent{};  // elements; 0 height or depth of arrays with fewer dimensions
  unsigned flags = 0;    // of cudaMalloc3DArray: layered, cube map, and hints
  size_t element_bytes = 0;
  size_t pitch = 0;  // bytes
  std::byte* data = nullptr;
  bool owns = true;  // false for the levels of a mipmapped array
  ~Array();

  size_t rows() const { return extent.height ? extent.height : 1; }
  size_t slices() const { return extent.depth ? extent.depth : 1; }
};

struct Mipmap : Live<Mipmap> {
  std::vector<std::unique_ptr<Array>> levels;
};

// The bytes of an element; an error for formats that no array has.
Status check_format(const abi::ChannelFormat& format, size_t& element_bytes);

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

}  // namespace weft::cudart
