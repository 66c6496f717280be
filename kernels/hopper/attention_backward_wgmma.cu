// SPDX-License-Identifier: Apache-2.0

// Attention backward in bf16. Given q, k, v, o, do [batch, heads, tokens, d] and, in float32
// [batch, heads, tokens], lse of the forward pass, it computes dq, dk, dv. With S = scale * Q K',
// P = exp(S - lse), dP = dO V', delta = rowsum(dO * O), dS = P * (dP - delta):
//
//   dV = P' dO        dK = scale * dS' Q        dQ = scale * dS K        (' transposes)
//
// A first kernel computes delta. The two that follow have the shape of the forward one, so that
// nothing is added up across blocks and the result is the same in every run. Each keeps 128 rows of
// one pair of tensors in shared memory and streams the other pair past them:
//
//                kept   streamed     products of a tile                    sums in registers
//   keys kept    K, V   Q, dO        S' = K Q', dP' = V dO'                dV += P' dO, dK += dS' Q
//   queries kept Q, dO  K, V         S  = Q K', dP  = dO V'                dQ += dS K
//
// The first two products leave P and dS (or their transposes, which is why the first kernel
// computes S') in exactly the registers in which wgmma takes an A operand, so they never visit
// shared memory. The price is that S and dP are computed twice: 7 products instead of 5.
//
// One warpgroup produces: lane 0 of warp 0 feeds the copy engine; warp 1 brings lse and delta of
// streamed queries. Two warpgroups consume, 64 kept rows each. d is 64, 96 or 128.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>
#include <weft/wgmma.cuh>

#include <cmath>

#ifndef WEFT_CAUSAL
#define WEFT_CAUSAL 0
#endif

namespace {

constexpr bool kCausal = WEFT_CAUSAL != 0;
constexpr int kConsumers = 2;
constexpr int kKept = 64 * kConsumers;
constexpr int kStreamed = 64;
constexpr int kThreads = 128 * (1 + kConsumers);
constexpr int kStages = 3;
constexpr int kGroupBarrier = 1;
constexpr float kLog2E = 1.44269504f;

enum class Keep { Keys, Queries };

// Shared memory. Tiles are stored as panels of 64 columns: 128 bytes a row, swizzled.
template <int kHeadDim>
struct Layout {
  static constexpr int kPanels = (kHeadDim + 63) / 64;
  static constexpr uint32_t kKeptPanel = kKept * 128;
  static constexpr uint32_t kStreamedPanel = kStreamed * 128;
  static constexpr uint32_t kKeptBytes = kPanels * kKeptPanel;
  static constexpr uint32_t kStreamedBytes = kPanels * kStreamedPanel;
  static constexpr uint32_t kRing = 2 * kKeptBytes;
  static constexpr uint32_t kStatistics = kRing + kStages * 2 * kStreamedBytes;
  static constexpr uint32_t kBarriers = kStatistics + kStages * 2 * kStreamed * 4;
  static constexpr uint32_t kBytes = kBarriers + (2 * kStages + 1) * 8 + 1024;

  uint32_t base;
  __device__ __forceinline__ uint32_t kept(int which) const { return base + which * kKeptBytes; }
  __device__ __forceinline__ uint32_t streamed(int stage, int which) const {
    return base + kRing + (2 * stage + which) * kStreamedBytes;
  }
  __device__ __forceinline__ uint32_t statistics(int stage) const {
    return base + kStatistics + stage * 2 * kStreamed * 4;
  }
  __device__ __forceinline__ uint32_t full(int stage) const { return base + kBarriers + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const { return full(kStages + stage); }
  __device__ __forceinline__ uint32_t kept_full() const { return full(2 * kStages); }
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

// kept[0], streamed[0] make the scores; kept[1], streamed[1] make dP.
struct Maps {
  CUtensorMap kept[2], streamed[2], results[2];
};

struct Place {
  int row;  // first kept row of the block
  int head, batch;
  int first_tile, last_tile;  // streamed tiles, the last not included
  int tokens;
};

__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int kHeadDim>
__device__ __forceinline__ void produce(const Maps& maps, const Layout<kHeadDim>& shared,
                                        const Place& place) {
  using L = Layout<kHeadDim>;
  weft::barrier_arrive_expect(shared.kept_full(), 2 * L::kKeptBytes);
  for (int which = 0; which < 2; ++which) {
    for (int panel = 0; panel < L::kPanels; ++panel) {
      for (int half = 0; half < kConsumers; ++half) {
        weft::tma_load(shared.kept(which) + panel * L::kKeptPanel + half * 64 * 128,
                       maps.kept[which], shared.kept_full(), panel * 64, place.row + half * 64,
                       place.head, place.batch);
      }
    }
  }
  RingPosition at;
  for (int tile = place.first_tile; tile < place.last_tile; ++tile, at.advance()) {
    const uint32_t full = shared.full(at.stage);
    weft::barrier_wait(shared.empty(at.stage), at.parity ^ 1);
    weft::barrier_arrive_expect(full, 2 * L::kStreamedBytes);
    for (int which = 0; which < 2; ++which) {
      for (int panel = 0; panel < L::kPanels; ++panel) {
        weft::tma_load(shared.streamed(at.stage, which) + panel * L::kStreamedPanel,
                       maps.streamed[which], full, panel * 64, tile * kStreamed, place.head,
                       place.batch);
      }
    }
  }
}

// One warp: lse (times log2 e) and delta of the streamed queries, two rows a lane. Rows past the
// end get an infinite lse, which makes their P zero.
template <int kHeadDim>
__device__ __forceinline__ void produce_statistics(const float* lse, const float* delta,
                                                   const Layout<kHeadDim>& shared,
                                                   const Place& place) {
  const int lane = threadIdx.x % 32;
  RingPosition at;
  for (int tile = place.first_tile; tile < place.last_tile; ++tile, at.advance()) {
    weft::barrier_wait(shared.empty(at.stage), at.parity ^ 1);
#pragma unroll
    for (int i = lane; i < kStreamed; i += 32) {
      const int row = tile * kStreamed + i;
      const float row_lse = row < place.tokens ? lse[row] * kLog2E : INFINITY;
      const float row_delta = row < place.tokens ? delta[row] : 0.0f;
      const uint32_t address = shared.statistics(at.stage) + i * 4;
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(row_lse) : "memory");
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(address + kStreamed * 4), "f"(row_delta)
                   : "memory");
    }
    weft::barrier_arrive(shared.full(at.stage));
  }
}

// D[64, streamed rows] = kept * streamed transposed, in flight when this returns.
template <int kHeadDim>
__device__ __forceinline__ void multiply_transposed(float (&d)[kStreamed / 2], uint32_t kept,
                                                    uint32_t streamed) {
  using L = Layout<kHeadDim>;
#pragma unroll
  for (int step = 0; step < kHeadDim / 16; ++step) {
    const int inside = step % 4 * 32;
    weft::wgmma_ss(d, weft::swizzled_tile(kept + step / 4 * L::kKeptPanel + inside),
                   weft::swizzled_tile(streamed + step / 4 * L::kStreamedPanel + inside), step > 0);
  }
  weft::wgmma_commit();
}

// D[64, d] += A * streamed, with A in registers.
template <int kHeadDim>
__device__ __forceinline__ void multiply(float (&d)[kHeadDim / 2],
                                         const uint32_t (&a)[kStreamed / 4], uint32_t streamed,
                                         bool accumulate) {
  using L = Layout<kHeadDim>;
#pragma unroll
  for (int step = 0; step < kStreamed / 16; ++step) {
    weft::wgmma_rs<weft::MajorB::N>(
        d, a[4 * step], a[4 * step + 1], a[4 * step + 2], a[4 * step + 3],
        weft::swizzled_tile(streamed + step * 16 * 128, L::kStreamedPanel), accumulate || step > 0);
  }
}

// Rounds 64 rows of a result into the place of the kept tile and sends them on their way.
template <int kHeadDim>
__device__ __forceinline__ void store_result(const CUtensorMap& map, float (&values)[kHeadDim / 2],
                                             float factor, uint32_t kept, int barrier,
                                             const Place& place, int row) {
  using L = Layout<kHeadDim>;
  const int thread = threadIdx.x % 128;
  const int lane = thread % 32;
  const int tile_row = thread / 32 * 16 + lane % 16;
#pragma unroll
  for (int pair = 0; pair < kHeadDim / 16; ++pair) {
    const int chunk = pair * 2 % 8 + lane / 16;
    uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      packed[i] =
          weft::pack_bf16(values[8 * pair + 2 * i] * factor, values[8 * pair + 2 * i + 1] * factor);
    }
    weft::store_matrices(
        kept + pair / 4 * L::kKeptPanel + tile_row * 128 + ((chunk ^ (tile_row % 8)) * 16),
        packed[0], packed[1], packed[2], packed[3]);
  }
  weft::fence_async_proxy();
  weft::named_barrier_sync(barrier, 128);
  if (thread == 0) {
    for (int panel = 0; panel < L::kPanels; ++panel) {
      weft::tma_store(map, kept + panel * L::kKeptPanel, panel * 64, row, place.head, place.batch);
    }
    weft::tma_store_commit();
  }
}

template <Keep kKeep, int kHeadDim>
__device__ __forceinline__ void consume(const Maps& maps, const Layout<kHeadDim>& shared,
                                        const float* lse, const float* delta, const Place& place,
                                        float scale) {
  const int consumer = threadIdx.x / 128 - 1;
  const int lane = threadIdx.x % 32;
  const int row = place.row + consumer * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  const float scale_log2 = scale * kLog2E;
  const uint32_t kept_scores = shared.kept(0) + consumer * 64 * 128;
  const uint32_t kept_slopes = shared.kept(1) + consumer * 64 * 128;

  // Statistics of kept queries stay in registers.
  float row_lse[2], row_delta[2];
  if constexpr (kKeep == Keep::Queries) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool inside = row + 8 * r < place.tokens;
      row_lse[r] = inside ? lse[row + 8 * r] * kLog2E : INFINITY;
      row_delta[r] = inside ? delta[row + 8 * r] : 0.0f;
    }
  }

  // A thread has registers to leave the last products of a tile in flight while the next tile's
  // first ones start, except where it holds both dK and dV of 128 columns.
  constexpr bool kOverlap = kKeep == Keep::Queries || kHeadDim < 128;
  const auto release = [&](int stage) {
    if (lane == 0) weft::barrier_arrive(shared.empty(stage));
  };

  float scores[kStreamed / 2];                                // S, then P
  float slopes[kStreamed / 2];                                // dP, then dS
  float sum_slopes[kHeadDim / 2];                             // dK or dQ
  float sum_weights[kKeep == Keep::Keys ? kHeadDim / 2 : 2];  // dV
  uint32_t weights[kKeep == Keep::Keys ? kStreamed / 4 : 1];
  uint32_t packed_slopes[kStreamed / 4];

  weft::barrier_wait(shared.kept_full(), 0);
  RingPosition at;
  int previous = 0;
  for (int tile = place.first_tile; tile < place.last_tile; ++tile, at.advance()) {
    weft::barrier_wait(shared.full(at.stage), at.parity);
    weft::wgmma_fence();
    multiply_transposed<kHeadDim>(scores, kept_scores, shared.streamed(at.stage, 0));
    multiply_transposed<kHeadDim>(slopes, kept_slopes, shared.streamed(at.stage, 1));

    weft::wgmma_wait<1>();
    weft::pin_registers(scores);
    if (kOverlap && tile > place.first_tile) release(previous);
    previous = at.stage;
    const int column = 2 * (lane % 4);
#pragma unroll
    for (int j = 0; j < kStreamed / 8; ++j) {
      float column_lse[2];
      if constexpr (kKeep == Keep::Keys) {
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(column_lse[0]), "=f"(column_lse[1])
                     : "r"(shared.statistics(at.stage) + (8 * j + column) * 4));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float offset = kKeep == Keep::Keys ? column_lse[i % 2] : row_lse[i / 2];
        scores[4 * j + i] = exp2_approximate(fmaf(scores[4 * j + i], scale_log2, -offset));
      }
    }
    // Only tiles on the diagonal and at the end of the sequence have pairs that do not count.
    const int first = tile * kStreamed;
    const bool diagonal = kCausal && (kKeep == Keep::Keys ? first < place.row + kKept
                                                          : first + kStreamed > place.row);
    if (diagonal || first + kStreamed > place.tokens) {
#pragma unroll
      for (int i = 0; i < kStreamed / 2; ++i) {
        const int kept_row = row + i / 2 % 2 * 8;
        const int streamed_row = first + i / 4 * 8 + column + i % 2;
        const bool hidden =
            kCausal && (kKeep == Keep::Keys ? streamed_row < kept_row : streamed_row > kept_row);
        if (hidden || streamed_row >= place.tokens) scores[i] = 0.0f;
      }
    }

    // dV needs only P, so it multiplies while dS is computed.
    const bool accumulate = tile > place.first_tile;
    if constexpr (kKeep == Keep::Keys) {
#pragma unroll
      for (int i = 0; i < kStreamed / 4; ++i) {
        weights[i] = weft::pack_bf16(scores[2 * i], scores[2 * i + 1]);
      }
      weft::wgmma_fence();
      multiply<kHeadDim>(sum_weights, weights, shared.streamed(at.stage, 1), accumulate);
      weft::wgmma_commit();
      weft::wgmma_wait<1>();
    } else {
      weft::wgmma_wait<0>();
    }
    weft::pin_registers(slopes);
#pragma unroll
    for (int j = 0; j < kStreamed / 8; ++j) {
      float column_delta[2];
      if constexpr (kKeep == Keep::Keys) {
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(column_delta[0]), "=f"(column_delta[1])
                     : "r"(shared.statistics(at.stage) + (kStreamed + 8 * j + column) * 4));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float offset = kKeep == Keep::Keys ? column_delta[i % 2] : row_delta[i / 2];
        slopes[4 * j + i] = scores[4 * j + i] * (slopes[4 * j + i] - offset);
      }
    }
#pragma unroll
    for (int i = 0; i < kStreamed / 4; ++i) {
      packed_slopes[i] = weft::pack_bf16(slopes[2 * i], slopes[2 * i + 1]);
    }
    weft::wgmma_fence();
    multiply<kHeadDim>(sum_slopes, packed_slopes, shared.streamed(at.stage, 0), accumulate);
    weft::wgmma_commit();
    if constexpr (!kOverlap) {
      weft::wgmma_wait<0>();
      release(at.stage);
    }
  }
  weft::wgmma_wait<0>();
  weft::pin_registers(sum_slopes);

  const int first_row = place.row + consumer * 64;
  if constexpr (kKeep == Keep::Keys) {
    weft::pin_registers(sum_weights);
    store_result<kHeadDim>(maps.results[1], sum_weights, 1.0f, kept_slopes,
                           kGroupBarrier + consumer, place, first_row);
  }
  store_result<kHeadDim>(maps.results[0], sum_slopes, scale, kept_scores, kGroupBarrier + consumer,
                         place, first_row);
  if (threadIdx.x % 128 == 0) weft::tma_store_wait<0>();
}

template <Keep kKeep, int kHeadDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_backward(const __grid_constant__ Maps maps, const float* lse, const float* delta,
                       int tokens, int heads, float scale) {
  extern __shared__ uint8_t dynamic_shared[];
  const Layout<kHeadDim> shared{(weft::shared_address(dynamic_shared) + 1023) & ~1023u};
  Place place;
  // Under a causal mask early keys and late queries have most to do; they start first.
  const int block = kCausal && kKeep == Keep::Queries ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  place.row = block * kKept;
  place.head = blockIdx.y;
  place.batch = blockIdx.z;
  place.tokens = tokens;
  place.first_tile = kCausal && kKeep == Keep::Keys ? place.row / kStreamed : 0;
  const int end = kCausal && kKeep == Keep::Queries ? min(tokens, place.row + kKept) : tokens;
  place.last_tile = (end + kStreamed - 1) / kStreamed;
  const size_t statistics = (static_cast<size_t>(place.batch) * heads + place.head) * tokens;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      // The copy engine's lane, and the lanes that bring statistics.
      weft::barrier_init(shared.full(stage), kKeep == Keep::Keys ? 33 : 1);
      weft::barrier_init(shared.empty(stage), 4 * kConsumers);
    }
    weft::barrier_init(shared.kept_full(), 1);
    weft::fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    weft::release_registers<24>();
    if (threadIdx.x < 32) {
      if (weft::elect_one_lane()) produce<kHeadDim>(maps, shared, place);
    } else if (kKeep == Keep::Keys && threadIdx.x < 64) {
      produce_statistics<kHeadDim>(lse + statistics, delta + statistics, shared, place);
    }
  } else {
    weft::acquire_registers<240>();
    consume<kKeep, kHeadDim>(maps, shared, lse + statistics, delta + statistics, place, scale);
  }
}

// delta of one row a warp. A lane takes pairs of columns, which a row of 96 gives to 16 of the
// lanes once more than to the others.
template <int kHeadDim>
__global__ void __launch_bounds__(128)
    row_sums(const __nv_bfloat162* grad, const __nv_bfloat162* o, float* delta, int64_t rows) {
  const int64_t row = int64_t{blockIdx.x} * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < kHeadDim / 2; i += 32) {
    const float2 a = __bfloat1622float2(grad[row * (kHeadDim / 2) + i]);
    const float2 b = __bfloat1622float2(o[row * (kHeadDim / 2) + i]);
    sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) delta[row] = sum;
}

struct Problem {
  uint64_t batches, tokens, heads;
  tvm::ffi::TensorView q, k, v, o, grad, dq, dk, dv;
  const float* lse;
  float* delta;
  cudaStream_t stream;
};

template <Keep kKeep, int kHeadDim>
void launch_one(const Problem& problem, const Maps& maps) {
  using L = Layout<kHeadDim>;
  const auto kernel = attention_backward<kKeep, kHeadDim>;
  WEFT_CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes));
  const dim3 grid((problem.tokens + kKept - 1) / kKept, problem.heads, problem.batches);
  kernel<<<grid, kThreads, L::kBytes, problem.stream>>>(
      maps, problem.lse, problem.delta, static_cast<int>(problem.tokens),
      static_cast<int>(problem.heads), 1.0f / std::sqrt(static_cast<float>(kHeadDim)));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

template <int kHeadDim>
void launch(const Problem& problem) {
  const auto map = [&](const tvm::ffi::TensorView& tensor) {
    constexpr uint64_t kRow = kHeadDim * 2;
    const uint64_t head_bytes = problem.tokens * kRow;
    return weft::bf16_tensor_map<4>(weft::elements<void>(tensor),
                                    {kHeadDim, problem.tokens, problem.heads, problem.batches},
                                    {kRow, head_bytes, problem.heads * head_bytes}, {64, 64, 1, 1});
  };
  const int64_t rows = static_cast<int64_t>(problem.batches * problem.heads * problem.tokens);
  row_sums<kHeadDim><<<(rows + 3) / 4, 128, 0, problem.stream>>>(
      weft::elements<const __nv_bfloat162>(problem.grad),
      weft::elements<const __nv_bfloat162>(problem.o), problem.delta, rows);
  WEFT_CUDA_CHECK(cudaGetLastError());
  const CUtensorMap q = map(problem.q), k = map(problem.k), v = map(problem.v);
  const CUtensorMap grad = map(problem.grad);
  launch_one<Keep::Keys, kHeadDim>(problem,
                                   {{k, v}, {q, grad}, {map(problem.dk), map(problem.dv)}});
  const CUtensorMap dq = map(problem.dq);
  launch_one<Keep::Queries, kHeadDim>(problem, {{q, grad}, {k, v}, {dq, dq}});
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v,
         tvm::ffi::TensorView o, tvm::ffi::TensorView grad, tvm::ffi::TensorView lse,
         tvm::ffi::TensorView dq, tvm::ffi::TensorView dk, tvm::ffi::TensorView dv) {
  const tvm::ffi::TensorView* tensors[] = {&q, &k, &v, &o, &grad, &dq, &dk, &dv};
  const char* names[] = {"Q", "K", "V", "O", "dO", "dQ", "dK", "dV"};
  for (int t = 0; t < 8; ++t) {
    weft::require_bf16(*tensors[t], names[t], 4);
    for (int i = 0; i < 4; ++i) {
      TVM_FFI_CHECK(tensors[t]->size(i) == q.size(i), ValueError)
          << names[t] << " differs from Q in dimension " << i;
    }
  }
  weft::require_float(lse, "L", 3);
  for (int i = 0; i < 3; ++i) {
    TVM_FFI_CHECK(lse.size(i) == q.size(i), ValueError) << "L must be [batch, heads, tokens]";
  }
  TVM_FFI_CHECK(q.size(3) == 64 || q.size(3) == 96 || q.size(3) == 128, ValueError)
      << "no kernel for head dimension " << q.size(3);
  if (q.numel() == 0) return;
  // Taken from the stream's pool and given back behind the last kernel: nothing waits.
  const cudaStream_t stream = weft::stream_of(q);
  float* delta = nullptr;
  WEFT_CUDA_CHECK(cudaMallocAsync(&delta, lse.numel() * sizeof(float), stream));
  const Problem problem{static_cast<uint64_t>(q.size(0)),
                        static_cast<uint64_t>(q.size(2)),
                        static_cast<uint64_t>(q.size(1)),
                        q,
                        k,
                        v,
                        o,
                        grad,
                        dq,
                        dk,
                        dv,
                        weft::elements<const float>(lse),
                        delta,
                        stream};
  switch (q.size(3)) {
    case 64:
      launch<64>(problem);
      break;
    case 96:
      launch<96>(problem);
      break;
    default:
      launch<128>(problem);
  }
  WEFT_CUDA_CHECK(cudaFreeAsync(delta, stream));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
