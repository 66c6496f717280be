// SPDX-License-Identifier: Apache-2.0

// What a launch may ask for, what is refused, and how attributes change that.
#include <cooperative_groups.h>

#include "check.cuh"

namespace cg = cooperative_groups;

__global__ void fill(int* out, int value) {
  extern __shared__ int scratch[];
  scratch[threadIdx.x] = value;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }
__global__ void grid_sum(int* values, int* total) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) values[blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned i = 0; i < gridDim.x; ++i) *total += values[i];
}
__global__ void ranks(int* out) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = cluster.block_rank() * 10 + cluster.num_blocks();
}
__global__ void nothing() {}

int main() {
  int* out;
  OK(cudaMalloc(&out, 4096 * sizeof(int)));
  int host[256];

  fill<<<2, 64, 64 * sizeof(int)>>>(out, 42);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(host, out, sizeof(int) * 128, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) CHECK(host[i] == 42);

  fill<<<1, 2048, 0>>>(out, 1);
  EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
  fill<<<0, 32>>>(out, 1);
  EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
  fill<<<dim3(1, 70000), 32>>>(out, 1);
  EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
  bounded<<<1, 256>>>(out);
  CHECK(cudaGetLastError() != cudaSuccess);
  OK(cudaDeviceSynchronize());

  fill<<<1, 64, 100 * 1024>>>(out, 1);
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  fill<<<1, 64, 100 * 1024>>>(out, 9);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  EXPECT(cudaErrorInvalidValue,
         cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024));
  (void)cudaGetLastError();
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, bounded));
  CHECK(attributes.maxThreadsPerBlock == 128);
  OK(cudaFuncGetAttributes(&attributes, fill));
  CHECK(attributes.maxDynamicSharedSizeBytes == 100 * 1024);

  int blocks = 0, best = 0, least = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0));
  CHECK(blocks == 2);
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, nothing, 0, 0));
  CHECK(best > 0 && least > 0);

  int *total, sum = 0, grid = 16;
  OK(cudaMalloc(&total, sizeof(int)));
  OK(cudaMemset(total, 0, sizeof(int)));
  void* arguments[] = {&out, &total};
  OK(cudaLaunchCooperativeKernel(grid_sum, dim3(grid), dim3(32), arguments, 0, nullptr));
  OK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
  CHECK(sum == 136);
  EXPECT(cudaErrorCooperativeLaunchTooLarge,
         cudaLaunchCooperativeKernel(grid_sum, dim3(1 << 20), dim3(1024), arguments, 0, nullptr));
  (void)cudaGetLastError();

  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute[2];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim = {4, 1, 1};
  attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[1].val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = 8;
  config.blockDim = 32;
  config.attrs = attribute;
  config.numAttrs = 2;
  OK(cudaLaunchKernelEx(&config, ranks, out));
  OK(cudaMemcpy(host, out, sizeof(int) * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(host[i] == i % 4 * 10 + 4);
  int clusters = 0;
  OK(cudaOccupancyMaxActiveClusters(&clusters, ranks, &config));
  CHECK(clusters > 0);
  config.gridDim = 6;
  CHECK(cudaLaunchKernelEx(&config, ranks, out) != cudaSuccess);
  config.gridDim = 32;
  attribute[0].val.clusterDim = {16, 1, 1};
  CHECK(cudaLaunchKernelEx(&config, ranks, out) != cudaSuccess);
  OK(cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  OK(cudaLaunchKernelEx(&config, ranks, out));
  (void)cudaGetLastError();
  OK(cudaDeviceSynchronize());
  OK(cudaFree(total));
  OK(cudaFree(out));
  return passed();
}
