// SPDX-License-Identifier: Apache-2.0

// The five ways of FSDP to hold a block's parameters (PyTorch's ShardingStrategy), with what each
// costs one rank. P parameter bytes, N ranks, G of one host, H hosts; gradients and Adam's two
// moments follow the parameters.
//
//   strategy               at rest    whole from forward to backward   collectives of a step
//   no_shard               4 P        -                                all-reduce over N
//   shard_grad_op          4 P / N    P                                gather, scatter over N
//   full_shard             4 P / N    -                                2 gathers, scatter over N
//   hybrid_shard           4 P / G    -                                the same over G, all-reduce
//   over H hybrid_shard_zero2     4 P / G    P                                gather, scatter over
//   G, same
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lattice/sharding/profile.h"

namespace weft::lattice {

enum class Strategy : uint8_t { NoShard, ShardGradOp, FullShard, HybridShard, HybridShardZero2 };
constexpr size_t kStrategies = 5;
constexpr std::array<const char*, kStrategies> kStrategyWords = {
    "no_shard", "shard_grad_op", "full_shard", "hybrid_shard", "hybrid_shard_zero2"};

struct StrategyCost {
  double rest_bytes = 0;            // parameters, gradients and moments between steps
  double whole_bytes = 0;           // parameters of all ranks, from forward to backward
  double transient_bytes = 0;       // the same, but only while the block computes
  double gather_seconds = 0;        // before the forward pass
  double gather_again_seconds = 0;  // before the backward pass
  double reduce_seconds = 0;        // of gradients, after the backward pass

  double bytes() const { return rest_bytes + whole_bytes; }
  double communication_seconds() const {
    return gather_seconds + gather_again_seconds + reduce_seconds;
  }
};

StrategyCost cost_of(const Profile& profile, const BlockProfile& block, Strategy strategy);

}  // namespace weft::lattice
