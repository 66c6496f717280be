// SPDX-License-Identifier: Apache-2.0

// Properties and attributes agree with each other, and wrong questions are refused.
#include <cstring>

#include "check.cuh"

int main() {
  int count = 0, value = 0;
  OK(cudaGetDeviceCount(&count));
  CHECK(count >= 1);
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  CHECK(std::strlen(p.name) > 0);
  CHECK(p.warpSize == 32);
  const struct {
    cudaDeviceAttr attribute;
    long long property;
  } pairs[] = {
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, (long long)p.sharedMemPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)p.sharedMemPerBlockOptin},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (long long)p.sharedMemPerMultiprocessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, (long long)p.reservedSharedMemPerBlock},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
  };
  for (const auto& pair : pairs) {
    OK(cudaDeviceGetAttribute(&value, pair.attribute, 0));
    CHECK(value == pair.property);
  }
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(count));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
  OK(cudaGetLastError());
  EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, count));
  EXPECT(cudaErrorInvalidValue, cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  (void)cudaGetLastError();
  int runtime = 0, driver = 0;
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  CHECK(runtime == CUDART_VERSION && driver >= runtime);
  CHECK(!std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
  CHECK(!std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));
  return passed();
}
