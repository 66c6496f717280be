// SPDX-License-Identifier: Apache-2.0

// How long a sharding plan takes to find: 100 blocks, 64 steps of memory, 5 strategies, 8 batch
// sizes, every block different. Beside it the plain programme that rounds each block up to whole
// ones of 4,096 steps of memory (with 64 steps 100 blocks would never fit); the answer must be at
// least as fast as that one's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "lattice/sharding/plan.h"

namespace weft::lattice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kBlocks = 100, kBatches = 8, kSteps = 64, kRoundedSteps = 4096;

Profile imagined() {
  std::mt19937_64 random(1);
  const auto draw = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  Profile profile{.hardware = "imagined", .ranks = 64, .ranks_per_host = 8};
  profile.within_host = {{0, 5e-6, 2e11}};
  profile.between_hosts = {{0, 2e-5, 4e10}};
  for (size_t b = 0; b < kBatches; ++b) profile.batch_rows.push_back(256 << b);
  for (size_t l = 0; l < kBlocks; ++l) {
    BlockProfile block{.name = std::to_string(l), .parameter_bytes = draw(1e6, 4e8)};
    const double forward = draw(1e-5, 2e-4), kept = draw(1e5, 4e6);
    for (size_t b = 0; b < kBatches; ++b) {
      const auto scale = static_cast<double>(1 << b);
      block.forward_seconds.push_back(forward * scale);
      block.backward_seconds.push_back(2 * forward * scale);
      block.activation_bytes.push_back(kept * scale);
    }
    profile.blocks.push_back(std::move(block));
  }
  return profile;
}

// Infinity when rounding leaves no plan.
double rounded_programme(const Profile& profile, size_t batch, double memory) {
  const double step = memory / kRoundedSteps, never = std::numeric_limits<double>::infinity();
  std::vector<double> best(kRoundedSteps + 1, 0);
  for (const BlockProfile& block : profile.blocks) {
    std::vector<double> next(kRoundedSteps + 1, never);
    for (size_t s = 0; s < kStrategies; ++s) {
      const StrategyCost cost = cost_of(profile, block, static_cast<Strategy>(s));
      const auto taken = static_cast<size_t>(std::min<double>(
          kRoundedSteps + 1, (cost.bytes() + block.activation_bytes[batch]) / step + 1));
      for (size_t r = taken; r <= kRoundedSteps; ++r)
        next[r] =
            std::min(next[r], best[r - taken] + block.forward_seconds[batch] +
                                  block.backward_seconds[batch] + cost.communication_seconds());
    }
    best = next;
  }
  return best[kRoundedSteps];
}

int bench() {
  const Profile profile = imagined();
  constexpr double kMemory = 24e9;
  const auto start = Clock::now();
  size_t exact = 0;
  for (size_t batch = 0; batch < kBatches; ++batch) {
    const AdditivePlans plans = plan_blocks(profile, batch, kMemory, 1, kSteps);
    exact += plans.exact ? 1 : 0;
    const double rounded = rounded_programme(profile, batch, kMemory);
    const double found =
        plans.fastest.empty() ? std::numeric_limits<double>::infinity() : plans.fastest[0].seconds;
    std::printf("%6lld rows: %.6f s a step, with rounded blocks %.6f\n",
                static_cast<long long>(profile.batch_rows[batch]), found, rounded);
    if (found > rounded) return 1;
  }
  const double programme = std::chrono::duration<double>(Clock::now() - start).count();
  const auto again = Clock::now();
  const auto report = make_plan(profile, kMemory);
  const double whole = std::chrono::duration<double>(Clock::now() - again).count();
  if (!report.ok()) return 1;
  double uniform = 0;
  for (const UniformPlan& one : report->uniform)
    if (one.best) uniform = std::max(uniform, one.best->rows_per_second);
  std::printf("programme %.3f s (%zu of %zu batch sizes exact); with the simulator %.3f s\n",
              programme, exact, kBatches, whole);
  std::printf("%.0f rows/s, the best uniform plan %.0f: %.2f times\n", report->plan.rows_per_second,
              uniform, report->plan.rows_per_second / uniform);
  return report->plan.rows_per_second >= uniform ? 0 : 1;
}

}  // namespace
}  // namespace weft::lattice

int main() {
  return weft::lattice::bench();
}
