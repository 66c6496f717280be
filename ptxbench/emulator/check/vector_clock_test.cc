// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/check/vector_clock.h"

#include <gtest/gtest.h>

#include "ptxbench/emulator/check/epoch.h"
#include "ptxbench/emulator/checks.h"

namespace weft::emulator {
namespace {

TEST(VectorClock, JoinsTheLaterTimesOfBoth) {
  VectorClock a, b;
  a.raise(1, 5);
  a.raise(2, 1);
  b.raise(2, 7);
  b.raise(40, 3);
  a.join(b);
  EXPECT_EQ(a.at(1), 5u);
  EXPECT_EQ(a.at(2), 7u);
  EXPECT_EQ(a.at(40), 3u);
  EXPECT_EQ(a.at(41), 0u);
  a.raise(2, 6);
  EXPECT_EQ(a.at(2), 7u);
}

TEST(VectorClock, AFenceCoversWhatIsKnownThen) {
  Knowledge known;
  known.seen.raise(1, 4);
  known.fence();
  known.seen.raise(1, 9);
  EXPECT_EQ(known.fenced.at(1), 4u);
}

TEST(Epoch, KeepsItsFieldsApart) {
  constexpr Epoch kEpoch(kTicketAgent, kMaxTime, kMaxSite, 0x5);
  EXPECT_EQ(kEpoch.agent(), kTicketAgent);
  EXPECT_EQ(kEpoch.time(), kMaxTime);
  EXPECT_EQ(kEpoch.site(), kMaxSite);
  EXPECT_EQ(kEpoch.bytes(), 0x5u);
  EXPECT_TRUE(kEpoch.same_moment(Epoch(kTicketAgent, kMaxTime, 0)));
  EXPECT_FALSE(kEpoch.same_moment(Epoch(1, kMaxTime, kMaxSite, 0x5)));
}

TEST(Checks, AreNamedInAList) {
  const auto some = parse_checks("memory,race,wgmma");
  ASSERT_TRUE(some.ok());
  EXPECT_TRUE(some->race && some->wgmma && !some->init && !some->proxy);
  EXPECT_TRUE(parse_checks("all")->init && parse_checks("all")->proxy);
  EXPECT_FALSE(parse_checks("")->shared());
  const auto wrong = parse_checks("race,racing");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(format(wrong.error()).find("racing"), std::string::npos);
}

}  // namespace
}  // namespace weft::emulator
