// SPDX-License-Identifier: Apache-2.0

// Arrays, texture and surface objects through the runtime: what is asked for comes back, what
// cannot be is refused, and kernels see what copies wrote.
#include <cstring>

#include "check.cuh"

__global__ void read_texture(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
}
__global__ void read_level(cudaTextureObject_t texture, float level, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 0.1f, 0.1f, level);
}
__global__ void read_layer(cudaTextureObject_t texture, int layer, uchar4* out) {
  out[threadIdx.x] = tex1DLayered<uchar4>(texture, threadIdx.x + 0.5f, layer);
}
__global__ void fetch(cudaTextureObject_t texture, int2* out) {
  out[threadIdx.x] = tex1Dfetch<int2>(texture, threadIdx.x);
}
__global__ void write_surface(cudaSurfaceObject_t surface) {
  surf2Dwrite(static_cast<short>(10 * threadIdx.y + threadIdx.x), surface, 2 * threadIdx.x,
              threadIdx.y);
}
__global__ void add_one(cudaSurfaceObject_t surface) {
  short value;
  surf2Dread(&value, surface, 2 * threadIdx.x, threadIdx.y);
  surf2Dwrite(static_cast<short>(value + 1), surface, 2 * threadIdx.x, threadIdx.y);
}

static cudaResourceDesc array_resource(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static void plane() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array, copy;
  OK(cudaMallocArray(&array, &format, 4, 2));
  OK(cudaMallocArray(&copy, &format, 4, 2));
  float host[2][5];  // rows of 20 bytes, of which 16 are copied
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 5; ++x) host[y][x] = static_cast<float>(10 * y + x);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpy2DToArrayAsync(array, 0, 0, host, 20, 16, 2, cudaMemcpyHostToDevice, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy2DArrayToArray(copy, 0, 0, array, 0, 0, 16, 2, cudaMemcpyDeviceToDevice));

  cudaTextureDesc wanted{};
  wanted.addressMode[0] = cudaAddressModeBorder;
  wanted.maxAnisotropy = 3;
  const cudaResourceDesc resource = array_resource(copy);
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &wanted, nullptr));
  cudaTextureDesc told{};
  OK(cudaGetTextureObjectTextureDesc(&told, texture));
  CHECK(std::memcmp(&told, &wanted, sizeof told) == 0);
  cudaResourceDesc behind{};
  OK(cudaGetTextureObjectResourceDesc(&behind, texture));
  CHECK(behind.resType == cudaResourceTypeArray && behind.res.array.array == copy);

  float *out, result[8], back[2][4];
  OK(cudaMalloc(&out, sizeof result));
  read_texture<<<1, 8>>>(texture, out);
  OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(result[i] == host[i / 4][i % 4]);
  OK(cudaMemcpy2DFromArray(back, 16, copy, 4, 1, 12, 1, cudaMemcpyDeviceToHost));
  CHECK(back[0][0] == 11 && back[0][2] == 13);
  OK(cudaDestroyTextureObject(texture));
  EXPECT(cudaErrorInvalidValue, cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  OK(cudaFreeArray(copy));
}

static void refusals() {
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  const cudaChannelFormatDesc words = cudaCreateChannelDesc<unsigned>();
  cudaArray_t small, wide;
  OK(cudaMallocArray(&small, &bytes, 4, 4));
  OK(cudaMallocArray(&wide, &words, 4, 4));
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  cudaResourceDesc resource = array_resource(small);
  EXPECT(cudaErrorInvalidFilterSetting,
         cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  how.readMode = cudaReadModeNormalizedFloat;
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  OK(cudaDestroyTextureObject(texture));
  resource = array_resource(wide);
  EXPECT(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaArray_t cube;
  EXPECT(cudaErrorInvalidValue,
         cudaMalloc3DArray(&cube, &bytes, make_cudaExtent(4, 4, 5), cudaArrayCubemap));
}

static void levels_and_layers() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmap;
  OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(4, 4, 0), 3));
  for (unsigned level = 0; level < 3; ++level) {
    cudaArray_t array;
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    cudaExtent extent;
    OK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    CHECK(extent.width == 4u >> level && extent.height == 4u >> level);
    float values[16];
    for (float& value : values) value = static_cast<float>(100 * level);
    OK(cudaMemcpy2DToArray(array, 0, 0, values, extent.width * 4, extent.width * 4, extent.height,
                           cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc how{};
  how.normalizedCoords = 1;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = 2;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float *out, result;
  OK(cudaMalloc(&out, sizeof result));
  read_level<<<1, 1>>>(texture, 1.5f, out);
  OK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 150);
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 2;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  cudaTextureObject_t narrow;
  OK(cudaCreateTextureObject(&narrow, &resource, &how, &view));
  read_level<<<1, 1>>>(narrow, 0.0f, out);
  OK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 100);

  const cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
  cudaArray_t layers;
  OK(cudaMalloc3DArray(&layers, &four, make_cudaExtent(2, 0, 3), cudaArrayLayered));
  unsigned char bytes[3][2][4];
  for (int i = 0; i < 24; ++i) (&bytes[0][0][0])[i] = static_cast<unsigned char>(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(bytes, 8, 2, 1);
  copy.dstArray = layers;
  copy.extent = make_cudaExtent(2, 1, 3);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  const cudaTextureDesc plain{};
  const cudaResourceDesc layered = array_resource(layers);
  OK(cudaCreateTextureObject(&texture, &layered, &plain, nullptr));
  uchar4 *texels, seen[2];
  OK(cudaMalloc(&texels, sizeof seen));
  read_layer<<<1, 2>>>(texture, 2, texels);
  OK(cudaMemcpy(seen, texels, sizeof seen, cudaMemcpyDeviceToHost));
  CHECK(seen[0].x == 16 && seen[1].w == 23);
}

static void memory_and_surfaces() {
  int2 host[4] = {{1, -1}, {2, -2}, {3, -3}, {4, -4}}, seen[4];
  int2 *memory, *out;
  OK(cudaMalloc(&memory, sizeof host));
  OK(cudaMalloc(&out, sizeof host));
  OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {memory, cudaCreateChannelDesc<int2>(), 3 * sizeof(int2)};
  const cudaTextureDesc plain{};
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &linear, &plain, nullptr));
  fetch<<<1, 4>>>(texture, out);
  OK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
  CHECK(seen[2].x == 3 && seen[2].y == -3 && seen[3].x == 0 && seen[3].y == 0);

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short>();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, 8, 3, cudaArraySurfaceLoadStore));
  const cudaResourceDesc resource = array_resource(array);
  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  write_surface<<<1, dim3(8, 3)>>>(surface);
  add_one<<<1, dim3(8, 3)>>>(surface);
  short values[3][8];
  OK(cudaMemcpy2DFromArray(values, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 8; ++x) CHECK(values[y][x] == 10 * y + x + 1);
  OK(cudaDestroySurfaceObject(surface));
}

int main() {
  plane();
  refusals();
  levels_and_layers();
  memory_and_surfaces();
  return passed();
}
