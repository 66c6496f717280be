// SPDX-License-Identifier: Apache-2.0

// Gated delta net in the plainest way: a block for one value head of one sequence, a thread for one
// row of its state, which stays in registers and local memory from token to token:
//
//   S = g S;  u = beta (v - S k);  S = S + u k';  output = scale S q
//
// WEFT_FAULT_DECAY and WEFT_FAULT_POOL plant one mistake each, for the judge to find.
#pragma once

#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

#include <cmath>

namespace serving {

constexpr int kHead = 128;

struct Net {
  const __nv_bfloat16 *q, *k, *v;
  const float* state;  // before
  const float *a_log, *dt_bias;
  const __nv_bfloat16 *a, *b;
  float scale;
  int key_heads, heads;
  const int64_t* offsets;  // of sequences; null: `length` tokens each
  int length;
  const int* pool;  // state of each sequence; null: its own number
  __nv_bfloat16* output;
  float* new_state;  // null: not asked for
};

__global__ void __launch_bounds__(kHead) follow(const Net net) {
  __shared__ float q[kHead], k[kHead];
  const int sequence = blockIdx.x, head = blockIdx.y, row = threadIdx.x;
  const int key_head = head / (net.heads / net.key_heads);
  const int64_t first = net.offsets ? net.offsets[sequence] : int64_t{sequence} * net.length;
  const int64_t last = net.offsets ? net.offsets[sequence + 1] : first + net.length;
#ifdef WEFT_FAULT_POOL
  const int64_t from = sequence;
#else
  const int64_t from = net.pool ? net.pool[sequence] : sequence;
#endif
  float s[kHead];
  for (int j = 0; j < kHead; ++j)
    s[j] = net.state[((from * net.heads + head) * kHead + row) * kHead + j];
  for (int64_t t = first; t < last; ++t) {
    __syncthreads();
    q[row] = __bfloat162float(net.q[(t * net.key_heads + key_head) * kHead + row]);
    k[row] = __bfloat162float(net.k[(t * net.key_heads + key_head) * kHead + row]);
    __syncthreads();
    const float x = __bfloat162float(net.a[t * net.heads + head]) + net.dt_bias[head];
    const float softplus = x > 20 ? x : log1pf(expf(x));
#ifdef WEFT_FAULT_DECAY
    const float g = 1 + 0 * softplus;
#else
    const float g = expf(-expf(net.a_log[head]) * softplus);
#endif
    const float beta = 1 / (1 + expf(-__bfloat162float(net.b[t * net.heads + head])));
    float known = 0;
    for (int j = 0; j < kHead; ++j) {
      s[j] *= g;
      known = fmaf(s[j], k[j], known);
    }
    const float v = __bfloat162float(net.v[(t * net.heads + head) * kHead + row]);
    const float update = beta * (v - known);
    float sum = 0;
    for (int j = 0; j < kHead; ++j) {
      s[j] = fmaf(update, k[j], s[j]);
      sum = fmaf(s[j], q[j], sum);
    }
    net.output[(t * net.heads + head) * kHead + row] = __float2bfloat16(net.scale * sum);
  }
  if (net.new_state == nullptr) return;
  for (int j = 0; j < kHead; ++j) {
    net.new_state[((int64_t{sequence} * net.heads + head) * kHead + row) * kHead + j] = s[j];
  }
}

inline Net net_of(const tvm::ffi::TensorView& q, const tvm::ffi::TensorView& k,
                  const tvm::ffi::TensorView& v, const tvm::ffi::TensorView& state,
                  const tvm::ffi::TensorView& a_log, const tvm::ffi::TensorView& a,
                  const tvm::ffi::TensorView& dt_bias, const tvm::ffi::TensorView& b, float scale,
                  const tvm::ffi::TensorView& output) {
  using weft::elements;
  Net net{};
  net.q = elements<const __nv_bfloat16>(q);
  net.k = elements<const __nv_bfloat16>(k);
  net.v = elements<const __nv_bfloat16>(v);
  net.state = elements<const float>(state);
  net.a_log = elements<const float>(a_log);
  net.dt_bias = elements<const float>(dt_bias);
  net.a = elements<const __nv_bfloat16>(a);
  net.b = elements<const __nv_bfloat16>(b);
  net.scale = scale;
  net.key_heads = static_cast<int>(k.size(-2));
  net.heads = static_cast<int>(v.size(-2));
  net.output = elements<__nv_bfloat16>(output);
  return net;
}

inline void launch(const Net& net, int64_t sequences, cudaStream_t stream) {
  follow<<<dim3(static_cast<unsigned>(sequences), net.heads), kHead, 0, stream>>>(net);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace serving
