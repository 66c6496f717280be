// SPDX-License-Identifier: Apache-2.0

// Every kind of memory and copy, and what the library says to wrong ones.
#include <cstring>
#include <vector>

#include "check.cuh"

__device__ int table[16];
__constant__ float scale[2];
__managed__ int shared_number = 7;

__global__ void bump() {
  table[threadIdx.x] += static_cast<int>(scale[threadIdx.x % 2]);
  if (threadIdx.x == 0) shared_number += 1;
}

void symbols() {
  const float values[2] = {10, 20};
  OK(cudaMemcpyToSymbol(scale, values, sizeof values));
  int start[16], end[16];
  for (int i = 0; i < 16; ++i) start[i] = i;
  OK(cudaMemcpyToSymbol(table, start, sizeof start));
  CHECK(shared_number == 7);
  bump<<<1, 16>>>();
  OK(cudaDeviceSynchronize());
  CHECK(shared_number == 8);
  OK(cudaMemcpyFromSymbol(end, table, sizeof end));
  for (int i = 0; i < 16; ++i) CHECK(end[i] == i + (i % 2 ? 20 : 10));
  OK(cudaMemcpyFromSymbol(end, table, 2 * sizeof(int), 4 * sizeof(int)));
  CHECK(end[0] == 14 && end[1] == 25);
  void* address = nullptr;
  size_t size = 0;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  CHECK(size == sizeof start);
  OK(cudaMemcpy(end, address, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(end[0] == 10);
  EXPECT(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, start, sizeof start, 4));
  (void)cudaGetLastError();
}

void pitched() {
  const size_t width = 100, height = 7;
  std::vector<unsigned char> in(width * height), out(width * height);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  char* device;
  size_t pitch = 0;
  OK(cudaMallocPitch(&device, &pitch, width, height));
  CHECK(pitch >= width && pitch % 256 == 0);
  OK(cudaMemset2D(device, pitch, 0xee, width, height));
  OK(cudaMemcpy2D(device, pitch, in.data(), width, width, height, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(out.data(), width, device, pitch, width, height, cudaMemcpyDeviceToHost));
  CHECK(in == out);
  OK(cudaFree(device));
}

void volumes() {
  const cudaExtent extent = make_cudaExtent(5 * sizeof(int), 4, 3);
  cudaPitchedPtr device;
  OK(cudaMalloc3D(&device, extent));
  OK(cudaMemset3D(device, 0, extent));
  std::vector<int> in(60), out(60);
  for (int i = 0; i < 60; ++i) in[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), 5 * sizeof(int), 5, 4);
  copy.dstPtr = device;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  copy.srcPtr = device;
  copy.dstPtr = make_cudaPitchedPtr(out.data(), 5 * sizeof(int), 5, 4);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  CHECK(in == out);
  OK(cudaFree(device.ptr));
}

void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, 8, 4));
  float in[32], out[32];
  for (int i = 0; i < 32; ++i) in[i] = 0.5f * i;
  OK(cudaMemcpy2DToArray(array, 0, 0, in, 32, 32, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(out, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  CHECK(!std::memcmp(in, out, sizeof in));
  cudaChannelFormatDesc back;
  cudaExtent extent;
  OK(cudaArrayGetInfo(&back, &extent, nullptr, array));
  CHECK(back.x == 32 && back.f == cudaChannelFormatKindFloat);
  CHECK(extent.width == 8 && extent.height == 4);
  OK(cudaFreeArray(array));
}

void host_memory() {
  int *pinned, *device, *managed;
  OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&device, pinned, 0));
  unsigned flags = 0;
  OK(cudaHostGetFlags(&flags, pinned));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost);
  OK(cudaFreeHost(pinned));
  OK(cudaMallocManaged(&managed, 4096));
  managed[3] = 5;
  OK(cudaPointerGetAttributes(&attributes, managed));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaFree(managed));
  static int own[1024];
  OK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  EXPECT(cudaErrorHostMemoryAlreadyRegistered,
         cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  OK(cudaHostUnregister(own));
  EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
  OK(cudaPointerGetAttributes(&attributes, own));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  (void)cudaGetLastError();
}

void mistakes() {
  size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  CHECK(free <= total && free > 0);
  void* pointer = nullptr;
  EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&pointer, total * 2));
  EXPECT(cudaErrorMemoryAllocation, cudaGetLastError());
  OK(cudaMalloc(&pointer, 64));
  int host[32] = {};
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(pointer, host, 128, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy(pointer, host, 64, static_cast<cudaMemcpyKind>(9)));
  OK(cudaMemset(pointer, 1, 64));
  OK(cudaMemcpy(host, pointer, 64, cudaMemcpyDefault));
  CHECK(host[15] == 0x01010101 && host[16] == 0);
  OK(cudaFree(pointer));
  EXPECT(cudaErrorInvalidValue, cudaFree(pointer));
  OK(cudaFree(nullptr));
  (void)cudaGetLastError();
}

void pools() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int* pointer = nullptr;
  OK(cudaMallocAsync(&pointer, 1024, stream));
  OK(cudaMemsetAsync(pointer, 0, 1024, stream));
  OK(cudaFreeAsync(pointer, stream));
  OK(cudaStreamSynchronize(stream));
  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20, back = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &back));
  CHECK(back == threshold);
  OK(cudaStreamDestroy(stream));
}

int main() {
  symbols();
  pitched();
  volumes();
  arrays();
  host_memory();
  mistakes();
  pools();
  return passed();
}
