// SPDX-License-Identifier: Apache-2.0

// Attention forward with log-sum-exp in bf16: O = softmax(Q * K transposed / sqrt(d)) * V, and
// lse = ln(sum of exp(scaled scores)) per row. q, k, v, o: [batch, heads, tokens, d], lse: [batch,
// heads, tokens] float32; d is 64, 96, 128 or 256. attention_forward_causal_wgmma.cu is the same
// with keys behind the query masked.
//
//   block of 3 warpgroups for 128 queries of one head (4 for 192 where d is 64)
//   warpgroup 0        producer: one lane streams tiles of K and V through two rings of 2 stages
//   warpgroup 1, 2, 3  consumers: 64 queries each
//
// The scores never leave registers. A consumer keeps for each row the maximum m so far, the sum l
// of exp(score - m) and the output O scaled alike; a new tile with a larger maximum rescales both
// ("online softmax"). The accumulator of Q*K, rounded to bf16, is already laid out as the A operand
// of P*V.
//
// Softmax is hidden in two ways. Within a warpgroup, the scores of tile i+1 and the product P*V of
// tile i are in flight together, and the softmax of tile i+1 runs while the latter still
// multiplies. Between the warpgroups, named barriers make them take turns in issuing, so that one
// multiplies while the other exponentiates.
//
// Tiles are visited from the last to the first: masked tiles come first, and every row then has
// seen a key before the unmasked ones.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>
#include <weft/wgmma.cuh>

#include <cmath>
#include <limits>

#ifndef WEFT_CAUSAL
#define WEFT_CAUSAL 0
#endif

namespace {

constexpr bool kCausal = WEFT_CAUSAL != 0;
constexpr int kStages = 2;
// Named barriers: one per consumer for its turn, one per consumer inside it.
constexpr int kTurnBarrier = 1;
constexpr int kGroupBarrier = 4;

// Shape and shared memory of one block. Tiles are stored as panels of 64 columns: 128 bytes a row,
// swizzled.
template <int kHeadDim>
struct Layout {
  // Short heads leave registers free: three consumers share what a tile of K and V costs to bring.
  static constexpr int kConsumers = kHeadDim == 64 ? 3 : 2;
  static constexpr int kQueries = 64 * kConsumers;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kProducerRegisters = kConsumers == 3 ? 32 : 24;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 160 : 240;
  static constexpr int kKeys = kHeadDim > 128 ? 64 : 128;
  static constexpr int kPanels = (kHeadDim + 63) / 64;
  static constexpr uint32_t kQueryPanelBytes = kQueries * 128;
  static constexpr uint32_t kKeyPanelBytes = kKeys * 128;
  static constexpr uint32_t kQueryBytes = kPanels * kQueryPanelBytes;
  static constexpr uint32_t kTileBytes = kPanels * kKeyPanelBytes;
  static constexpr uint32_t kBytes = kQueryBytes + 2 * kStages * kTileBytes + 128 + 1024;

  uint32_t base;
  __device__ __forceinline__ uint32_t queries() const { return base; }
  __device__ __forceinline__ uint32_t keys(int stage) const {
    return base + kQueryBytes + stage * kTileBytes;
  }
  __device__ __forceinline__ uint32_t values(int stage) const { return keys(kStages + stage); }
  __device__ __forceinline__ uint32_t barrier(int index) const {
    return base + kQueryBytes + 2 * kStages * kTileBytes + index * 8;
  }
  __device__ __forceinline__ uint32_t keys_full(int stage) const { return barrier(stage); }
  __device__ __forceinline__ uint32_t keys_empty(int stage) const {
    return barrier(kStages + stage);
  }
  __device__ __forceinline__ uint32_t values_full(int stage) const {
    return barrier(2 * kStages + stage);
  }
  __device__ __forceinline__ uint32_t values_empty(int stage) const {
    return barrier(3 * kStages + stage);
  }
  __device__ __forceinline__ uint32_t queries_full() const { return barrier(4 * kStages); }
};

struct RingPosition {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

struct Maps {
  CUtensorMap q, k, v, o;
};

// 2^x as the hardware has it: about 2 units in the last place, and 0 for minus infinity.
__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The four lanes of a quad hold the columns of a row between them.
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

// The running softmax of the two rows of a thread: row l/4 and row l/4 + 8 of its warp.
struct Softmax {
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0.0f, 0.0f};  // of this thread's columns only, until finish()
  float correction[2];          // what the last tile multiplies earlier results by

  // Turns raw scores into exp(scale * (score - maximum)).
  template <int kCount>
  __device__ __forceinline__ void update(float (&scores)[kCount], float scale_log2) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = maximum[r];
#pragma unroll
      for (int i = 2 * r; i < kCount; i += 4) {
        largest = fmaxf(largest, fmaxf(scores[i], scores[i + 1]));
      }
      largest = quad_max(largest);
      // A row whose keys are all masked so far has no maximum; any finite number stands in.
      const float finite = largest == -INFINITY ? 0.0f : largest;
      const float offset = finite * scale_log2;
      correction[r] = exp2_approximate(maximum[r] * scale_log2 - offset);
      maximum[r] = largest;
      float added = 0.0f;
#pragma unroll
      for (int i = 2 * r; i < kCount; i += 4) {
        scores[i] = exp2_approximate(fmaf(scores[i], scale_log2, -offset));
        scores[i + 1] = exp2_approximate(fmaf(scores[i + 1], scale_log2, -offset));
        added += scores[i] + scores[i + 1];
      }
      sum[r] = fmaf(sum[r], correction[r], added);
    }
  }
  template <int kCount>
  __device__ __forceinline__ void rescale(float (&output)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) output[i] *= correction[i / 2 % 2];
  }
};

template <int kHeadDim>
__device__ __forceinline__ void load_tile(uint32_t destination, const CUtensorMap& map,
                                          uint32_t full, int token, int head, int batch) {
  using L = Layout<kHeadDim>;
  weft::barrier_arrive_expect(full, L::kTileBytes);
#pragma unroll
  for (int panel = 0; panel < L::kPanels; ++panel) {
    weft::tma_load(destination + panel * L::kKeyPanelBytes, map, full, panel * 64, token, head,
                   batch);
  }
}

template <int kHeadDim>
__device__ __forceinline__ void produce(const Maps& maps, const Layout<kHeadDim>& shared, int tiles,
                                        int query, int head, int batch) {
  using L = Layout<kHeadDim>;
  weft::barrier_arrive_expect(shared.queries_full(), L::kQueryBytes);
  for (int panel = 0; panel < L::kPanels; ++panel) {
    for (int part = 0; part < L::kConsumers; ++part) {
      weft::tma_load(shared.queries() + panel * L::kQueryPanelBytes + part * 64 * 128, maps.q,
                     shared.queries_full(), panel * 64, query + part * 64, head, batch);
    }
  }
  RingPosition at;
  for (int tile = tiles - 1; tile >= 0; --tile, at.advance()) {
    weft::barrier_wait(shared.keys_empty(at.stage), at.parity ^ 1);
    load_tile<kHeadDim>(shared.keys(at.stage), maps.k, shared.keys_full(at.stage), tile * L::kKeys,
                        head, batch);
    weft::barrier_wait(shared.values_empty(at.stage), at.parity ^ 1);
    load_tile<kHeadDim>(shared.values(at.stage), maps.v, shared.values_full(at.stage),
                        tile * L::kKeys, head, batch);
  }
}

// S[64, keys] = Q * K transposed, in flight when this returns.
template <int kHeadDim, int kCount>
__device__ __forceinline__ void multiply_keys(float (&scores)[kCount], uint32_t queries,
                                              uint32_t keys) {
  using L = Layout<kHeadDim>;
  weft::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    const int panel = step / 4;
    const int inside = step % 4 * 32;
    weft::wgmma_ss(scores, weft::swizzled_tile(queries + panel * L::kQueryPanelBytes + inside),
                   weft::swizzled_tile(keys + panel * L::kKeyPanelBytes + inside), step > 0);
  }
  weft::wgmma_commit();
}

// O[64, d] += P * V, in flight when this returns. V lies with its rows along K, so B is N-major:
// the step of 16 keys is 16 rows further, and panels of 64 columns are the leading dimension.
template <int kHeadDim, int kCount, int kPacked>
__device__ __forceinline__ void multiply_values(float (&output)[kCount],
                                                const uint32_t (&weights)[kPacked], uint32_t values,
                                                bool accumulate) {
  using L = Layout<kHeadDim>;
  weft::wgmma_fence();
#pragma unroll
  for (int step = 0; step < L::kKeys / 16; ++step) {
    weft::wgmma_rs<weft::MajorB::N>(
        output, weights[4 * step], weights[4 * step + 1], weights[4 * step + 2],
        weights[4 * step + 3], weft::swizzled_tile(values + step * 16 * 128, L::kKeyPanelBytes),
        accumulate || step > 0);
  }
  weft::wgmma_commit();
}

template <int kCount, int kPacked>
__device__ __forceinline__ void pack_weights(uint32_t (&weights)[kPacked],
                                             const float (&scores)[kCount]) {
#pragma unroll
  for (int i = 0; i < kPacked; ++i) {
    weights[i] = weft::pack_bf16(scores[2 * i], scores[2 * i + 1]);
  }
}

template <int kHeadDim>
__device__ __forceinline__ void consume(const Maps& maps, const Layout<kHeadDim>& shared,
                                        float* lse, int tiles, int query, int head, int batch,
                                        int tokens, int heads, float scale) {
  using L = Layout<kHeadDim>;
  const int consumer = threadIdx.x / 128 - 1;
  const int thread = threadIdx.x % 128;
  const int lane = thread % 32;
  const int row = query + consumer * 64 + thread / 32 * 16 + lane / 4;
  const float scale_log2 = scale * 1.44269504f;
  const uint32_t queries = shared.queries() + consumer * 64 * 128;

  float scores[L::kKeys / 2];
  uint32_t weights[L::kKeys / 4];
  float output[kHeadDim / 2];
  Softmax softmax;

  auto release = [&](uint32_t empty) {
    if (lane == 0) weft::barrier_arrive(empty);
  };
  // Only tiles that reach over the diagonal or the end of the sequence need a mask.
  const int unmasked_keys = kCausal ? min(tokens, query + 1) : tokens;
  auto mask = [&](int tile) {
    if ((tile + 1) * L::kKeys <= unmasked_keys) return;
    const int first = tile * L::kKeys + 2 * (lane % 4);
#pragma unroll
    for (int i = 0; i < L::kKeys / 2; ++i) {
      const int key = first + i / 4 * 8 + i % 2;
      const int limit = kCausal ? min(tokens - 1, row + i / 2 % 2 * 8) : tokens - 1;
      if (key > limit) scores[i] = -INFINITY;
    }
  };

  weft::barrier_wait(shared.queries_full(), 0);
  RingPosition keys_at, values_at;
  weft::barrier_wait(shared.keys_full(0), 0);
  multiply_keys<kHeadDim>(scores, queries, shared.keys(0));
  weft::wgmma_wait<0>();
  weft::pin_registers(scores);
  release(shared.keys_empty(0));
  keys_at.advance();
  mask(tiles - 1);
  softmax.update(scores, scale_log2);
  pack_weights(weights, scores);

  // Consumer 0 may issue first.
  constexpr int kLast = L::kConsumers - 1;
  if (consumer == kLast && tiles > 1) weft::named_barrier_arrive(kTurnBarrier, 256);
  for (int visited = 1; visited < tiles; ++visited) {
    weft::barrier_wait(shared.keys_full(keys_at.stage), keys_at.parity);
    weft::named_barrier_sync(kTurnBarrier + consumer, 256);
    multiply_keys<kHeadDim>(scores, queries, shared.keys(keys_at.stage));
    weft::barrier_wait(shared.values_full(values_at.stage), values_at.parity);
    multiply_values<kHeadDim>(output, weights, shared.values(values_at.stage), visited > 1);
    // Nobody waits for the last turn of the last consumer.
    if (consumer < kLast) {
      weft::named_barrier_arrive(kTurnBarrier + consumer + 1, 256);
    } else if (visited + 1 < tiles) {
      weft::named_barrier_arrive(kTurnBarrier, 256);
    }
    weft::wgmma_wait<1>();
    weft::pin_registers(scores);
    release(shared.keys_empty(keys_at.stage));
    mask(tiles - 1 - visited);
    softmax.update(scores, scale_log2);
    weft::wgmma_wait<0>();
    weft::pin_registers(output);
    release(shared.values_empty(values_at.stage));
    softmax.rescale(output);
    pack_weights(weights, scores);
    keys_at.advance();
    values_at.advance();
  }
  weft::barrier_wait(shared.values_full(values_at.stage), values_at.parity);
  multiply_values<kHeadDim>(output, weights, shared.values(values_at.stage), tiles > 1);
  weft::wgmma_wait<0>();
  weft::pin_registers(output);
  release(shared.values_empty(values_at.stage));

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float total = quad_sum(softmax.sum[r]);
    softmax.correction[r] = 1.0f / total;
    if (lane % 4 == 0 && row + 8 * r < tokens) {
      lse[(static_cast<size_t>(batch) * heads + head) * tokens + row + 8 * r] =
          softmax.maximum[r] * scale + logf(total);
    }
  }
  softmax.rescale(output);

  // The queries of this consumer are not needed any more; their place takes the output on its way.
  const int tile_row = thread / 32 * 16 + lane % 16;
#pragma unroll
  for (int pair = 0; pair < kHeadDim / 16; ++pair) {
    const int chunk = pair * 2 % 8 + lane / 16;
    weft::store_matrices(
        queries + pair / 4 * L::kQueryPanelBytes + tile_row * 128 + ((chunk ^ (tile_row % 8)) * 16),
        weft::pack_bf16(output[8 * pair + 0], output[8 * pair + 1]),
        weft::pack_bf16(output[8 * pair + 2], output[8 * pair + 3]),
        weft::pack_bf16(output[8 * pair + 4], output[8 * pair + 5]),
        weft::pack_bf16(output[8 * pair + 6], output[8 * pair + 7]));
  }
  weft::fence_async_proxy();
  weft::named_barrier_sync(kGroupBarrier + consumer, 128);
  if (thread == 0) {
    for (int panel = 0; panel < L::kPanels; ++panel) {
      weft::tma_store(maps.o, queries + panel * L::kQueryPanelBytes, panel * 64,
                      query + consumer * 64, head, batch);
    }
    weft::tma_store_commit();
    weft::tma_store_wait<0>();
  }
}

template <int kHeadDim>
__global__ void __launch_bounds__(Layout<kHeadDim>::kThreads, 1)
    attention_forward(const __grid_constant__ Maps maps, float* lse, int tokens, int heads,
                      float scale) {
  using L = Layout<kHeadDim>;
  extern __shared__ uint8_t dynamic_shared[];
  const L shared{(weft::shared_address(dynamic_shared) + 1023) & ~1023u};
  // Causal work grows with the query, so the longest blocks start first.
  const int query_tile = kCausal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int query = query_tile * L::kQueries;
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  const int last_key = kCausal ? min(tokens, query + L::kQueries) : tokens;
  const int tiles = (last_key + L::kKeys - 1) / L::kKeys;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      weft::barrier_init(shared.keys_full(stage), 1);
      weft::barrier_init(shared.values_full(stage), 1);
      weft::barrier_init(shared.keys_empty(stage), 4 * L::kConsumers);
      weft::barrier_init(shared.values_empty(stage), 4 * L::kConsumers);
    }
    weft::barrier_init(shared.queries_full(), 1);
    weft::fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    weft::release_registers<L::kProducerRegisters>();
    if (threadIdx.x < 32 && weft::elect_one_lane()) {
      produce<kHeadDim>(maps, shared, tiles, query, head, batch);
    }
  } else {
    weft::acquire_registers<L::kConsumerRegisters>();
    consume<kHeadDim>(maps, shared, lse, tiles, query, head, batch, tokens, heads, scale);
  }
}

struct Problem {
  uint64_t batches, tokens, heads;
  tvm::ffi::TensorView q, k, v, o;
  float* lse;
  cudaStream_t stream;
};

template <int kHeadDim>
void launch(const Problem& problem) {
  using L = Layout<kHeadDim>;
  const auto map = [&](const tvm::ffi::TensorView& tensor, uint32_t rows) {
    constexpr uint64_t kRow = kHeadDim * 2;
    const uint64_t head_bytes = problem.tokens * kRow;
    return weft::bf16_tensor_map<4>(
        weft::elements<void>(tensor), {kHeadDim, problem.tokens, problem.heads, problem.batches},
        {kRow, head_bytes, problem.heads * head_bytes}, {64, rows, 1, 1});
  };
  const Maps maps{map(problem.q, 64), map(problem.k, L::kKeys), map(problem.v, L::kKeys),
                  map(problem.o, 64)};
#ifdef WEFT_FAULT_SCALE
  const float scale = 1.0f;
#else
  const float scale = 1.0f / std::sqrt(static_cast<float>(kHeadDim));
#endif
  WEFT_CUDA_CHECK(cudaFuncSetAttribute(attention_forward<kHeadDim>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes));
  const dim3 grid((problem.tokens + L::kQueries - 1) / L::kQueries, problem.heads, problem.batches);
  attention_forward<kHeadDim><<<grid, L::kThreads, L::kBytes, problem.stream>>>(
      maps, problem.lse, static_cast<int>(problem.tokens), static_cast<int>(problem.heads), scale);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
         tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  weft::require_bf16(q, "Q", 4);
  weft::require_bf16(k, "K", 4);
  weft::require_bf16(v, "V", 4);
  weft::require_bf16(o, "O", 4);
  weft::require_float(lse, "LSE", 3);
  for (int i = 0; i < 4; ++i) {
    TVM_FFI_CHECK(k.size(i) == q.size(i) && v.size(i) == q.size(i) && o.size(i) == q.size(i),
                  ValueError)
        << "Q, K, V and O differ in dimension " << i;
  }
  TVM_FFI_CHECK(lse.size(0) == q.size(0) && lse.size(1) == q.size(1) && lse.size(2) == q.size(2),
                ValueError)
      << "LSE must be [batch, heads, tokens]";
  const Problem problem{static_cast<uint64_t>(q.size(0)),
                        static_cast<uint64_t>(q.size(2)),
                        static_cast<uint64_t>(q.size(1)),
                        q,
                        k,
                        v,
                        o,
                        weft::elements<float>(lse),
                        weft::stream_of(q)};
  if (q.numel() == 0) return;
  switch (q.size(3)) {
    case 64:
      return launch<64>(problem);
    case 96:
      return launch<96>(problem);
    case 128:
      return launch<128>(problem);
    case 256:
      return launch<256>(problem);
    default:
      TVM_FFI_THROW(ValueError) << "no kernel for head dimension " << q.size(3);
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
