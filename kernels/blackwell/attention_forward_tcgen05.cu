// SPDX-License-Identifier: Apache-2.0

// Attention forward with log-sum-exp in bf16: O = softmax(Q * K transposed / sqrt(d)) * V, and
// lse = ln(sum of exp(scaled scores)) per row. q, k, v, o: [batch, heads, tokens, d], lse: [batch,
// heads, tokens] float32; d is 64 or 128. With WEFT_CAUSAL keys behind the query are masked.
//
//   block of 6 warps for 128 queries of one head
//   warps 0-3   softmax: thread t has row t, which is lane t of tensor memory
//   warp 4      one lane streams tiles of 128 keys and values through two rings of 2 stages
//   warp 5      takes tensor memory; one lane issues the products
//
//   tensor memory, columns
//   0 - 127     scores of even tiles, 128 - 255 of odd ones (float32)
//   256 -       output (float32, d columns)
//   384 - 447   weights exp(score - maximum), two bf16 in a word: the A operand of the second
//               product, which takes it from where the threads leave it
//
// The scores of tile i+1 are on their way while tile i is exponentiated. Who waits for whom:
//   scores_full[i % 2]   the commit of Q*K: 1 arrival           softmax waits
//   weights_full         weights stored, output rescaled: 128   the products wait
//   output_full          the commit of P*V: 1                   softmax waits before it touches the
//                                                               weights or the output again
//
// Tiles are visited from the last to the first, so that masked ones come first and every row has
// seen a key before the unmasked ones.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tcgen05.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>

#include <cmath>

#ifndef WEFT_CAUSAL
#define WEFT_CAUSAL 0
#endif

namespace {

constexpr bool kCausal = WEFT_CAUSAL != 0;
constexpr int kRows = 128;  // queries of a block, keys of a tile
constexpr int kStages = 2;
constexpr int kThreads = 192;
constexpr uint32_t kPanelBytes = kRows * 128;  // 64 columns of 128 rows, swizzled
constexpr uint32_t kColumns = 512, kOutputColumn = 256, kWeightColumn = 384;

template <int kHeadDim>
struct Layout {
  static constexpr int kPanels = kHeadDim / 64;
  static constexpr uint32_t kTileBytes = kPanels * kPanelBytes;
  static constexpr uint32_t kBytes = (1 + 2 * kStages) * kTileBytes + 128 + 1024;

  uint32_t base;
  __device__ __forceinline__ uint32_t queries() const { return base; }
  __device__ __forceinline__ uint32_t keys(int stage) const {
    return base + (1 + stage) * kTileBytes;
  }
  __device__ __forceinline__ uint32_t values(int stage) const { return keys(kStages + stage); }
  __device__ __forceinline__ uint32_t barrier(int index) const {
    return keys(2 * kStages) + index * 8;
  }
  __device__ __forceinline__ uint32_t keys_full(int stage) const { return barrier(stage); }
  __device__ __forceinline__ uint32_t keys_empty(int stage) const { return barrier(2 + stage); }
  __device__ __forceinline__ uint32_t values_full(int stage) const { return barrier(4 + stage); }
  __device__ __forceinline__ uint32_t values_empty(int stage) const { return barrier(6 + stage); }
  __device__ __forceinline__ uint32_t scores_full(int buffer) const { return barrier(8 + buffer); }
  __device__ __forceinline__ uint32_t queries_full() const { return barrier(10); }
  __device__ __forceinline__ uint32_t weights_full() const { return barrier(11); }
  __device__ __forceinline__ uint32_t output_full() const { return barrier(12); }
  __device__ __forceinline__ uint32_t taken() const { return barrier(13); }
};

struct Maps {
  CUtensorMap q, k, v;
};

// Use number i of a ring of two: the stage, and the parity of its phase.
__device__ __forceinline__ int stage_of(int i) {
  return i % 2;
}
__device__ __forceinline__ uint32_t parity_of(int i) {
  return static_cast<uint32_t>(i / 2 % 2);
}

// 2^x as the hardware has it: about 2 units in the last place, and 0 for minus infinity.
__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int kHeadDim>
__device__ __forceinline__ void load_tile(uint32_t destination, const CUtensorMap& map,
                                          uint32_t full, int token, int head, int batch) {
  using L = Layout<kHeadDim>;
  weft::barrier_arrive_expect(full, L::kTileBytes);
#pragma unroll
  for (int panel = 0; panel < L::kPanels; ++panel)
    weft::tma_load(destination + panel * kPanelBytes, map, full, panel * 64, token, head, batch);
}

template <int kHeadDim>
__device__ __forceinline__ void produce(const Maps& maps, const Layout<kHeadDim>& shared, int tiles,
                                        int query, int head, int batch) {
  load_tile<kHeadDim>(shared.queries(), maps.q, shared.queries_full(), query, head, batch);
  for (int i = 0; i < tiles; ++i) {
    const int stage = stage_of(i), token = (tiles - 1 - i) * kRows;
    weft::barrier_wait(shared.keys_empty(stage), parity_of(i) ^ 1);
    load_tile<kHeadDim>(shared.keys(stage), maps.k, shared.keys_full(stage), token, head, batch);
    weft::barrier_wait(shared.values_empty(stage), parity_of(i) ^ 1);
    load_tile<kHeadDim>(shared.values(stage), maps.v, shared.values_full(stage), token, head,
                        batch);
  }
}

// S[128, 128] = Q * K transposed.
template <int kHeadDim>
__device__ __forceinline__ void multiply_keys(const Layout<kHeadDim>& shared, uint32_t memory,
                                              int i) {
  constexpr uint32_t kInstruction = weft::bf16_product<kRows, kRows>();
  const int stage = stage_of(i);
  weft::barrier_wait(shared.keys_full(stage), parity_of(i));
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    const uint32_t offset = step / 4 * kPanelBytes + step % 4 * 32;
    weft::tensor_product(memory + stage * kRows, weft::tensor_tile(shared.queries() + offset),
                         weft::tensor_tile(shared.keys(stage) + offset), kInstruction, step > 0);
  }
  weft::tensor_commit(shared.keys_empty(stage));
  weft::tensor_commit(shared.scores_full(stage));
}

// O[128, d] += P * V. V lies with its rows along K, so B is N-major: the step of 16 keys is 16 rows
// further, and panels of 64 columns are the leading dimension.
template <int kHeadDim>
__device__ __forceinline__ void multiply_values(const Layout<kHeadDim>& shared, uint32_t memory,
                                                int i) {
  constexpr uint32_t kInstruction = weft::bf16_product<kRows, kHeadDim, weft::BMajor::N>();
  const int stage = stage_of(i);
  weft::barrier_wait(shared.values_full(stage), parity_of(i));
#pragma unroll
  for (int step = 0; step < kRows / 16; ++step)
    weft::tensor_product_from_memory(
        memory + kOutputColumn, memory + kWeightColumn + step * 8,
        weft::tensor_tile(shared.values(stage) + step * 16 * 128, kPanelBytes), kInstruction,
        i > 0 || step > 0);
  weft::tensor_commit(shared.values_empty(stage));
  weft::tensor_commit(shared.output_full());
}

template <int kHeadDim>
__device__ __forceinline__ void multiply(const Layout<kHeadDim>& shared, uint32_t memory,
                                         int tiles) {
  weft::barrier_wait(shared.queries_full(), 0);
  multiply_keys<kHeadDim>(shared, memory, 0);
  for (int i = 0; i < tiles; ++i) {
    // Tile i - 1 has left the buffer that tile i + 1 takes: its weights were waited for.
    if (i + 1 < tiles) multiply_keys<kHeadDim>(shared, memory, i + 1);
    weft::barrier_wait(shared.weights_full(), static_cast<uint32_t>(i % 2));
    weft::tensor_fence_after();
    multiply_values<kHeadDim>(shared, memory, i);
  }
}

// Multiplies the row's output in tensor memory.
template <int kHeadDim>
__device__ __forceinline__ void rescale(uint32_t output, float factor) {
#pragma unroll
  for (int part = 0; part < kHeadDim; part += 32) {
    uint32_t values[32];
    weft::tensor_load(values, output + part);
    weft::tensor_load_wait();
#pragma unroll
    for (int k = 0; k < 32; ++k) values[k] = __float_as_uint(__uint_as_float(values[k]) * factor);
    weft::tensor_store(output + part, values);
  }
}

template <int kHeadDim>
__device__ __forceinline__ void attend(const Layout<kHeadDim>& shared, uint32_t memory,
                                       __nv_bfloat16* o, float* lse, int tiles, int query,
                                       size_t first_row, int tokens, float scale) {
  const int row = query + static_cast<int>(threadIdx.x);
  const uint32_t lanes = (threadIdx.x / 32 * 32) << 16;
  const float scale_log2 = scale * 1.44269504f;
  const int last_key = kCausal ? min(tokens - 1, row) : tokens - 1;
  float maximum = -INFINITY, sum = 0.0f;

  for (int i = 0; i < tiles; ++i) {
    const int first_key = (tiles - 1 - i) * kRows;
    weft::barrier_wait(shared.scores_full(stage_of(i)), parity_of(i));
    weft::tensor_fence_after();
    uint32_t scores[4][32];
#pragma unroll
    for (int part = 0; part < 4; ++part)
      weft::tensor_load(scores[part], memory + lanes + stage_of(i) * kRows + part * 32);
    weft::tensor_load_wait();
    float largest = maximum;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (first_key + k > last_key) scores[k / 32][k % 32] = __float_as_uint(-INFINITY);
      largest = fmaxf(largest, __uint_as_float(scores[k / 32][k % 32]));
    }
    // A row behind the last token may have no key at all; any finite number stands in.
    const float offset = (largest == -INFINITY ? 0.0f : largest) * scale_log2;
    const float correction = exp2_approximate(maximum * scale_log2 - offset);
    maximum = largest;
    float added = 0.0f;
    uint32_t weights[2][32];
#pragma unroll
    for (int k = 0; k < kRows; k += 2) {
      const float low =
          exp2_approximate(fmaf(__uint_as_float(scores[k / 32][k % 32]), scale_log2, -offset));
      const float high =
          exp2_approximate(fmaf(__uint_as_float(scores[k / 32][k % 32 + 1]), scale_log2, -offset));
      added += low + high;
      weights[k / 64][k / 2 % 32] = weft::pack_bf16(low, high);
    }
    sum = fmaf(sum, correction, added);
    if (i > 0) {
      weft::barrier_wait(shared.output_full(), static_cast<uint32_t>((i - 1) % 2));
      weft::tensor_fence_after();
    }
    weft::tensor_store(memory + lanes + kWeightColumn, weights[0]);
    weft::tensor_store(memory + lanes + kWeightColumn + 32, weights[1]);
    if (i > 0) rescale<kHeadDim>(memory + lanes + kOutputColumn, correction);
    weft::tensor_store_wait();
    weft::tensor_fence_before();
    weft::barrier_arrive(shared.weights_full());
  }
#ifndef WEFT_FAULT_OUTPUT_TOO_EARLY
  weft::barrier_wait(shared.output_full(), static_cast<uint32_t>((tiles - 1) % 2));
#endif
  weft::tensor_fence_after();

  const float factor = 1.0f / sum;
  __nv_bfloat16* out = o + (first_row + threadIdx.x) * kHeadDim;
#pragma unroll
  for (int part = 0; part < kHeadDim; part += 32) {
    uint32_t values[32];
    weft::tensor_load(values, memory + lanes + kOutputColumn + part);
    weft::tensor_load_wait();
    if (row >= tokens) continue;
    uint32_t packed[16];
#pragma unroll
    for (int k = 0; k < 16; ++k)
      packed[k] = weft::pack_bf16(__uint_as_float(values[2 * k]) * factor,
                                  __uint_as_float(values[2 * k + 1]) * factor);
#pragma unroll
    for (int k = 0; k < 16; k += 4)
      *reinterpret_cast<uint4*>(out + part + 2 * k) =
          make_uint4(packed[k], packed[k + 1], packed[k + 2], packed[k + 3]);
  }
  if (row < tokens) lse[first_row + threadIdx.x] = maximum * scale + logf(sum);
}

template <int kHeadDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_forward(const __grid_constant__ Maps maps, __nv_bfloat16* o, float* lse, int tokens,
                      int heads, float scale) {
  using L = Layout<kHeadDim>;
  extern __shared__ uint8_t dynamic_shared[];
  const L shared{(weft::shared_address(dynamic_shared) + 1023) & ~1023u};
  const int warp = threadIdx.x / 32;
  const int query = static_cast<int>(blockIdx.x) * kRows;
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  const int keys = kCausal ? min(tokens, query + kRows) : tokens;
  const int tiles = (keys + kRows - 1) / kRows;

  if (threadIdx.x == 0) {
    for (int index = 0; index < 11; ++index) weft::barrier_init(shared.barrier(index), 1);
    weft::barrier_init(shared.weights_full(), kRows);
    weft::barrier_init(shared.output_full(), 1);
    weft::fence_barrier_init();
  }
  if (warp == 5) weft::tensor_memory_take(shared.taken(), kColumns);
  weft::tensor_fence_before();
  __syncthreads();
  weft::tensor_fence_after();
  uint32_t memory;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(memory) : "r"(shared.taken()));

  if (warp == 4 && weft::elect_one_lane())
    produce<kHeadDim>(maps, shared, tiles, query, head, batch);
  if (warp == 5 && weft::elect_one_lane()) multiply<kHeadDim>(shared, memory, tiles);
  if (warp < 4) {
    const size_t first_row = (static_cast<size_t>(batch) * heads + head) * tokens + query;
    attend<kHeadDim>(shared, memory, o, lse, tiles, query, first_row, tokens, scale);
  }
  weft::tensor_fence_before();
  __syncthreads();
  if (warp == 5) weft::tensor_memory_give_back(memory, kColumns);
}

template <int kHeadDim>
void launch(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
            tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  using L = Layout<kHeadDim>;
  const uint64_t batches = q.size(0), heads = q.size(1), tokens = q.size(2);
  const auto map = [&](const tvm::ffi::TensorView& tensor) {
    constexpr uint64_t kRowBytes = kHeadDim * 2;
    const uint64_t head_bytes = tokens * kRowBytes;
    return weft::bf16_tensor_map<4>(weft::elements<void>(tensor),
                                    {kHeadDim, tokens, heads, batches},
                                    {kRowBytes, head_bytes, heads * head_bytes}, {64, kRows, 1, 1});
  };
  const Maps maps{map(q), map(k), map(v)};
  WEFT_CUDA_CHECK(cudaFuncSetAttribute(attention_forward<kHeadDim>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes));
  const dim3 grid(static_cast<unsigned>((tokens + kRows - 1) / kRows), static_cast<unsigned>(heads),
                  static_cast<unsigned>(batches));
  attention_forward<kHeadDim><<<grid, kThreads, L::kBytes, weft::stream_of(q)>>>(
      maps, weft::elements<__nv_bfloat16>(o), weft::elements<float>(lse), static_cast<int>(tokens),
      static_cast<int>(heads), 1.0f / std::sqrt(static_cast<float>(kHeadDim)));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
         tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  weft::require_bf16(q, "Q", 4);
  weft::require_bf16(k, "K", 4);
  weft::require_bf16(v, "V", 4);
  weft::require_bf16(o, "O", 4);
  weft::require_float(lse, "LSE", 3);
  for (int i = 0; i < 4; ++i)
    TVM_FFI_CHECK(k.size(i) == q.size(i) && v.size(i) == q.size(i) && o.size(i) == q.size(i),
                  ValueError)
        << "Q, K, V and O differ in dimension " << i;
  TVM_FFI_CHECK(lse.size(0) == q.size(0) && lse.size(1) == q.size(1) && lse.size(2) == q.size(2),
                ValueError)
      << "LSE must be [batch, heads, tokens]";
  if (q.numel() == 0) return;
  switch (q.size(3)) {
    case 64:
      return launch<64>(q, k, v, o, lse);
    case 128:
      return launch<128>(q, k, v, o, lse);
    default:
      TVM_FFI_THROW(ValueError) << "no kernel for head dimension " << q.size(3);
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
