// SPDX-License-Identifier: Apache-2.0

// Expected orders follow from the promise in the header: by time, then by submission.

#include "ptxbench/emulator/async_engine.h"

#include <gtest/gtest.h>

#include "ptxbench/emulator/block.h"

namespace weft::emulator {
namespace {

struct Note final : AsyncOperation {
  std::vector<int>* log = nullptr;
  int number = 0;
  bool succeeds = true;
  std::unique_ptr<AsyncOperation> then;  // submitted when performed
  uint64_t then_due = 0;

  bool perform(Cluster& cluster) override {
    log->push_back(number);
    if (then) cluster.async.submit(std::move(then), then_due);
    return succeeds;
  }
};

std::unique_ptr<Note> note(std::vector<int>& log, int number) {
  auto operation = std::make_unique<Note>();
  operation->log = &log;
  operation->number = number;
  return operation;
}

TEST(AsyncEngine, PerformsWhatIsDueInOrderOfTime) {
  Cluster cluster;
  std::vector<int> log;
  cluster.async.submit(note(log, 3), 30);
  cluster.async.submit(note(log, 1), 10);
  cluster.async.submit(note(log, 2), 20);
  EXPECT_EQ(cluster.async.next_due(), 10u);
  EXPECT_TRUE(cluster.async.advance(cluster, 25));
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
  EXPECT_EQ(cluster.async.next_due(), 30u);
}

TEST(AsyncEngine, EqualTimesKeepTheOrderOfSubmission) {
  Cluster cluster;
  std::vector<int> log;
  for (int i = 0; i < 6; ++i) cluster.async.submit(note(log, i), 5);
  EXPECT_TRUE(cluster.async.advance(cluster, 5));
  EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(cluster.async.empty());
}

TEST(AsyncEngine, WorkMaySubmitMoreWork) {
  Cluster cluster;
  std::vector<int> log;
  auto first = note(log, 1);
  first->then = note(log, 2);
  first->then_due = 12;
  cluster.async.submit(std::move(first), 10);
  cluster.async.submit(note(log, 3), 11);
  EXPECT_TRUE(cluster.async.advance(cluster, 11));
  EXPECT_EQ(log, (std::vector<int>{1, 3}));
  EXPECT_TRUE(cluster.async.advance(cluster, 12));
  EXPECT_EQ(log, (std::vector<int>{1, 3, 2}));
}

TEST(AsyncEngine, StopsAtAFault) {
  Cluster cluster;
  std::vector<int> log;
  auto bad = note(log, 1);
  bad->succeeds = false;
  cluster.async.submit(std::move(bad), 1);
  cluster.async.submit(note(log, 2), 2);
  EXPECT_FALSE(cluster.async.advance(cluster, 9));
  EXPECT_EQ(log, (std::vector<int>{1}));
}

}  // namespace
}  // namespace weft::emulator
