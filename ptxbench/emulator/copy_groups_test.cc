// SPDX-License-Identifier: Apache-2.0

// Expected values follow by hand from cp.async.wait_group N: at most the N newest committed groups
// may be pending (PTX ISA 9.0, section 9.7.9.25.3).

#include "ptxbench/emulator/copy_groups.h"

#include <gtest/gtest.h>

namespace weft::emulator {
namespace {

constexpr auto kComplete = GroupStage::Complete;

TEST(GroupLedger, WaitLeavesTheNewestGroupsPending) {
  GroupLedger ledger;
  const uint32_t first = ledger.begin(kAllLanes);
  ledger.commit(kAllLanes);
  const uint32_t second = ledger.begin(kAllLanes);
  ledger.commit(kAllLanes);
  EXPECT_TRUE(ledger.settled(kAllLanes, 2, kComplete));
  EXPECT_FALSE(ledger.settled(kAllLanes, 1, kComplete));
  EXPECT_TRUE(ledger.complete(first));
  EXPECT_TRUE(ledger.settled(kAllLanes, 1, kComplete));
  EXPECT_FALSE(ledger.settled(kAllLanes, 0, kComplete));
  EXPECT_TRUE(ledger.complete(second));
  EXPECT_TRUE(ledger.settled(kAllLanes, 0, kComplete));
}

TEST(GroupLedger, UncommittedCopiesAreNotWaitedForByGroup) {
  GroupLedger ledger;
  ledger.begin(kAllLanes);
  EXPECT_TRUE(ledger.settled(kAllLanes, 0, kComplete));
  EXPECT_FALSE(ledger.idle(kAllLanes));
}

TEST(GroupLedger, EmptyGroupsCount) {
  GroupLedger ledger;
  ledger.begin(kAllLanes);
  ledger.commit(kAllLanes);
  EXPECT_TRUE(ledger.settled(kAllLanes, 1, kComplete));
  ledger.commit(kAllLanes);
  EXPECT_FALSE(ledger.settled(kAllLanes, 1, kComplete));
}

TEST(GroupLedger, GroupsOfOtherLanesDoNotMatter) {
  GroupLedger ledger;
  const uint32_t low = ledger.begin(0x0000ffff);
  ledger.commit(0x0000ffff);
  EXPECT_TRUE(ledger.settled(0xffff0000, 0, kComplete));
  EXPECT_FALSE(ledger.settled(0x00000001, 0, kComplete));
  EXPECT_TRUE(ledger.complete(low));
}

TEST(GroupLedger, LanesThatCommittedApartAreNoPeers) {
  GroupLedger ledger;
  ledger.commit(0x1);
  EXPECT_EQ(ledger.peers(kAllLanes), 0x1u);
  EXPECT_EQ(ledger.peers(0xfffffffe), 0xfffffffeu);
}

TEST(GroupLedger, CopiesOfOneGroupShareARecord) {
  GroupLedger ledger;
  const uint32_t ticket = ledger.begin(kAllLanes);
  EXPECT_EQ(ledger.begin(kAllLanes), ticket);
  EXPECT_FALSE(ledger.complete(ticket));
  EXPECT_TRUE(ledger.complete(ticket));
}

TEST(GroupLedger, ReadingTheSourceIsAStageOfItsOwn) {
  GroupLedger ledger;
  const uint32_t ticket = ledger.begin(0x1);
  ledger.commit(0x1);
  EXPECT_FALSE(ledger.settled(0x1, 0, GroupStage::SourceRead));
  ledger.source_read(ticket);
  EXPECT_TRUE(ledger.settled(0x1, 0, GroupStage::SourceRead));
  EXPECT_FALSE(ledger.settled(0x1, 0, kComplete));
}

TEST(GroupLedger, CopiesAfterASealAreNotWaitedFor) {
  GroupLedger ledger;
  const uint32_t before = ledger.begin(kAllLanes);
  const uint32_t up_to = ledger.seal();
  const uint32_t after = ledger.begin(kAllLanes);
  EXPECT_NE(before, after);
  EXPECT_TRUE(ledger.complete(before));
  EXPECT_EQ(ledger.outstanding(up_to), 0u);
  EXPECT_EQ(ledger.outstanding(after), kAllLanes);
}

}  // namespace
}  // namespace weft::emulator
