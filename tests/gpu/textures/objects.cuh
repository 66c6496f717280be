// SPDX-License-Identifier: Apache-2.0

// Arrays filled with numbers that follow from a seed, and the texture and surface objects over
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace textures {

// What the library refuses costs one suite only.
inline void expect(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

inline uint64_t mix(uint64_t z) {  // splitmix64's output function
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
inline float between(uint64_t seed, float low, float high) {
  return low + (high - low) * static_cast<float>(mix(seed) >> 40) / 16777216.0f;
}

struct Format {
  int bits, channels;
  cudaChannelFormatKind kind;
  int bytes() const { return bits / 8 * channels; }
  cudaChannelFormatDesc description() const {
    const int b = bits;
    return cudaCreateChannelDesc(b, channels > 1 ? b : 0, channels > 2 ? b : 0,
                                 channels > 2 ? b : 0, kind);
  }
};
constexpr Format kFloat1{32, 1, cudaChannelFormatKindFloat},
    kFloat2{32, 2, cudaChannelFormatKindFloat}, kFloat4{32, 4, cudaChannelFormatKindFloat},
    kHalf1{16, 1, cudaChannelFormatKindFloat}, kHalf4{16, 4, cudaChannelFormatKindFloat},
    kByte1{8, 1, cudaChannelFormatKindUnsigned}, kByte4{8, 4, cudaChannelFormatKindUnsigned},
    kSigned1{8, 1, cudaChannelFormatKindSigned}, kShort2{16, 2, cudaChannelFormatKindSigned},
    kWord1{16, 1, cudaChannelFormatKindUnsigned}, kInt1{32, 1, cudaChannelFormatKindSigned},
    kUint4{32, 4, cudaChannelFormatKindUnsigned};

enum class Values { Random, Index256 };

inline std::vector<unsigned char> texels(const Format& format, size_t count, Values values,
                                         uint64_t seed) {
  std::vector<unsigned char> bytes(count * static_cast<size_t>(format.bytes()));
  const size_t width = static_cast<size_t>(format.bits) / 8;
  for (size_t i = 0; i < count * static_cast<size_t>(format.channels); ++i) {
    uint32_t bits = static_cast<uint32_t>(mix(seed + i));
    if (format.kind == cudaChannelFormatKindFloat) {
      const float value =
          values == Values::Index256 ? 256.0f * static_cast<float>(i) : between(seed + i, -4, 4);
      std::memcpy(&bits, &value, 4);
      // A half that is normal and not too large.
      if (format.bits == 16)
        bits =
            (bits >> 16 & 0x8000) | (static_cast<uint32_t>(10 + mix(i) % 8) << 10) | (bits & 0x3ff);
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

struct Array {
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmap = nullptr;
};

inline void fill(cudaArray_t array, const Format& format, cudaExtent extent, Values values,
                 uint64_t seed) {
  const cudaExtent whole = make_cudaExtent(extent.width, extent.height ? extent.height : 1,
                                           extent.depth ? extent.depth : 1);
  const auto bytes = texels(format, whole.width * whole.height * whole.depth, values, seed);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(bytes.data()),
                                    whole.width * static_cast<size_t>(format.bytes()), whole.width,
                                    whole.height);
  copy.dstArray = array;
  copy.extent = whole;
  copy.kind = cudaMemcpyHostToDevice;
  expect(cudaMemcpy3D(&copy), "copying texels");
}

inline Array make_array(const Format& format, cudaExtent extent, unsigned flags = 0,
                        Values values = Values::Random, unsigned levels = 0) {
  Array made;
  const cudaChannelFormatDesc description = format.description();
  if (levels == 0) {
    expect(cudaMalloc3DArray(&made.array, &description, extent, flags), "making an array");
    fill(made.array, format, extent, values, 1);
    return made;
  }
  expect(cudaMallocMipmappedArray(&made.mipmap, &description, extent, levels, flags), "mipmaps");
  for (unsigned level = 0; level < levels; ++level) {
    cudaArray_t array = nullptr;
    expect(cudaGetMipmappedArrayLevel(&array, made.mipmap, level), "a level");
    fill(array, format, make_cudaExtent(extent.width >> level, extent.height >> level, 0), values,
         1000 * level);
  }
  return made;
}

struct Sampling {
  cudaTextureAddressMode mode = cudaAddressModeClamp;
  bool linear = false, normalized = false, floats = false, srgb = false, linear_levels = false,
       seamless = false;
  float bias = 0, least = 0, largest = 0;
};

inline unsigned long long texture_of(const cudaResourceDesc& resource, const Sampling& how) {
  cudaTextureDesc texture{};
  for (auto& mode : texture.addressMode) mode = how.mode;
  texture.filterMode = how.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.readMode = how.floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.normalizedCoords = how.normalized;
  texture.sRGB = how.srgb;
  texture.seamlessCubemap = how.seamless;
  texture.mipmapFilterMode = how.linear_levels ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.mipmapLevelBias = how.bias;
  texture.minMipmapLevelClamp = how.least;
  texture.maxMipmapLevelClamp = how.largest;
  const float border[4] = {1.5f, -2.0f, 3.25f, 0.5f};
  std::memcpy(texture.borderColor, border, sizeof border);
  cudaTextureObject_t object = 0;
  expect(cudaCreateTextureObject(&object, &resource, &texture, nullptr), "a texture object");
  return object;
}
inline unsigned long long texture_of(const Array& array, const Sampling& how) {
  cudaResourceDesc resource{};
  resource.resType = array.mipmap ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
  if (array.mipmap)
    resource.res.mipmap.mipmap = array.mipmap;
  else
    resource.res.array.array = array.array;
  return texture_of(resource, how);
}
inline unsigned long long surface_of(const Array& array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array.array;
  cudaSurfaceObject_t object = 0;
  expect(cudaCreateSurfaceObject(&object, &resource), "a surface object");
  return object;
}

}  // namespace textures
