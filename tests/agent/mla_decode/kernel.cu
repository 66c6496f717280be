// SPDX-License-Identifier: Apache-2.0

// Multi-head latent attention, one query a sequence: keys of 512 compressed and 64 positional elements, shared by
// all heads; the compressed part is the value, too. A block of 512 threads a query and head, a thread a column.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kLatent = 512, kPosition = 64, kMostKeys = 1024;

__device__ float dot(const __nv_bfloat16* x, const __nv_bfloat16* y, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += __bfloat162float(x[i]) * __bfloat162float(y[i]);
  return sum;
}

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* q_pe, const __nv_bfloat16* k,
                       const __nv_bfloat16* k_pe, const int* offsets, const int* pages, float scale,
                       __nv_bfloat16* o, float* lse, int heads) {
  __shared__ float scores[kMostKeys];
  const size_t row = size_t(blockIdx.x) * heads + blockIdx.y;
  const int first = offsets[blockIdx.x], count = offsets[blockIdx.x + 1] - first;
  for (int j = threadIdx.x; j < count; j += blockDim.x) {
    const size_t page = pages[first + j];
    scores[j] = scale * (dot(q + row * kLatent, k + page * kLatent, kLatent) +
                         dot(q_pe + row * kPosition, k_pe + page * kPosition, kPosition));
  }
  __syncthreads();
  float largest = -INFINITY, sum = 0, out = 0;
  for (int j = 0; j < count; ++j) largest = fmaxf(largest, scores[j]);
  for (int j = 0; j < count; ++j) {
    const float p = expf(scores[j] - largest);
    sum += p;
    out += p * __bfloat162float(k[size_t(pages[first + j]) * kLatent + threadIdx.x]);
  }
  o[row * kLatent + threadIdx.x] = __float2bfloat16(out / sum);
  if (threadIdx.x == 0) lse[row] = (largest + logf(sum)) * 1.44269504f;
}

using View = tvm::ffi::TensorView;

void run(View q, View q_pe, View k, View k_pe, View offsets, View pages, float scale, View o,
         View lse) {
  using bf16 = __nv_bfloat16;
  attend<<<dim3(q.size(0), q.size(1)), kLatent, 0, weft::stream_of(q)>>>(
      weft::elements<const bf16>(q), weft::elements<const bf16>(q_pe),
      weft::elements<const bf16>(k), weft::elements<const bf16>(k_pe),
      weft::elements<const int>(offsets), weft::elements<const int>(pages), scale,
      weft::elements<bf16>(o), weft::elements<float>(lse), q.size(1));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
