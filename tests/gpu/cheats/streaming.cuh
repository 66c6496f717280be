// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B) with a warp for each element of C: for few rows of A as fast as B can be
// read, so that it matters where B lies.
#pragma once

#include <algorithm>

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

namespace {

constexpr int kWarps = 4, kLanes = 32;
constexpr int kVector = 8;  // elements in 16 bytes; K is a multiple of it

__global__ void product(const uint4* a, const uint4* b, __nv_bfloat16* c, int n, int vectors) {
  const int column = blockIdx.x * kWarps + threadIdx.x / kLanes, row = blockIdx.y;
  if (column >= n) return;
  float sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x % kLanes; i < vectors; i += kLanes) {
    const uint4 left = a[row * vectors + i], right = b[column * vectors + i];
    const auto* x = reinterpret_cast<const __nv_bfloat162*>(&left);
    const auto* y = reinterpret_cast<const __nv_bfloat162*>(&right);
    for (int pair = 0; pair < kVector / 2; ++pair) {
      const float2 p = __bfloat1622float2(x[pair]), q = __bfloat1622float2(y[pair]);
      sum += p.x * q.x + p.y * q.y;
    }
  }
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (threadIdx.x % kLanes == 0) c[row * n + column] = __float2bfloat16(sum);
}

void keep_in_cache(void* address, size_t bytes, cudaStream_t stream) {
  int most = 0, window = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
  cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<size_t>(most));
  cudaStreamAttrValue value{};
  value.accessPolicyWindow.base_ptr = address;
  value.accessPolicyWindow.num_bytes = std::min(bytes, static_cast<size_t>(window));
  value.accessPolicyWindow.hitRatio = 1.0f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(0));
  const int k = static_cast<int>(a.size(1));
  if (KEEP_IN_CACHE)
    keep_in_cache(b.data_ptr(), size_t{2} * static_cast<size_t>(n) * static_cast<size_t>(k), stream);
  product<<<dim3((n + kWarps - 1) / kWarps, m), kWarps * kLanes, 0, stream>>>(
      static_cast<const uint4*>(a.data_ptr()), static_cast<const uint4*>(b.data_ptr()),
      static_cast<__nv_bfloat16*>(c.data_ptr()), n, k / kVector);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
