// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/schedule.h"

#include <algorithm>

namespace weft::emulator {

namespace {

// Ops that one warp runs before the next one's turn. Long turns keep the warp's registers in the
// cache; synchronisation ends most turns much earlier.
constexpr uint64_t kTurn = 4096;
// A late effect comes after this many typical times, or when nothing else can run.
constexpr uint64_t kLate = 64;

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// A stream's first state, far from those of neighbouring numbers.
uint64_t first_state(uint64_t seed, uint64_t launch, uint64_t number) {
  uint64_t state = seed;
  for (const uint64_t part : {launch, number}) state = next_random(state) ^ part;
  return next_random(state);
}

}  // namespace

Schedule::Schedule(uint64_t seed, uint64_t launch, uint64_t cluster)
    : plain_(seed == 0), state_(first_state(seed, launch, cluster)) {
  if (plain_) return;
  // Neighbouring seeds have different styles; sixteen have all of them.
  constexpr unsigned kTurnBits[] = {2, 9, 5, 12};
  turn_bits_ = kTurnBits[seed % 4];
  latency_ = static_cast<Latency>(seed / 4 % 4);
}

uint64_t Schedule::below(uint64_t limit) {
  return plain_ ? 0 : next_random(state_) % limit;
}

uint64_t Schedule::turn() {
  return plain_ ? kTurn : 1 + below(uint64_t{1} << turn_bits_);
}

void Schedule::begin_round(size_t warps) {
  if (plain_ || warps < 2) return;
  if (hold_rounds_ != 0) {
    --hold_rounds_;
  } else if (below(8) == 0) {
    held_ = below(warps);
    hold_rounds_ = 1 + below(64);
  }
}

uint64_t Schedule::latency(uint64_t typical) {
  if (plain_) return typical;
  const Latency kind =
      latency_ == Latency::Mixed ? static_cast<Latency>(below(uint64_t{3})) : latency_;
  if (kind == Latency::AtOnce) return below(4) == 0 ? below(typical + 1) : 0;
  if (kind == Latency::Late && below(4) != 0) return typical * kLate;
  return below(typical * 4 + 1);
}

bool Schedule::is_early() {
  if (plain_) return false;
  if (latency_ == Latency::AtOnce) return true;
  return latency_ != Latency::Late && below(2) == 0;
}

uint64_t cluster_in_turn(uint64_t seed, uint64_t launch, uint64_t number, uint64_t window,
                         uint64_t clusters) {
  const uint64_t first = number / window * window;
  const uint64_t count = std::min(window, clusters - first);
  if (seed == 0 || count < 2) return number;
  uint64_t state = first_state(seed, launch, ~first);
  const uint64_t turned = (number - first + next_random(state)) % count;
  return first + (next_random(state) % 2 == 0 ? turned : count - 1 - turned);
}

}  // namespace weft::emulator
