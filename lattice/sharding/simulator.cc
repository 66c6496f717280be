// SPDX-License-Identifier: Apache-2.0

// Memory is a list of changes with their moments; the peak is the largest sum in their order.
#include "lattice/sharding/simulator.h"

#include <algorithm>

namespace weft::lattice {
namespace {

struct Change {
  double seconds, bytes;
};

double peak_of(std::vector<Change> changes, double rest) {
  // What is freed at a moment is free for what is taken at the same one.
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.bytes < b.bytes;
  });
  double now = rest, peak = rest;
  for (const Change& change : changes) peak = std::max(peak, now += change.bytes);
  return peak;
}

}  // namespace

Simulated simulate(const Profile& profile, size_t batch, const std::vector<Strategy>& plan,
                   const SimulatedTables& tables, int64_t prefetch) {
  const size_t blocks = plan.size();
  std::vector<StrategyCost> costs;
  double rest = tables.bytes;
  for (size_t l = 0; l < blocks; ++l) {
    costs.push_back(cost_of(profile, profile.blocks[l], plan[l]));
    rest += costs[l].rest_bytes;
  }
  std::vector<Change> changes;
  const auto hold = [&](double from, double until, double bytes) {
    if (bytes == 0) return;
    changes.push_back({from, bytes});
    changes.push_back({until, -bytes});
  };

  // Pass k of 2 * blocks: forward through the blocks, then backward.
  const size_t passes = 2 * blocks;
  const auto block_of = [&](size_t k) { return k < blocks ? k : passes - 1 - k; };
  const auto gather_of = [&](size_t k) {
    const StrategyCost& cost = costs[block_of(k)];
    return k < blocks ? cost.gather_seconds : cost.gather_again_seconds;
  };
  std::vector<double> gather_start(passes), gathered(passes), begun(passes), ended(passes);
  std::vector<double> reduced(blocks);
  double communication = tables.seconds / 2, computation = 0;
  const double first = communication;
  size_t next_gather = 0;
  const auto gather_until = [&](size_t last) {
    for (; next_gather < passes && next_gather <= last; ++next_gather) {
      // Not before there is room: its turn is `prefetch` passes ahead of the one that computes.
      const auto ahead = static_cast<int64_t>(next_gather) - prefetch - 1;
      const double room = ahead < 0 ? 0 : ended[static_cast<size_t>(ahead)];
      const double seconds = gather_of(next_gather);
      gather_start[next_gather] = seconds == 0 ? room : std::max(communication, room);
      gathered[next_gather] = gather_start[next_gather] + seconds;
      if (seconds != 0) communication = gathered[next_gather];
    }
  };
  for (size_t k = 0; k < passes; ++k) {
    gather_until(k + static_cast<size_t>(prefetch));
    const size_t l = block_of(k);
    const BlockProfile& block = profile.blocks[l];
    begun[k] = std::max({computation, gathered[k], k == 0 ? first : 0.0});
    ended[k] = computation =
        begun[k] + (k < blocks ? block.forward_seconds[batch] : block.backward_seconds[batch]);
    if (k < blocks) continue;
    // The gathers that may start now go first.
    gather_until(k + static_cast<size_t>(prefetch) + 1);
    reduced[l] = ended[k];
    if (costs[l].reduce_seconds != 0)
      communication = reduced[l] = std::max(communication, ended[k]) + costs[l].reduce_seconds;
  }
  for (size_t l = 0; l < blocks; ++l) {
    const size_t back = passes - 1 - l;
    const double whole = profile.blocks[l].parameter_bytes;
    hold(begun[l], ended[back], profile.blocks[l].activation_bytes[batch]);
    hold(gather_start[l], ended[back], costs[l].whole_bytes);
    hold(gather_start[l], ended[l], costs[l].transient_bytes);
    hold(gather_start[back], ended[back], costs[l].transient_bytes);
    if (plan[l] != Strategy::NoShard) hold(begun[back], reduced[l], whole);  // its gradients
  }
  return {.seconds = std::max(computation, communication) + tables.seconds / 2,
          .peak_bytes = peak_of(std::move(changes), rest)};
}

}  // namespace weft::lattice
