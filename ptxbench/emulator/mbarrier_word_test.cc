// SPDX-License-Identifier: Apache-2.0

// Expected values follow by hand from the phase rules of PTX ISA 9.0, section 9.7.13.15.

#include "ptxbench/emulator/mbarrier_word.h"

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

uint64_t fresh(uint64_t count) {
  uint64_t word = 0;
  EXPECT_EQ(barrier_init(word, count), BarrierMistake::None);
  return word;
}

TEST(MbarrierWord, KeepsEveryFieldApart) {
  const BarrierState state{
      .pending = 1048575, .expected = 17, .transactions = -1048575, .phase = true};
  const BarrierState back = unpack_barrier(pack_barrier(state));
  EXPECT_EQ(back.pending, 1048575u);
  EXPECT_EQ(back.expected, 17u);
  EXPECT_EQ(back.transactions, -1048575);
  EXPECT_TRUE(back.phase);
  EXPECT_EQ(unpack_barrier(pack_barrier({.transactions = 1048575})).transactions, 1048575);
}

TEST(MbarrierWord, InitTakesCountsOfOneToTwentyBits) {
  uint64_t word = 0;
  EXPECT_EQ(barrier_init(word, 0), BarrierMistake::CountOutOfRange);
  EXPECT_EQ(barrier_init(word, 1 << 20), BarrierMistake::CountOutOfRange);
  EXPECT_EQ(word, 0u);
  EXPECT_EQ(barrier_init(word, (1 << 20) - 1), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).pending, 1048575u);
  EXPECT_EQ(unpack_barrier(word).expected, 1048575u);
}

TEST(MbarrierWord, MemoryThatNobodyInitialisedIsNoBarrier) {
  for (uint64_t word : {uint64_t{0}, ~uint64_t{0}})
    EXPECT_EQ(barrier_step(word, 0, 1), BarrierMistake::NotInitialised);
}

TEST(MbarrierWord, InvalidatedBarrierIsToldFromAnUninitialisedOne) {
  uint64_t word = fresh(1);
  EXPECT_EQ(barrier_invalidate(word), BarrierMistake::None);
  EXPECT_EQ(barrier_step(word, 0, 1), BarrierMistake::Invalidated);
  EXPECT_EQ(barrier_invalidate(word), BarrierMistake::Invalidated);
  EXPECT_EQ(barrier_init(word, 4), BarrierMistake::None);
}

TEST(MbarrierWord, PhaseCompletesWithItsLastArrivalAndReloadsTheCount) {
  uint64_t word = fresh(3);
  EXPECT_FALSE(barrier_phase_done(word, false));
  EXPECT_TRUE(barrier_phase_done(word, true)) << "the phase before the first counts as complete";
  EXPECT_EQ(barrier_step(word, 0, 2), BarrierMistake::None);
  EXPECT_FALSE(barrier_phase_done(word, false));
  EXPECT_EQ(unpack_barrier(word).pending, 1u);
  EXPECT_EQ(barrier_step(word, 0, 1), BarrierMistake::None);
  EXPECT_TRUE(barrier_phase_done(word, false));
  EXPECT_FALSE(barrier_phase_done(word, true));
  EXPECT_EQ(unpack_barrier(word).pending, 3u);
}

TEST(MbarrierWord, PhaseWaitsForAnnouncedBytes) {
  uint64_t word = fresh(1);
  EXPECT_EQ(barrier_step(word, 4096, 1), BarrierMistake::None);  // arrive.expect_tx
  EXPECT_FALSE(barrier_phase_done(word, false));
  EXPECT_EQ(barrier_step(word, -1024, 0), BarrierMistake::None);
  EXPECT_FALSE(barrier_phase_done(word, false));
  EXPECT_EQ(barrier_step(word, -3072, 0), BarrierMistake::None);
  EXPECT_TRUE(barrier_phase_done(word, false));
}

TEST(MbarrierWord, BytesMayArriveBeforeTheyAreAnnounced) {
  uint64_t word = fresh(1);
  EXPECT_EQ(barrier_step(word, -512, 0), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).transactions, -512);
  EXPECT_FALSE(barrier_phase_done(word, false));
  EXPECT_EQ(barrier_step(word, 512, 1), BarrierMistake::None);
  EXPECT_TRUE(barrier_phase_done(word, false));
}

TEST(MbarrierWord, TransactionCountStopsAtTwentyBitsEitherWay) {
  uint64_t word = fresh(1);
  EXPECT_EQ(barrier_step(word, 1048575, 0), BarrierMistake::None);
  EXPECT_EQ(barrier_step(word, 1, 0), BarrierMistake::TransactionOverflow);
  word = fresh(1);
  EXPECT_EQ(barrier_step(word, -1048575, 0), BarrierMistake::None);
  EXPECT_EQ(barrier_step(word, -1, 0), BarrierMistake::TransactionOverflow);
}

TEST(MbarrierWord, OneArrivalTooManyIsAMistake) {
  uint64_t word = fresh(2);
  EXPECT_EQ(barrier_step(word, 0, 3), BarrierMistake::TooManyArrivals);
  EXPECT_EQ(barrier_step(word, 16, 2), BarrierMistake::None);
  EXPECT_EQ(barrier_step(word, 0, 1), BarrierMistake::TooManyArrivals)
      << "nothing is pending while the bytes are on their way";
}

TEST(MbarrierWord, ArriveDropLowersTheCountOfLaterPhases) {
  uint64_t word = fresh(4);
  EXPECT_EQ(barrier_step(word, 0, 1, 1), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).pending, 3u);
  EXPECT_EQ(barrier_step(word, 0, 3), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).pending, 3u);
  EXPECT_EQ(unpack_barrier(word).expected, 3u);
}

TEST(MbarrierWord, NoCompleteMustNotComplete) {
  uint64_t word = fresh(2);
  EXPECT_EQ(barrier_step(word, 0, 1, 0, MayComplete::No), BarrierMistake::None);
  EXPECT_EQ(barrier_step(word, 0, 1, 0, MayComplete::No), BarrierMistake::CompletesWithoutLeave);
  EXPECT_EQ(unpack_barrier(word).pending, 1u);
}

TEST(MbarrierWord, AsynchronousArrivalChangesNothingWhenItBringsItsOwnCount) {
  uint64_t word = fresh(1);
  EXPECT_EQ(barrier_add_pending(word), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).pending, 2u);
  EXPECT_EQ(barrier_step(word, 0, 1), BarrierMistake::None);
  EXPECT_EQ(unpack_barrier(word).pending, 1u);
  EXPECT_FALSE(barrier_phase_done(word, false));
}

}  // namespace
}  // namespace weft::emulator
