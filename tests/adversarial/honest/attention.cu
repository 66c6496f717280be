// SPDX-License-Identifier: Apache-2.0

// Attention forward for one head, one thread a query: the plainest program that is right.
#include <cuda_bf16.h>
#include <math_constants.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

constexpr int kMostWidth = 128;

__global__ void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                          __nv_bfloat16* o, float* lse, int tokens, int width, float scale) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= tokens) return;
  float largest = -CUDART_INF_F, sum = 0, mean[kMostWidth] = {};
  for (int key = 0; key < tokens; ++key) {
    float score = 0;
    for (int i = 0; i < width; ++i)
      score += __bfloat162float(q[query * width + i]) * __bfloat162float(k[key * width + i]);
    score *= scale;
    const float next = fmaxf(largest, score);
    const float keep = expf(largest - next), weight = expf(score - next);
    for (int i = 0; i < width; ++i)
      mean[i] = mean[i] * keep + weight * __bfloat162float(v[key * width + i]);
    sum = sum * keep + weight;
    largest = next;
  }
  for (int i = 0; i < width; ++i) o[query * width + i] = __float2bfloat16(mean[i] / sum);
  lse[query] = largest + logf(sum);
}

// With one sequence and one head, every order of the axes is the same memory.
void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
         tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  const int width = static_cast<int>(q.size(-1));
  const int tokens = static_cast<int>(q.numel()) / width;
  const auto stream = static_cast<cudaStream_t>(
      TVMFFIEnvGetStream(q.device().device_type, q.device().device_id));
  attention<<<(tokens + 31) / 32, 32, 0, stream>>>(
      static_cast<const __nv_bfloat16*>(q.data_ptr()),
      static_cast<const __nv_bfloat16*>(k.data_ptr()),
      static_cast<const __nv_bfloat16*>(v.data_ptr()), static_cast<__nv_bfloat16*>(o.data_ptr()),
      static_cast<float*>(lse.data_ptr()), tokens, width, 1.0f / sqrtf(static_cast<float>(width)));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
