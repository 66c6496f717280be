// SPDX-License-Identifier: Apache-2.0

// Arrays, textures and surfaces of the runtime API.
#include "ptxbench/cudart/array.h"

#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/texture.h"

using namespace weft::cudart;

extern "C" {

abi::ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
int cudaMallocArray(abi::Array** array, const abi::ChannelFormat* format, size_t width,
                    size_t height, unsigned flags) {
  return answer([&] { return create_array(array, format, {width, height, 0}, flags); });
}
int cudaMalloc3DArray(abi::Array** array, const abi::ChannelFormat* format, abi::Extent extent,
                      unsigned flags) {
  return answer([&] { return create_array(array, format, extent, flags); });
}
int cudaFreeArray(abi::Array* array) {
  return answer([&] { return destroy_array(array); });
}
int cudaArrayGetInfo(abi::ChannelFormat* format, abi::Extent* extent, unsigned* flags,
                     abi::Array* array) {
  return answer([&] { return get_array_info(format, extent, flags, array); });
}
int cudaGetChannelDesc(abi::ChannelFormat* format, abi::Array* array) {
  return answer([&] { return get_array_info(format, nullptr, nullptr, array); });
}
int cudaMallocMipmappedArray(abi::MipmappedArray** array, const abi::ChannelFormat* format,
                             abi::Extent extent, unsigned levels, unsigned flags) {
  return answer([&] { return create_mipmapped_array(array, format, extent, levels, flags); });
}
int cudaFreeMipmappedArray(abi::MipmappedArray* array) {
  return answer([&] { return destroy_mipmapped_array(array); });
}
int cudaGetMipmappedArrayLevel(abi::Array** level, abi::MipmappedArray* array, unsigned number) {
  return answer([&] { return get_mipmap_level(level, array, number); });
}
int cudaCreateTextureObject(uint64_t* object, const abi::ResourceDescription* resource,
                            const abi::TextureDescription* texture, const abi::ResourceView* view) {
  return answer([&] { return create_texture(object, resource, texture, view); });
}
int cudaDestroyTextureObject(uint64_t object) {
  return answer([&] { return destroy_texture(object); });
}
int cudaGetTextureObjectResourceDesc(abi::ResourceDescription* resource, uint64_t object) {
  return answer([&] { return get_texture_resource(resource, object); });
}
int cudaGetTextureObjectTextureDesc(abi::TextureDescription* texture, uint64_t object) {
  return answer([&] { return get_texture_description(texture, object); });
}
int cudaGetTextureObjectResourceViewDesc(abi::ResourceView* view, uint64_t object) {
  return answer([&] { return get_texture_view(view, object); });
}
int cudaCreateSurfaceObject(uint64_t* object, const abi::ResourceDescription* resource) {
  return answer([&] { return create_surface(object, resource); });
}
int cudaDestroySurfaceObject(uint64_t object) {
  return answer([&] { return destroy_texture(object); });
}
int cudaGetSurfaceObjectResourceDesc(abi::ResourceDescription* resource, uint64_t object) {
  return answer([&] { return get_texture_resource(resource, object); });
}

}  // extern "C"
