// SPDX-License-Identifier: Apache-2.0

// Attention in the plainest way that is right: a block of 128 threads for one query of one head,
// one key a thread and turn, a running softmax between the turns. What the families of serving
// attention differ in is where the rows of a sequence lie, which struct Rows says.
//
// WEFT_FAULT_PAGES, WEFT_FAULT_LAST_PAGE, WEFT_FAULT_EMPTY, WEFT_FAULT_ALIGNMENT,
// WEFT_FAULT_POSITIONS, WEFT_FAULT_BASE and WEFT_FAULT_SCALE plant one mistake each, for the judge
// to find.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

#include <cmath>

namespace serving {

constexpr int kThreads = 128;
constexpr int kValues = 4;  // columns of the output a thread can hold: 512 in all

// Rows of T; a key is its parts behind each other (compressed and positional, in latent attention).
template <typename T>
struct Rows {
  const T* q[2];
  const T* k[2];
  int width[2];  // of the parts; 0: there is no second part
  const T* v;
  int value_width;
  int heads, key_heads;
  // Offsets of sequences; null: sequences of `length` queries and keys each, or of one query.
  const int* query_offsets;
  const int* key_offsets;
  int length;
  const int* pages;  // null: keys lie behind each other
  int page_size;
  const int* last_page;  // tokens in the last page of each sequence; null: all pages are full
  bool causal;           // aligned at the end
  float scale;
  // FP8: what q, k and v are to be multiplied by, in device memory; null: 1.
  const float *scale_q, *scale_k, *scale_v;
  float lse_factor;  // from natural to the base that is asked for
};

__device__ inline float value_of(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ inline float value_of(__nv_fp8_e4m3 x) {
  return static_cast<float>(x);
}
__device__ inline void store(__nv_bfloat16* to, float x) {
  *to = __float2bfloat16(x);
}
__device__ inline void store(__nv_fp8_e4m3* to, float x) {
  *to = __nv_fp8_e4m3(x);
}

template <bool kLargest>
__device__ inline float reduce(float x, float* scratch) {
  __syncthreads();
  scratch[threadIdx.x] = x;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const float other = scratch[threadIdx.x + step];
      scratch[threadIdx.x] =
          kLargest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  return scratch[0];
}

// The keys of a query: `count` from `first` on in the order of the sequence.
struct Keys {
  int first, count;
};

template <typename T>
__device__ inline Keys keys_of(const Rows<T>& rows, int query) {
  int sequence = query, last_query = query + 1;
  if (rows.length > 0) {
    sequence = query / rows.length;
    last_query = (sequence + 1) * rows.length;
  } else if (rows.query_offsets != nullptr) {
    sequence = 0;
    while (rows.query_offsets[sequence + 1] <= query) ++sequence;
    last_query = rows.query_offsets[sequence + 1];
  }
  Keys keys{sequence * rows.length, rows.length};
  if (rows.key_offsets != nullptr) {
    keys.first = rows.key_offsets[sequence];
    keys.count = (rows.key_offsets[sequence + 1] - keys.first) * rows.page_size;
#ifndef WEFT_FAULT_LAST_PAGE
    if (rows.last_page != nullptr && keys.count > 0)
      keys.count += rows.last_page[sequence] - rows.page_size;
#endif
  }
#ifdef WEFT_FAULT_ALIGNMENT
  const int first_query = rows.query_offsets == nullptr ? query : rows.query_offsets[sequence];
  if (rows.causal) keys.count = min(keys.count, query - first_query + 1);
#else
  if (rows.causal) keys.count -= last_query - 1 - query;
#endif
  return keys;
}

template <typename T>
__device__ inline int row_of(const Rows<T>& rows, const Keys& keys, int index) {
  if (rows.pages == nullptr) return keys.first + index;
#ifdef WEFT_FAULT_PAGES
  const int page = keys.first + index / rows.page_size;
#else
  const int page = rows.pages[keys.first + index / rows.page_size];
#endif
  return page * rows.page_size + index % rows.page_size;
}

template <typename T>
__device__ inline float score(const Rows<T>& rows, int query, int head, int key, int key_head) {
#ifdef WEFT_FAULT_POSITIONS
  constexpr int kParts = 1;
#else
  constexpr int kParts = 2;
#endif
  float sum = 0;
  for (int part = 0; part < kParts; ++part) {
    const int width = rows.width[part];
    const T* q = rows.q[part] + (static_cast<int64_t>(query) * rows.heads + head) * width;
    const T* k = rows.k[part] + (static_cast<int64_t>(key) * rows.key_heads + key_head) * width;
    for (int i = 0; i < width; ++i) sum = fmaf(value_of(q[i]), value_of(k[i]), sum);
  }
#ifdef WEFT_FAULT_SCALE
  return sum;
#else
  const float factor = rows.scale_q == nullptr ? 1.0f : *rows.scale_q * *rows.scale_k;
  return sum * (rows.scale * factor);
#endif
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kThreads) attend(const Rows<T> rows, Out* out, float* lse) {
  __shared__ float scratch[kThreads], weights[kThreads];
  const int query = blockIdx.x, head = blockIdx.y;
  const int key_head = head / (rows.heads / rows.key_heads);
  const Keys keys = keys_of(rows, query);
  float largest = -INFINITY, sum = 0, values[kValues] = {};
  for (int first = 0; first < keys.count; first += kThreads) {
    const int count = min(kThreads, keys.count - first);
    const int mine = threadIdx.x;
    const float s = mine < count
                        ? score(rows, query, head, row_of(rows, keys, first + mine), key_head)
                        : -INFINITY;
    const float next = fmaxf(largest, reduce<true>(s, scratch));
    const float correction = expf(largest - next);
    largest = next;
    weights[mine] = expf(s - next);
    sum = sum * correction + reduce<false>(weights[mine], scratch);
    for (int c = 0; c < kValues; ++c) {
      const int column = c * kThreads + threadIdx.x;
      values[c] *= correction;
      for (int j = 0; j < count && column < rows.value_width; ++j) {
        const int64_t row = row_of(rows, keys, first + j);
        values[c] +=
            weights[j] *
            value_of(rows.v[(row * rows.key_heads + key_head) * rows.value_width + column]);
      }
    }
  }
  const int64_t row = static_cast<int64_t>(query) * rows.heads + head;
#ifdef WEFT_FAULT_EMPTY
  const float divisor = sum;
#else
  const float divisor = sum > 0 ? sum : 1;  // a query without keys: zeros, and minus infinity
#endif
  for (int c = 0; c < kValues; ++c) {
    const int column = c * kThreads + threadIdx.x;
    if (column < rows.value_width)
      store(out + row * rows.value_width + column,
            values[c] / divisor * (rows.scale_v == nullptr ? 1.0f : *rows.scale_v));
  }
#ifdef WEFT_FAULT_BASE
  if (threadIdx.x == 0) lse[row] = largest + logf(sum);
#else
  if (threadIdx.x == 0) lse[row] = (largest + logf(sum)) * rows.lse_factor;
#endif
}

template <typename T, typename Out>
void launch(const Rows<T>& rows, int queries, Out* out, float* lse, cudaStream_t stream) {
  attend<<<dim3(queries, rows.heads), kThreads, 0, stream>>>(rows, out, lse);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

constexpr float kBase2 = 1.44269504f;  // log2(e)

// What all packed families share; the caller adds offsets, pages and a second part.
inline Rows<__nv_bfloat16> packed(const tvm::ffi::TensorView& q, const tvm::ffi::TensorView& k,
                                  const tvm::ffi::TensorView& v, float scale) {
  using weft::elements;
  Rows<__nv_bfloat16> rows{};
  rows.q[0] = rows.q[1] = elements<const __nv_bfloat16>(q);
  rows.k[0] = rows.k[1] = elements<const __nv_bfloat16>(k);
  rows.v = elements<const __nv_bfloat16>(v);
  rows.width[0] = static_cast<int>(k.size(-1));
  rows.value_width = static_cast<int>(v.size(-1));
  rows.heads = static_cast<int>(q.size(1));
  rows.key_heads = 1;
  rows.page_size = 1;
  rows.scale = scale;
  rows.lse_factor = kBase2;
  return rows;
}

}  // namespace serving
