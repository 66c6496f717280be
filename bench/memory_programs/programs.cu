// SPDX-License-Identifier: Apache-2.0

// Programs whose memory is measured: each allocates and touches what it says, checks its answer and
// prints the bytes that it holds at once on the device and on the host. Ordinary CUDA, linked to
// nothing of ours.
//
//   programs small|large|many|blocks|wgmma [GEMM_WGMMA.ptx]

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/cudart/check.cuh"

namespace {

uint64_t held = 0;  // bytes

template <typename T>
T* device_array(uint64_t count) {
  void* pointer = nullptr;
  OK(cudaMalloc(&pointer, count * sizeof(T)));
  held += count * sizeof(T);
  return static_cast<T*>(pointer);
}

__global__ void scale(float4* values, uint64_t count, float by) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float4 v = values[i];
    values[i] = {v.x * by, v.y * by, v.z * by, v.w * by};
  }
}

// What the library itself takes: one kernel over a few bytes.
void small() {
  constexpr uint64_t kCount = 1024;
  float4* values = device_array<float4>(kCount);
  OK(cudaMemset(values, 0, kCount * sizeof(float4)));
  scale<<<4, 128>>>(values, kCount, 2.0f);
  OK(cudaDeviceSynchronize());
}

// One allocation of 2 GiB, all of it written and read, and 256 MiB on the host.
void large() {
  constexpr uint64_t kCount = uint64_t{2} << 26, kHost = uint64_t{256} << 20;
  float4* values = device_array<float4>(kCount);
  std::vector<float> host(kHost / sizeof(float), 1.5f);
  held += kHost;
  for (uint64_t at = 0; at < kCount * sizeof(float4); at += kHost)
    OK(cudaMemcpy(reinterpret_cast<char*>(values) + at, host.data(), kHost,
                  cudaMemcpyHostToDevice));
  scale<<<1024, 256>>>(values, kCount, 2.0f);
  OK(cudaMemcpy(host.data(), values + kCount - kHost / sizeof(float4), kHost,
                cudaMemcpyDeviceToHost));
  for (const float value : host) CHECK(value == 3.0f);
}

// 40000 allocations of 8 KiB alive at once.
void many() {
  constexpr uint64_t kBytes = 8192, kAllocations = 40'000;
  std::vector<char*> pointers;
  for (uint64_t i = 0; i < kAllocations; ++i) {
    pointers.push_back(device_array<char>(kBytes));
    OK(cudaMemset(pointers.back(), static_cast<int>(i % 100), kBytes));
  }
  char last = 0;
  OK(cudaMemcpy(&last, pointers.back() + kBytes - 1, 1, cudaMemcpyDeviceToHost));
  CHECK(last == (kAllocations - 1) % 100);
}

// As many large blocks as the device holds, all of them alive at the barrier of the grid.
__global__ void meet(unsigned* sums) {
  extern __shared__ unsigned values[];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned local[64];
  for (int i = 0; i < 64; ++i) local[i] = values[(threadIdx.x * 7 + i) % blockDim.x];
  cooperative_groups::this_grid().sync();
  unsigned sum = 0;
  for (int i = 0; i < 64; ++i) sum += local[(i + blockIdx.x) % 64];
  atomicAdd(sums + blockIdx.x, sum);
}
void blocks() {
  constexpr unsigned kThreads = 1024, kShared = 200 * 1024;
  int multiprocessors = 0;
  OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  auto* sums = device_array<unsigned>(static_cast<uint64_t>(multiprocessors));
  OK(cudaMemset(sums, 0, multiprocessors * sizeof(unsigned)));
  OK(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  void* arguments[] = {&sums};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meet), multiprocessors, kThreads,
                                 arguments, kShared, nullptr));
  std::vector<unsigned> host(static_cast<size_t>(multiprocessors));
  OK(cudaMemcpy(host.data(), sums, host.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  unsigned expected = 0;
  for (unsigned t = 0; t < kThreads; ++t)
    for (unsigned i = 0; i < 64; ++i) expected += (t * 7 + i) % kThreads;
  for (const unsigned sum : host) CHECK(sum == expected);
}

CUtensorMap bf16_map(void* base, uint64_t rows, uint64_t columns, uint32_t box_rows) {
  CUtensorMap map;
  const cuuint64_t extents[] = {columns, rows}, strides[] = {columns * 2};
  const cuuint32_t box[] = {64, box_rows}, steps[] = {1, 1};
  OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, base, extents, strides, box,
                            steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// A whole wgmma kernel (kernels/hopper/gemm_wgmma.cu) from its PTX: 1024 cubed, ones times twos.
void wgmma(const char* ptx) {
  constexpr uint64_t kSize = 1024;
  constexpr uint32_t kShared = 230'464;
  auto* a = device_array<uint16_t>(kSize * kSize);
  auto* b = device_array<uint16_t>(kSize * kSize);
  auto* c = device_array<uint16_t>(kSize * kSize);
  std::vector<uint16_t> host(kSize * kSize, 0x3f80);  // 1 in bf16
  held += kSize * kSize * 2;
  OK(cudaMemcpy(a, host.data(), kSize * kSize * 2, cudaMemcpyHostToDevice));
  host.assign(kSize * kSize, 0x4000);  // 2
  OK(cudaMemcpy(b, host.data(), kSize * kSize * 2, cudaMemcpyHostToDevice));
  CUmodule module = nullptr;
  OK(cuModuleLoad(&module, ptx));
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module));
  std::vector<CUfunction> functions(count);
  OK(cuModuleEnumerateFunctions(functions.data(), count, module));
  CUfunction kernel = nullptr;
  for (CUfunction function : functions) {
    const char* name = nullptr;
    OK(cuFuncGetName(&name, function));
    if (std::strstr(name, "gemm_wgmmaILi2E") != nullptr) kernel = function;
  }
  CHECK(kernel != nullptr);
  OK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kShared));
  CUtensorMap map_a = bf16_map(a, kSize, kSize, 128), map_b = bf16_map(b, kSize, kSize, 128),
              map_c = bf16_map(c, kSize, kSize, 64);
  int rows = kSize / 256, columns = kSize / 256, steps = kSize / 64;
  void* arguments[] = {&map_a, &map_b, &map_c, &rows, &columns, &steps};
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = 2;
  cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  CUlaunchConfig launch{};
  launch.gridDimX = static_cast<unsigned>(rows * columns * 2);
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.blockDimX = 384;
  launch.sharedMemBytes = kShared;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  OK(cuLaunchKernelEx(&launch, kernel, arguments, nullptr));
  OK(cudaMemcpy(host.data(), c, kSize * kSize * 2, cudaMemcpyDeviceToHost));
  for (const uint16_t value : host) CHECK(value == 0x4500);  // 2048
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  OK(cudaFree(nullptr));
  if (std::strcmp(name, "small") == 0)
    small();
  else if (std::strcmp(name, "large") == 0)
    large();
  else if (std::strcmp(name, "many") == 0)
    many();
  else if (std::strcmp(name, "blocks") == 0)
    blocks();
  else if (std::strcmp(name, "wgmma") == 0 && argc > 2)
    wgmma(argv[2]);
  else
    return 2;
  std::printf("held %llu\n", static_cast<unsigned long long>(held));
  return 0;
}
