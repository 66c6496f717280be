// SPDX-License-Identifier: Apache-2.0

// Attention backward in two launches: a thread a query for dQ, a thread a key for dK and dV. The scores are
// computed again from L. delta = rowsum(dO * O).
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kHead = 64;
constexpr float kScale = 0.125f;

struct Tensors {
  const __nv_bfloat16 *q, *k, *v, *o, *d_o;
  const float* l;
  __nv_bfloat16 *dq, *dk, *dv;
  int rows, tokens;
};

__device__ float dot(const __nv_bfloat16* x, const __nv_bfloat16* y) {
  float sum = 0;
  for (int i = 0; i < kHead; ++i) sum += __bfloat162float(x[i]) * __bfloat162float(y[i]);
  return sum;
}

__global__ void queries(const Tensors t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= t.rows) return;
  const size_t at = size_t(i) * kHead;
  const int first = i / t.tokens * t.tokens;
  const float delta = dot(t.d_o + at, t.o + at);
  float gradient[kHead] = {};
  for (int j = first; j < first + t.tokens; ++j) {
    const size_t key = size_t(j) * kHead;
    const float p = expf(dot(t.q + at, t.k + key) * kScale - t.l[i]);
    const float ds = p * (dot(t.d_o + at, t.v + key) - delta) * kScale;
    for (int c = 0; c < kHead; ++c) gradient[c] += ds * __bfloat162float(t.k[key + c]);
  }
  for (int c = 0; c < kHead; ++c) t.dq[at + c] = __float2bfloat16(gradient[c]);
}

__global__ void keys(const Tensors t) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= t.rows) return;
  const size_t key = size_t(j) * kHead;
  const int first = j / t.tokens * t.tokens;
  float dk[kHead] = {}, dv[kHead] = {};
  for (int i = first; i < first + t.tokens; ++i) {
    const size_t at = size_t(i) * kHead;
    const float p = expf(dot(t.q + at, t.k + key) * kScale - t.l[i]);
    const float delta = dot(t.d_o + at, t.o + at);
    const float ds = p * (dot(t.d_o + at, t.v + key) - delta) * kScale;
    for (int c = 0; c < kHead; ++c) {
      dk[c] += ds * __bfloat162float(t.q[at + c]);
      dv[c] += p * __bfloat162float(t.d_o[at + c]);
    }
  }
  for (int c = 0; c < kHead; ++c) {
    t.dk[key + c] = __float2bfloat16(dk[c]);
    t.dv[key + c] = __float2bfloat16(dv[c]);
  }
}

using View = tvm::ffi::TensorView;

void run(View q, View k, View v, View o, View d_o, View l, View dq, View dk, View dv) {
  using bf16 = __nv_bfloat16;
  const Tensors t{weft::elements<const bf16>(q),  weft::elements<const bf16>(k),
                  weft::elements<const bf16>(v),  weft::elements<const bf16>(o),
                  weft::elements<const bf16>(d_o), weft::elements<const float>(l),
                  weft::elements<bf16>(dq),       weft::elements<bf16>(dk),
                  weft::elements<bf16>(dv),       static_cast<int>(l.numel()),
                  static_cast<int>(q.size(2))};
  queries<<<(t.rows + 63) / 64, 64, 0, weft::stream_of(q)>>>(t);
  keys<<<(t.rows + 63) / 64, 64, 0, weft::stream_of(q)>>>(t);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
