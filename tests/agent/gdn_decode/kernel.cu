// SPDX-License-Identifier: Apache-2.0

// Gated delta net, one token: a block a value head of a sequence, a thread a row of its state.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kHead = 128;

struct Net {
  const __nv_bfloat16 *q, *k, *v, *a, *b;
  const float *state, *a_log, *dt_bias;
  float scale;
  int key_heads, heads;
  __nv_bfloat16* output;
  float* new_state;
};

__global__ void step(const Net net) {
  const int sequence = blockIdx.x, head = blockIdx.y, row = threadIdx.x;
  const int key_head = head / (net.heads / net.key_heads);
  const __nv_bfloat16* q = net.q + (size_t(sequence) * net.key_heads + key_head) * kHead;
  const __nv_bfloat16* k = net.k + (size_t(sequence) * net.key_heads + key_head) * kHead;
  const size_t gate = size_t(sequence) * net.heads + head;
  const size_t base = (gate * kHead + row) * kHead;
  const float x = __bfloat162float(net.a[gate]) + net.dt_bias[head];
  const float softplus = x > 20 ? x : log1pf(expf(x));
  const float decay = expf(-expf(net.a_log[head]) * softplus);
  const float beta = 1 / (1 + expf(-__bfloat162float(net.b[gate])));
  float known = 0;
  for (int j = 0; j < kHead; ++j)
    known += decay * net.state[base + j] * __bfloat162float(k[j]);
  const float update = beta * (__bfloat162float(net.v[gate * kHead + row]) - known);
  float sum = 0;
  for (int j = 0; j < kHead; ++j) {
    const float s = decay * net.state[base + j] + update * __bfloat162float(k[j]);
    net.new_state[base + j] = s;
    sum += s * __bfloat162float(q[j]);
  }
  net.output[gate * kHead + row] = __float2bfloat16(net.scale * sum);
}

using View = tvm::ffi::TensorView;

void run(View q, View k, View v, View state, View a_log, View a, View dt_bias, View b, float scale,
         View output, View new_state) {
  using bf16 = __nv_bfloat16;
  Net net{};
  net.q = weft::elements<const bf16>(q);
  net.k = weft::elements<const bf16>(k);
  net.v = weft::elements<const bf16>(v);
  net.a = weft::elements<const bf16>(a);
  net.b = weft::elements<const bf16>(b);
  net.state = weft::elements<const float>(state);
  net.a_log = weft::elements<const float>(a_log);
  net.dt_bias = weft::elements<const float>(dt_bias);
  net.scale = scale;
  net.key_heads = k.size(-2);
  net.heads = v.size(-2);
  net.output = weft::elements<bf16>(output);
  net.new_state = weft::elements<float>(new_state);
  step<<<dim3(q.size(0), net.heads), kHead, 0, weft::stream_of(q)>>>(net);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
