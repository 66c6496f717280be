// SPDX-License-Identifier: Apache-2.0

// How near the matrix path of wgmma comes to what this processor can do, on one core.
//
// One round is what a warpgroup of a bf16 GEMM does for one stage of its ring: four steps of
// m64nNk16 on operands in swizzled shared memory, accumulators in the warps' registers. The peer is
// a plain fp32 product of the same size by oneDNN, whose operands are fp32 in row order already.
// The limit is a loop of independent fused multiply-adds.

#include <dnnl.h>
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "ptxbench/emulator/tile/matrix_descriptor.h"
#include "ptxbench/emulator/tile/matrix_product.h"

namespace {

using namespace weft::emulator;

// Processor time of this thread: other programs share the machine.
double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Other programs share the machine, so what is compared runs in turns of a few milliseconds, and
// the best turn of each counts.
struct Contestant {
  double flops = 0;  // of one call
  std::function<void()> call;
  double best = 0;  // GFLOP/s
};

void compete(std::vector<Contestant>& contestants) {
  for (int turn = 0; turn < 80; ++turn)
    for (Contestant& contestant : contestants) {
      const double begin = seconds();
      double end = begin;
      int calls = 0;
      for (; end - begin < 0.003; end = seconds(), ++calls) contestant.call();
      contestant.best = std::max(contestant.best, calls * contestant.flops / (end - begin) * 1e-9);
    }
}

// The limit: twelve chains of fused multiply-adds, all the two units can take.
constexpr double kLimitFlops = 12 * 16 * 4096.0;
void run_limit() {
  [[maybe_unused]] static volatile float sink;
  __m256 sum[12];
  for (auto& s : sum) s = _mm256_set1_ps(1.0f);
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (int i = 0; i < 4096; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = _mm256_fmadd_ps(s, x, y);
    asm volatile("" : "+x"(x), "+x"(y));
  }
  for (int i = 1; i < 12; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  sink = _mm256_cvtss_f32(sum[0]);
}

float bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

constexpr int kM = 64, kK = 64, kSteps = 4;

// One stage: A 64 x 64 and B N x 64 in bf16, both K-major with the 128-byte swizzle.
bool compare(int n) {
  std::mt19937 random(7);
  std::vector<std::byte> storage(128 * 1024 + 1024);
  auto* shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(storage.data()) + 1023) &
                                              ~uintptr_t{1023});
  const uint32_t b_start = kM * 128;
  std::vector<float> a(kM * kK), b(static_cast<size_t>(kK) * n), c(static_cast<size_t>(kM) * n);
  const auto put = [&](uint32_t start, int row, int k) {
    const uint16_t bits = static_cast<uint16_t>((random() & 0x807f) | ((120 + random() % 8) << 7));
    const uint32_t linear = start + row * 128 + k * 2;
    std::memcpy(shared + (linear ^ ((linear >> 3) & 0x70)), &bits, 2);
    return bf16(bits);
  };
  for (int i = 0; i < kM; ++i)
    for (int k = 0; k < kK; ++k) a[i * kK + k] = put(0, i, k);
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < kK; ++k) b[static_cast<size_t>(k) * n + j] = put(b_start, j, k);

  const MatrixShape shape{TileElement::Bf16, TileElement::Bf16, kM, static_cast<uint16_t>(n), 16};
  std::vector<MatrixStep> steps(kSteps);
  for (int s = 0; s < kSteps; ++s) {
    const auto rows = [&](uint32_t start) {
      const uint64_t bits = ((start + s * 32) >> 4) | (uint64_t{1} << 16) | (uint64_t{64} << 32) |
                            (uint64_t{1} << 62);
      return descriptor_rows(decode_descriptor(bits), Major::Depth, shared);
    };
    steps[s].a = rows(0);
    steps[s].b = rows(b_start);
  }
  const int column_groups = n / 8;
  std::vector<float> registers(static_cast<size_t>(kM) * n);
  std::vector<float*> parts(registers.size() / 32);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = registers.data() + 32 * i;

  std::fill(c.begin(), c.end(), 0.0f);
  dnnl_sgemm('N', 'N', kM, n, kK, 1.0f, a.data(), kK, b.data(), n, 0.0f, c.data(), n);

  bool good = true;
  const auto engines = available_tile_engines();
  for (const TileEngine* engine : engines) {
    std::fill(registers.begin(), registers.end(), 0.0f);
    accumulate(*engine, shape, steps, parts.data());
    double worst = 0;
    for (int i = 0; i < kM; ++i)
      for (int j = 0; j < n; ++j) {
        const float value =
            parts[(i / 8 * column_groups + j / 8) * 2 + j % 2][i % 8 * 4 + j % 8 / 2];
        worst = std::max(worst, std::abs(double{value} - c[static_cast<size_t>(i) * n + j]));
      }
    if (worst > 1e-3) {
      std::printf("m64n%dk16 %s is WRONG by %g\n", n, engine->name.data(), worst);
      good = false;
    }
  }

  // The peer once at the same size and once at a size that spreads its start-up cost.
  const double flops = 2.0 * kM * n * kK;
  std::vector<float> large_a(512 * 512, 0.5f), large_b(512 * 512, 0.25f), large_c(512 * 512);
  std::vector<Contestant> contestants = {
      {kLimitFlops, run_limit},
      {flops,
       [&] {
         dnnl_sgemm('N', 'N', kM, n, kK, 1.0f, a.data(), kK, b.data(), n, 1.0f, c.data(), n);
       }},
      {2.0 * 512 * 512 * 512, [&] {
         dnnl_sgemm('N', 'N', 512, 512, 512, 1.0f, large_a.data(), 512, large_b.data(), 512, 0.0f,
                    large_c.data(), 512);
       }}};
  for (const TileEngine* engine : engines)
    contestants.push_back(
        {flops, [&, engine] { accumulate(*engine, shape, steps, parts.data()); }});
  compete(contestants);
  const double limit = contestants[0].best, peer = contestants[1].best, large = contestants[2].best;
  for (size_t i = 0; i < engines.size(); ++i) {
    const double ours = contestants[3 + i].best;
    std::printf(
        "m64n%-3dk16 x 4  %-9s %6.1f GFLOP/s | oneDNN, same size %6.1f, ratio %.2f | oneDNN, 512^3 "
        "%6.1f, ratio %.2f | fma limit %6.1f, ratio %.2f\n",
        n, engines[i]->name.data(), ours, peer, ours / peer, large, ours / large, limit,
        ours / limit);
  }
  return good;
}

}  // namespace

int main() {
  omp_set_num_threads(1);
  bool good = true;
  for (int n : {64, 128, 192, 256}) good = compare(n) && good;
  return good ? 0 : 1;
}
