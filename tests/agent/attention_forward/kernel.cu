// SPDX-License-Identifier: Apache-2.0

// Attention forward, a warp a query, two columns a lane, online softmax over the keys.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kHead = 64;
constexpr int kWarps = 4;

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                       __nv_bfloat16* o, float* lse, int rows, int tokens) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int first = row / tokens * tokens;
  const float scale = 0.125f;
  const float q0 = __bfloat162float(q[size_t(row) * kHead + lane]);
  const float q1 = __bfloat162float(q[size_t(row) * kHead + lane + 32]);
  float largest = -INFINITY, sum = 0, o0 = 0, o1 = 0;
  for (int key = first; key < first + tokens; ++key) {
    float s = q0 * __bfloat162float(k[size_t(key) * kHead + lane]) +
              q1 * __bfloat162float(k[size_t(key) * kHead + lane + 32]);
    for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(0xffffffff, s, step);
    s *= scale;
    const float next = fmaxf(largest, s), correction = expf(largest - next), p = expf(s - next);
    largest = next;
    sum = sum * correction + p;
    o0 = o0 * correction + p * __bfloat162float(v[size_t(key) * kHead + lane]);
    o1 = o1 * correction + p * __bfloat162float(v[size_t(key) * kHead + lane + 32]);
  }
  o[size_t(row) * kHead + lane] = __float2bfloat16(o0 / sum);
  o[size_t(row) * kHead + lane + 32] = __float2bfloat16(o1 / sum);
  if (lane == 0) lse[row] = largest + logf(sum);
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
         tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  const int rows = lse.numel(), tokens = q.size(2);
  attend<<<(rows + kWarps - 1) / kWarps, 32 * kWarps, 0, weft::stream_of(q)>>>(
      weft::elements<const __nv_bfloat16>(q), weft::elements<const __nv_bfloat16>(k),
      weft::elements<const __nv_bfloat16>(v), weft::elements<__nv_bfloat16>(o),
      weft::elements<float>(lse), rows, tokens);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
