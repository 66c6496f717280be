// SPDX-License-Identifier: Apache-2.0

// What the check of kernels on a GPU compares with: random inputs, and matrix products and
// attention by their definitions, one element or row at a time in float64. Slow, short, and
// independent of the kernels under test.
#pragma once

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>

namespace weft::gpu_test {

__device__ __forceinline__ uint32_t hash(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185ull;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44dull;
  return static_cast<uint32_t>((x ^ (x >> 33)) >> 16);
}

__device__ __forceinline__ float normal(uint64_t seed) {
  const float u = (hash(2 * seed) + 1.0f) * 2.3283064e-10f;
  const float v = hash(2 * seed + 1) * 2.3283064e-10f;
  return sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
}

// N(0,1), and with `spiky` a second draw of standard deviation 10 added to one element in a
// thousand.
__global__ void fill(__nv_bfloat16* data, size_t count, uint64_t seed, bool spiky) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += gridDim.x * size_t{256}) {
    float value = normal(seed * 0x9e3779b97f4a7c15ull + i);
    if (spiky && hash(~(seed + i)) < 4294967u) value += 10.0f * normal(~i * 31 + seed);
    data[i] = __float2bfloat16(value);
  }
}

// One thread a sampled element.
__global__ void gemm_reference(const __nv_bfloat16* a, const __nv_bfloat16* b, double* out,
                               const uint64_t* samples, int count, int n, int k) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  const __nv_bfloat16* row = a + samples[i] / n * k;
  const __nv_bfloat16* column = b + samples[i] % n * k;
  double sum = 0;
  for (int j = 0; j < k; ++j) {
    sum = fma(double(__bfloat162float(row[j])), double(__bfloat162float(column[j])), sum);
  }
  out[i] = sum;
}

struct Attention {
  int batch, tokens, heads, head_dim;
  bool causal;
  __host__ __device__ size_t row(int b, int token, int head) const {
    return ((size_t(b) * heads + head) * tokens + token) * head_dim;
  }
};

__device__ double dot(const __nv_bfloat16* x, const __nv_bfloat16* y, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    sum = fma(double(__bfloat162float(x[i])), double(__bfloat162float(y[i])), sum);
  }
  return sum;
}

__device__ double block_reduce(double value, bool maximum) {
  __shared__ double parts[128];
  __syncthreads();
  parts[threadIdx.x] = value;
  __syncthreads();
  double total = parts[0];
  for (int i = 1; i < 128; ++i) total = maximum ? fmax(total, parts[i]) : total + parts[i];
  return total;
}

// One block of 128 threads a sampled row: its scores in shared memory, then its output and lse.
__global__ void attention_reference(Attention p, const __nv_bfloat16* q, const __nv_bfloat16* k,
                                    const __nv_bfloat16* v, const int* samples, double* o,
                                    double* lse) {
  extern __shared__ double weights[];
  const int token = samples[blockIdx.x] % p.tokens;
  const int head = samples[blockIdx.x] / p.tokens % p.heads;
  const int b = samples[blockIdx.x] / p.tokens / p.heads;
  const int keys = p.causal ? token + 1 : p.tokens;
  double largest = -INFINITY;
  for (int j = threadIdx.x; j < keys; j += 128) {
    weights[j] = dot(q + p.row(b, token, head), k + p.row(b, j, head), p.head_dim) /
                 sqrt(double(p.head_dim));
    largest = fmax(largest, weights[j]);
  }
  largest = block_reduce(largest, true);
  double sum = 0;
  for (int j = threadIdx.x; j < keys; j += 128) sum += weights[j] = exp(weights[j] - largest);
  sum = block_reduce(sum, false);
  for (int d = threadIdx.x; d < p.head_dim; d += 128) {
    double out = 0;
    for (int j = 0; j < keys; ++j) {
      out = fma(weights[j], double(__bfloat162float(v[p.row(b, j, head) + d])), out);
    }
    o[size_t(blockIdx.x) * p.head_dim + d] = out / sum;
  }
  if (threadIdx.x == 0) lse[blockIdx.x] = largest + log(sum);
}

// dQ, dK and dV of one row, by the definition: P = exp(S - lse), dS = P * (dO.V - delta), all in
// float64 with O and lse as given to the candidate. One block a row; each thread owns head
// dimensions.
__global__ void backward_reference(Attention p, const __nv_bfloat16* q, const __nv_bfloat16* k,
                                   const __nv_bfloat16* v, const __nv_bfloat16* grad,
                                   const float* lse, const float* delta, const int* samples,
                                   double* dq, double* dk, double* dv) {
  extern __shared__ double weights[];
  double* slopes = weights + p.tokens;
  const int token = samples[blockIdx.x] % p.tokens;
  const int head = samples[blockIdx.x] / p.tokens % p.heads;
  const int b = samples[blockIdx.x] / p.tokens / p.heads;
  const size_t own = p.row(b, token, head);
  const float* row_lse = lse + (size_t(b) * p.heads + head) * p.tokens;
  const float* row_delta = delta + (size_t(b) * p.heads + head) * p.tokens;
  const double scale = 1.0 / sqrt(double(p.head_dim));
  const size_t out = size_t(blockIdx.x) * p.head_dim;

  // As a query: over the keys it sees.
  for (int j = threadIdx.x; j < p.tokens; j += 128) {
    const size_t other = p.row(b, j, head);
    const bool seen = !p.causal || j <= token;
    const double weight =
        seen ? exp(dot(q + own, k + other, p.head_dim) * scale - row_lse[token]) : 0.0;
    slopes[j] = weight * (dot(grad + own, v + other, p.head_dim) - row_delta[token]) * scale;
  }
  __syncthreads();
  for (int d = threadIdx.x; d < p.head_dim; d += 128) {
    double sum = 0;
    for (int j = 0; j < p.tokens; ++j)
      sum += slopes[j] * double(__bfloat162float(k[p.row(b, j, head) + d]));
    dq[out + d] = sum;
  }
  __syncthreads();
  // As a key: over the queries that see it.
  for (int i = threadIdx.x; i < p.tokens; i += 128) {
    const size_t other = p.row(b, i, head);
    const bool seen = !p.causal || token <= i;
    weights[i] = seen ? exp(dot(q + other, k + own, p.head_dim) * scale - row_lse[i]) : 0.0;
    slopes[i] = weights[i] * (dot(grad + other, v + own, p.head_dim) - row_delta[i]) * scale;
  }
  __syncthreads();
  for (int d = threadIdx.x; d < p.head_dim; d += 128) {
    double key_sum = 0, value_sum = 0;
    for (int i = 0; i < p.tokens; ++i) {
      key_sum += slopes[i] * double(__bfloat162float(q[p.row(b, i, head) + d]));
      value_sum += weights[i] * double(__bfloat162float(grad[p.row(b, i, head) + d]));
    }
    dk[out + d] = key_sum;
    dv[out + d] = value_sum;
  }
}

}  // namespace weft::gpu_test
