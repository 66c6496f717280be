// SPDX-License-Identifier: Apache-2.0

// Expected answers follow from the definition of happens-before by hand.

#include "ptxbench/emulator/check/shared_shadow.h"

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

using Kind = Conflict::Kind;

constexpr Checks kAll{.wgmma = false, .race = true, .init = true, .proxy = true};

// Two warps, agents 1 and 2, on 64 bytes; agent 9 is a queue.
struct Scene {
  SharedShadow shadow;
  Tickets tickets;
  ReaderSets sets;
  Knowledge known[3];

  Scene() {
    shadow.reset(64, 64, 2);
    for (uint32_t agent = 1; agent < 3; ++agent) known[agent].seen.raise(agent, 1);
  }
  // What `agent` knows passes to `to`, and its next moment begins.
  void order(uint32_t agent, uint32_t to) {
    known[to].join(known[agent]);
    known[agent].seen.raise(agent, known[agent].seen.at(agent) + 1);
  }
  ShadowAccess access(uint32_t agent) {
    return {.by = {agent, known[agent].seen.at(agent), 5}, .known = &known[agent]};
  }
  std::optional<Conflict> read(uint32_t agent, uint32_t offset, uint32_t bytes) {
    ShadowAccess a = access(agent);
    a.reads = true;
    return shadow.touch(offset, bytes, a, kAll, tickets, sets);
  }
  std::optional<Conflict> write(uint32_t agent, uint32_t offset, uint32_t bytes) {
    ShadowAccess a = access(agent);
    a.writes = true;
    return shadow.touch(offset, bytes, a, kAll, tickets, sets);
  }
};

TEST(SharedShadow, FindsEachHazardBetweenTwoWarps) {
  Scene s;
  EXPECT_FALSE(s.write(1, 0, 16));
  const auto raw = s.read(2, 8, 4);
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->kind, Kind::ReadAfterWrite);
  EXPECT_EQ(raw->offset, 8u);
  EXPECT_EQ(raw->earlier.agent(), 1u);
  EXPECT_EQ(raw->earlier.site(), 5u);
  EXPECT_EQ(s.write(2, 4, 4)->kind, Kind::WriteAfterWrite);
  EXPECT_FALSE(s.read(1, 32, 4));
  EXPECT_EQ(s.write(2, 32, 4)->kind, Kind::WriteAfterRead);
}

TEST(SharedShadow, IsSilentWhereAWarpFollowsItself) {
  Scene s;
  EXPECT_FALSE(s.write(1, 0, 64));
  EXPECT_FALSE(s.read(1, 0, 64));
  EXPECT_FALSE(s.write(1, 0, 64));
}

TEST(SharedShadow, TakesOrderFromClocks) {
  Scene s;
  EXPECT_FALSE(s.write(1, 0, 4));
  s.order(1, 2);
  EXPECT_FALSE(s.read(2, 0, 4));
  // What the first warp does after it has told is not ordered.
  EXPECT_EQ(s.write(1, 0, 4)->kind, Kind::WriteAfterRead);
}

TEST(SharedShadow, RemembersEveryReader) {
  Scene s;
  EXPECT_FALSE(s.read(1, 0, 4));
  EXPECT_FALSE(s.read(2, 0, 4));
  s.order(2, 1);
  EXPECT_FALSE(s.write(1, 0, 4));
  Scene t;
  EXPECT_FALSE(t.read(1, 0, 4));
  EXPECT_FALSE(t.read(2, 0, 4));
  EXPECT_EQ(t.write(1, 0, 4)->earlier.agent(), 2u);
}

TEST(SharedShadow, KeepsBytesOfAWordApart) {
  Scene s;
  EXPECT_FALSE(s.write(1, 0, 2));
  EXPECT_FALSE(s.read(2, 2, 2));
  EXPECT_FALSE(s.write(2, 3, 1));
  EXPECT_EQ(s.read(1, 2, 2)->offset, 3u);
}

TEST(SharedShadow, LetsStrongAccessesMeet) {
  Scene s;
  ShadowAccess first = s.access(1), second = s.access(2);
  first.reads = first.writes = first.strong = true;
  second.reads = second.writes = second.strong = true;
  EXPECT_FALSE(s.shadow.touch(0, 4, first, kAll, s.tickets, s.sets));
  EXPECT_FALSE(s.shadow.touch(0, 4, second, kAll, s.tickets, s.sets));
  EXPECT_EQ(s.read(1, 0, 4)->kind, Kind::ReadAfterWrite);
}

TEST(SharedShadow, AsksForAFenceBeforeTheAsyncProxyReads) {
  Scene s;
  EXPECT_FALSE(s.write(1, 0, 4));
  s.order(1, 2);
  ShadowAccess copy{.by = {9, 1, 6}, .known = &s.known[2], .reads = true, .async = true};
  EXPECT_EQ(s.shadow.touch(0, 4, copy, kAll, s.tickets, s.sets)->kind, Kind::MissingFence);
  s.known[2].fence();
  EXPECT_FALSE(s.shadow.touch(0, 4, copy, kAll, s.tickets, s.sets));
  EXPECT_EQ(s.write(2, 0, 4)->kind, Kind::WriteAfterRead);
  s.known[2].seen.raise(9, 1);
  EXPECT_FALSE(s.write(2, 0, 4));
}

TEST(SharedShadow, FindsUninitialisedBytes) {
  Scene s;
  s.shadow.reset(64, 16, 2);
  EXPECT_FALSE(s.read(1, 0, 16));
  EXPECT_FALSE(s.write(1, 16, 3));
  const auto conflict = s.read(1, 16, 4);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->kind, Kind::Uninitialised);
  EXPECT_EQ(conflict->offset, 19u);
}

TEST(Tickets, OrderNothingUntilTheyAreComplete) {
  Scene s;
  const uint32_t ticket = s.tickets.open(1, s.known[1]);
  ShadowAccess copy{
      .by = {kTicketAgent, ticket, 6}, .known = &s.known[1], .writes = true, .async = true};
  EXPECT_FALSE(s.shadow.touch(0, 4, copy, kAll, s.tickets, s.sets));
  EXPECT_EQ(s.read(1, 0, 4)->kind, Kind::ReadAfterWrite);
  s.tickets.complete(ticket, 9, 3);
  s.known[1].seen.raise(9, 2);
  EXPECT_TRUE(s.read(1, 0, 4));
  s.known[1].seen.raise(9, 3);
  EXPECT_FALSE(s.read(1, 0, 4));
}

TEST(ReaderSets, GiveOneNumberToOneHistory) {
  Scene s;
  const Epoch one{1, 1, 0, kWholeWord}, two{2, 1, 0, kWholeWord};
  const uint32_t a = s.sets.with(0, one, s.known[1].seen, s.tickets);
  const uint32_t both = s.sets.with(a, two, s.known[2].seen, s.tickets);
  EXPECT_EQ(s.sets.with(0, one, s.known[1].seen, s.tickets), a);
  EXPECT_EQ(s.sets.with(a, two, s.known[2].seen, s.tickets), both);
  EXPECT_EQ(s.sets.readers(both).size(), 2u);
  // Once the second warp has heard of the first one's read, its own stands for both.
  s.order(1, 2);
  const uint32_t later = s.sets.with(a, {2, 1, 1, kWholeWord}, s.known[2].seen, s.tickets);
  EXPECT_EQ(s.sets.readers(later).size(), 1u);
}

}  // namespace
}  // namespace weft::emulator
