// SPDX-License-Identifier: Apache-2.0

// Grouped-query attention for one query a sequence over paged keys: a block of 128 threads a query and head, a
// thread a column, two passes over the keys: the largest score, then the sums.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kHead = 128;
constexpr int kMostKeys = 1024;

__global__ void attend(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                       const int* offsets, const int* pages, float scale, __nv_bfloat16* o,
                       float* lse, int heads, int key_heads) {
  __shared__ float scores[kMostKeys];
  const int sequence = blockIdx.x, head = blockIdx.y, column = threadIdx.x;
  const int key_head = head / (heads / key_heads);
  const int first = offsets[sequence], count = offsets[sequence + 1] - first;
  const __nv_bfloat16* query = q + (size_t(sequence) * heads + head) * kHead;
  for (int j = column; j < count; j += kHead) {
    const __nv_bfloat16* key = k + (size_t(pages[first + j]) * key_heads + key_head) * kHead;
    float sum = 0;
    for (int i = 0; i < kHead; ++i) sum += __bfloat162float(query[i]) * __bfloat162float(key[i]);
    scores[j] = sum * scale;
  }
  __syncthreads();
  float largest = -INFINITY, sum = 0, out = 0;
  for (int j = 0; j < count; ++j) largest = fmaxf(largest, scores[j]);
  for (int j = 0; j < count; ++j) {
    const float p = expf(scores[j] - largest);
    sum += p;
    out += p * __bfloat162float(v[(size_t(pages[first + j]) * key_heads + key_head) * kHead + column]);
  }
  o[(size_t(sequence) * heads + head) * kHead + column] = __float2bfloat16(out / sum);
  if (column == 0) lse[size_t(sequence) * heads + head] = (largest + logf(sum)) * 1.44269504f;
}

using View = tvm::ffi::TensorView;

void run(View q, View k, View v, View offsets, View pages, float scale, View o, View lse) {
  const dim3 grid(q.size(0), q.size(1));
  attend<<<grid, kHead, 0, weft::stream_of(q)>>>(
      weft::elements<const __nv_bfloat16>(q), weft::elements<const __nv_bfloat16>(k),
      weft::elements<const __nv_bfloat16>(v), weft::elements<const int>(offsets),
      weft::elements<const int>(pages), scale, weft::elements<__nv_bfloat16>(o),
      weft::elements<float>(lse), q.size(1), k.size(2));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
