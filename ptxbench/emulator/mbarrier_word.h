// SPDX-License-Identifier: Apache-2.0

// The 64 bits of an mbarrier object, and every step that its phases take. The whole state lives in
// the program's shared memory, so copies of the object and the state tokens of arrive behave as the
// manual says (PTX ISA 9.0, section 9.7.13.15).
//
//   63 62   61      60 ........ 40   39 ...... 20   19 ....... 0
//   mark    phase   transactions     expected       pending
//
// A token is the word as it was before the arrival.
#pragma once

#include <cstdint>

namespace weft::emulator {

inline constexpr uint32_t kBarrierMaxCount = (1u << 20) - 1;
inline constexpr int64_t kBarrierMaxTransactions = (1 << 20) - 1;

// Neither zeroed nor all-ones memory carries the valid mark.
inline constexpr uint64_t kBarrierValid = 2;
inline constexpr uint64_t kBarrierInvalidated = 1;

struct BarrierState {
  uint32_t pending = 0;      // arrivals that the phase under way still needs
  uint32_t expected = 0;     // arrivals that the next phase needs
  int32_t transactions = 0;  // bytes announced and not yet copied; below 0: copied before announced
  bool phase = false;        // parity of the phase under way
};

// What a step does against the rules.
enum class BarrierMistake : uint8_t {
  None,
  NotInitialised,
  Invalidated,
  CountOutOfRange,        // outside 1 ... 2^20-1
  TooManyArrivals,        // more than the phase still needs
  TransactionOverflow,    // tx-count outside -(2^20-1) ... 2^20-1
  CompletesWithoutLeave,  // arrive.noComplete that would complete the phase
};

constexpr uint64_t barrier_mark(uint64_t word) {
  return word >> 62;
}

constexpr BarrierMistake barrier_validity(uint64_t word) {
  if (barrier_mark(word) == kBarrierValid) return BarrierMistake::None;
  return barrier_mark(word) == kBarrierInvalidated ? BarrierMistake::Invalidated
                                                   : BarrierMistake::NotInitialised;
}

constexpr BarrierState unpack_barrier(uint64_t word) {
  constexpr uint64_t kCount = kBarrierMaxCount;
  // The shift pair extends the sign of 21 bits.
  const int64_t transactions = static_cast<int64_t>(word << 3) >> 43;
  return {.pending = static_cast<uint32_t>(word & kCount),
          .expected = static_cast<uint32_t>(word >> 20 & kCount),
          .transactions = static_cast<int32_t>(transactions),
          .phase = (word >> 61 & 1) != 0};
}

constexpr uint64_t pack_barrier(const BarrierState& state) {
  return kBarrierValid << 62 | uint64_t{state.phase} << 61 |
         (static_cast<uint64_t>(static_cast<uint32_t>(state.transactions)) & 0x1fffff) << 40 |
         uint64_t{state.expected} << 20 | state.pending;
}

constexpr bool barrier_count_in_range(uint64_t count) {
  return count >= 1 && count <= kBarrierMaxCount;
}

// The phase with this parity has completed: the one under way has the other parity.
constexpr bool barrier_phase_done(uint64_t word, bool parity) {
  return unpack_barrier(word).phase != parity;
}

// What a step may do when it brings pending arrivals and transactions to zero.
enum class MayComplete : uint8_t { Yes, No };

// Each step changes the word, or leaves it and says what is wrong.

constexpr BarrierMistake barrier_init(uint64_t& word, uint64_t count) {
  if (!barrier_count_in_range(count)) return BarrierMistake::CountOutOfRange;
  const auto arrivals = static_cast<uint32_t>(count);
  word = pack_barrier({.pending = arrivals, .expected = arrivals});
  return BarrierMistake::None;
}

constexpr BarrierMistake barrier_invalidate(uint64_t& word) {
  if (const auto mistake = barrier_validity(word); mistake != BarrierMistake::None) return mistake;
  word = kBarrierInvalidated << 62;
  return BarrierMistake::None;
}

// Starts the next phase when nothing is pending any more.
constexpr void settle_barrier(BarrierState& state) {
  if (state.pending != 0 || state.transactions != 0) return;
  state.phase = !state.phase;
  state.pending = state.expected;
}

// Changes the transaction count by `bytes` (expect_tx adds, complete_tx subtracts), then lets
// `arrivals` arrive; `drop` of them stay away from later phases.
constexpr BarrierMistake barrier_step(uint64_t& word, int64_t bytes, uint64_t arrivals,
                                      uint64_t drop = 0,
                                      MayComplete may_complete = MayComplete::Yes) {
  if (const auto mistake = barrier_validity(word); mistake != BarrierMistake::None) return mistake;
  BarrierState state = unpack_barrier(word);
  const int64_t transactions = state.transactions + bytes;
  if (transactions > kBarrierMaxTransactions || transactions < -kBarrierMaxTransactions)
    return BarrierMistake::TransactionOverflow;
  if (arrivals > state.pending || drop > state.expected) return BarrierMistake::TooManyArrivals;
  state.transactions = static_cast<int32_t>(transactions);
  state.pending -= static_cast<uint32_t>(arrivals);
  state.expected -= static_cast<uint32_t>(drop);
  if (may_complete == MayComplete::No && state.pending == 0 && state.transactions == 0)
    return BarrierMistake::CompletesWithoutLeave;
  settle_barrier(state);
  word = pack_barrier(state);
  return BarrierMistake::None;
}

// cp.async.mbarrier.arrive without .noinc: the phase needs one more arrival, which the copy brings.
constexpr BarrierMistake barrier_add_pending(uint64_t& word) {
  if (const auto mistake = barrier_validity(word); mistake != BarrierMistake::None) return mistake;
  BarrierState state = unpack_barrier(word);
  if (state.pending == kBarrierMaxCount) return BarrierMistake::CountOutOfRange;
  ++state.pending;
  word = pack_barrier(state);
  return BarrierMistake::None;
}

}  // namespace weft::emulator
