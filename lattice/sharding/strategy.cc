// SPDX-License-Identifier: Apache-2.0

// A group of one rank, or of one host, communicates with nobody: gather_seconds() is 0 there, and
// the strategies meet.
#include "lattice/sharding/strategy.h"

namespace weft::lattice {

StrategyCost cost_of(const Profile& profile, const BlockProfile& block, Strategy strategy) {
  constexpr double kCopies = 4;  // parameters, gradients, two moments
  const int64_t hosts = profile.ranks / profile.ranks_per_host;
  const double whole = block.parameter_bytes;
  const bool hybrid = strategy == Strategy::HybridShard || strategy == Strategy::HybridShardZero2;
  const int64_t group = hybrid ? profile.ranks_per_host : profile.ranks;
  const std::vector<LinkPoint>& link =
      group > profile.ranks_per_host ? profile.between_hosts : profile.within_host;
  const double gather = gather_seconds(link, whole, group);
  if (strategy == Strategy::NoShard)
    return {.rest_bytes = kCopies * whole, .reduce_seconds = 2 * gather};
  StrategyCost cost{.rest_bytes = kCopies * whole / static_cast<double>(group),
                    .gather_seconds = gather,
                    .reduce_seconds = gather};
  if (hybrid)
    cost.reduce_seconds +=
        2 * gather_seconds(profile.between_hosts, whole / static_cast<double>(group), hosts);
  if (strategy == Strategy::FullShard || strategy == Strategy::HybridShard) {
    cost.transient_bytes = whole;
    cost.gather_again_seconds = gather;
  } else {
    cost.whole_bytes = whole;
  }
  return cost;
}

}  // namespace weft::lattice
