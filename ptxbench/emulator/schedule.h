// SPDX-License-Identifier: Apache-2.0

// What a schedule seed decides of a cluster's run: which warp goes first and how far, which one
// falls behind, and when asynchronous work takes effect. All of it lies within what the memory
// model allows, so a program without races cannot tell.
//
// Every cluster draws from a stream of its own: its run depends on the seed and its number, not on
// how many workers there are. A seed also has a style, because one mixture finds little: copies
// that land at once show only where warps change often, late ones only where they run far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::emulator {

class Schedule {
 public:
  // The plain order: warps one after the other in long turns, typical latencies.
  Schedule() = default;
  // `launch` and `cluster` number the grid and the cluster in it. Seed 0 is the plain order.
  Schedule(uint64_t seed, uint64_t launch, uint64_t cluster);

  bool plain() const { return plain_; }
  // A number below `limit` (above 0); 0 in the plain order.
  uint64_t below(uint64_t limit);
  // Ops that the next warp may run before another one's turn.
  uint64_t turn();
  // Whether the warp is left out this round; at most one of `warps` is, for some rounds.
  bool is_held(size_t warp) const { return hold_rounds_ != 0 && warp == held_; }
  bool is_holding() const { return hold_rounds_ != 0; }
  void begin_round(size_t warps);
  void release() { hold_rounds_ = 0; }
  // Cluster clock ticks until asynchronous work takes effect, from 0 to 64 times the typical.
  uint64_t latency(uint64_t typical);
  // Whether work of tensor cores that could be carried out by now is.
  bool is_early();

 private:
  enum class Latency : uint8_t { AtOnce, Around, Late, Mixed };

  bool plain_ = true;
  uint64_t state_ = 0;
  unsigned turn_bits_ = 0;  // turns are below two to this
  Latency latency_ = Latency::Around;
  size_t held_ = 0;
  uint64_t hold_rounds_ = 0;
};

// The `number`th cluster to begin: clusters trade places within windows of `window`, so that none
// waits for one that cannot begin. Seed 0 keeps the order.
uint64_t cluster_in_turn(uint64_t seed, uint64_t launch, uint64_t number, uint64_t window,
                         uint64_t clusters);

}  // namespace weft::emulator
