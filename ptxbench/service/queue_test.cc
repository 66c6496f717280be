// SPDX-License-Identifier: Apache-2.0

// What the queue promises, asked of both stores. Expected values follow from queue.h by hand. The
// Redis ones start a redis-server of their own on a socket; without that program they are skipped.
#include "ptxbench/service/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "base/redis/test_server.h"
#include "base/temporary_directory.h"

namespace weft::service {
namespace {

enum class Store { Sqlite, Redis };

class QueueTest : public testing::TestWithParam<Store> {
 protected:
  void SetUp() override {
    if (GetParam() == Store::Redis) {
      redis_ = std::make_unique<RedisTestServer>(folder_.path());
      if (!redis_->running()) GTEST_SKIP() << "redis-server is not installed";
    }
    open();
    ASSERT_TRUE(queue_);
  }

  void open(QueueLimits limits = {}, double lease = 15) {
    queue_.reset();
    if (GetParam() == Store::Sqlite) {
      auto opened = open_sqlite_queue({.folder = folder_.file("store"), .limits = limits});
      ASSERT_TRUE(opened.ok()) << opened.error().message();
      queue_ = std::move(opened).value();
      return;
    }
    // The server takes a moment to make its socket.
    for (int attempt = 0; attempt < 200 && !queue_; ++attempt) {
      auto opened =
          open_redis_queue({.url = redis_->url(), .lease_seconds = lease, .limits = limits});
      if (opened.ok())
        queue_ = std::move(opened).value();
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Accepted submit(const std::string& id) {
    return queue_
        ->submit({.id = id,
                  .kind = Kind::Profile,
                  .definition = "gemm",
                  .solution = "mine_12345678",
                  .request = "{\"of\":\"" + id + "\"}"})
        .value();
  }
  std::optional<Claim> claim(double seconds = 0) { return queue_->claim("w-0", seconds).value(); }
  State state(const std::string& id) { return queue_->find(id).value()->state; }

  TemporaryDirectory folder_ = TemporaryDirectory::create("queue_test").value();
  std::unique_ptr<RedisTestServer> redis_;
  std::unique_ptr<Queue> queue_;
};

TEST_P(QueueTest, ATaskGoesFromPendingToCompleted) {
  EXPECT_EQ(submit("a"), Accepted::Fresh);
  EXPECT_EQ(state("a"), State::Pending);
  const auto mine = claim();
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->id, "a");
  EXPECT_EQ(mine->request, "{\"of\":\"a\"}");
  EXPECT_EQ(mine->attempt, 1u);
  EXPECT_EQ(state("a"), State::Running);
  EXPECT_TRUE(queue_->renew(*mine).value());
  EXPECT_TRUE(queue_->complete(*mine, "{\"r\":1}").value());
  const TaskRecord record = *queue_->find("a").value();
  EXPECT_EQ(record.state, State::Completed);
  EXPECT_EQ(record.kind, Kind::Profile);
  EXPECT_EQ(record.definition, "gemm");
  EXPECT_EQ(record.solution, "mine_12345678");
  EXPECT_EQ(record.result, "{\"r\":1}");
  EXPECT_EQ(record.attempts, 1u);
  EXPECT_LE(record.created, record.started);
  EXPECT_LE(record.started, record.finished);
  EXPECT_EQ(*queue_->request("a").value(), "{\"of\":\"a\"}");
  EXPECT_FALSE(queue_->find("b").value());
  EXPECT_FALSE(queue_->request("b").value());
}

TEST_P(QueueTest, TasksAreTakenInTheOrderOfArrival) {
  for (const char* id : {"c", "a", "b"}) submit(id);
  EXPECT_EQ(claim()->id, "c");
  EXPECT_EQ(claim()->id, "a");
  EXPECT_EQ(claim()->id, "b");
  EXPECT_FALSE(claim());
}

TEST_P(QueueTest, TheSameQuestionIsOneTask) {
  EXPECT_EQ(submit("a"), Accepted::Fresh);
  EXPECT_EQ(submit("a"), Accepted::Known);
  const auto mine = claim();
  EXPECT_EQ(submit("a"), Accepted::Known);
  queue_->complete(*mine, "1").value();
  EXPECT_EQ(submit("a"), Accepted::Known);
  EXPECT_FALSE(claim());
  EXPECT_EQ(queue_->counts()->completed, 1u);
}

TEST_P(QueueTest, AResultIsWrittenOnceAndByTheClaimOnly) {
  submit("a");
  const auto mine = claim();
  Claim forged = *mine;
  forged.token = "w-1-0123456789abcdef";
  EXPECT_FALSE(queue_->complete(forged, "forged").value());
  EXPECT_TRUE(queue_->complete(*mine, "first").value());
  EXPECT_FALSE(queue_->complete(*mine, "second").value());
  EXPECT_FALSE(queue_->fail(*mine, "late").value());
  EXPECT_EQ(queue_->find("a").value()->result, "first");
}

TEST_P(QueueTest, AFullQueueRefuses) {
  open({.pending = 2});
  EXPECT_EQ(submit("a"), Accepted::Fresh);
  EXPECT_EQ(submit("b"), Accepted::Fresh);
  EXPECT_EQ(submit("c"), Accepted::Full);
  EXPECT_EQ(submit("a"), Accepted::Known);
  claim();
  EXPECT_EQ(submit("c"), Accepted::Fresh);
}

TEST_P(QueueTest, ALostTaskWaitsAgainUntilItKilledTooMany) {
  open({.deaths = 2});
  submit("a");
  const auto first = claim();
  queue_->lose(*first, "ended by signal 9").value();
  EXPECT_EQ(state("a"), State::Pending);
  EXPECT_FALSE(queue_->complete(*first, "late").value());
  const auto second = claim();
  EXPECT_EQ(second->attempt, 2u);
  queue_->lose(*second, "ended by signal 11").value();
  const TaskRecord record = *queue_->find("a").value();
  EXPECT_EQ(record.state, State::Failed);
  EXPECT_NE(record.error.find("attempt 1: ended by signal 9"), std::string::npos) << record.error;
  EXPECT_NE(record.error.find("attempt 2: ended by signal 11"), std::string::npos) << record.error;
  EXPECT_FALSE(claim());
}

TEST_P(QueueTest, AGivenBackTaskHasNoDeath) {
  open({.deaths = 1});
  submit("a");
  queue_->give_back(*claim()).value();
  EXPECT_EQ(state("a"), State::Pending);
  EXPECT_EQ(claim()->attempt, 2u);
  EXPECT_EQ(queue_->find("a").value()->deaths, 0u);
}

TEST_P(QueueTest, CancelEndsPendingAndRunningTasks) {
  submit("a");
  submit("b");
  const auto running = claim();
  EXPECT_EQ(queue_->cancel("a").value(), State::Cancelled);
  EXPECT_EQ(queue_->cancel("b").value(), State::Cancelled);
  EXPECT_FALSE(queue_->renew(*running).value());
  EXPECT_FALSE(queue_->complete(*running, "late").value());
  EXPECT_FALSE(claim());
  EXPECT_EQ(queue_->counts()->cancelled, 2u);
  EXPECT_FALSE(queue_->cancel("c").value());
  // Handed in again, it is judged.
  EXPECT_EQ(submit("a"), Accepted::Fresh);
  EXPECT_EQ(claim()->id, "a");
  EXPECT_EQ(queue_->counts()->cancelled, 1u);
}

TEST_P(QueueTest, AnEndedTaskCannotBeCancelled) {
  submit("a");
  queue_->complete(*claim(), "1").value();
  EXPECT_EQ(queue_->cancel("a").value(), State::Completed);
}

TEST_P(QueueTest, WaitEndsWithTheLastTask) {
  submit("a");
  submit("b");
  std::atomic<bool> over = false;
  std::thread waiter([&] {
    queue_->wait({"a", "b", "a", "unknown"}, 30).value();
    over = true;
  });
  queue_->complete(*claim(), "1").value();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(over);
  queue_->fail(*claim(), "no").value();
  waiter.join();
  EXPECT_TRUE(over);
}

TEST_P(QueueTest, WaitEndsWithItsTime) {
  submit("a");
  const auto start = std::chrono::steady_clock::now();
  queue_->wait({"a"}, 0.05).value();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(49));
  EXPECT_LT(took, std::chrono::seconds(5));
}

TEST_P(QueueTest, AClaimWaitsForWork) {
  std::optional<Claim> got;
  std::thread worker([&] { got = claim(30); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  submit("a");
  worker.join();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id, "a");
}

TEST_P(QueueTest, StopEndsAllWaiting) {
  submit("a");
  claim();
  std::thread waiter([&] { queue_->wait({"a"}, 60).value(); });
  std::thread worker([&] { EXPECT_FALSE(claim(60)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  queue_->stop();
  waiter.join();
  worker.join();
}

TEST_P(QueueTest, ManyWorkersTakeEachTaskOnce) {
  constexpr int kTasks = 200, kWorkers = 8;
  for (int i = 0; i < kTasks; ++i) submit(std::to_string(i));
  std::mutex mutex;
  std::multiset<std::string> taken;
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      while (const auto mine = queue_->claim("w-" + std::to_string(w), 0).value()) {
        ASSERT_TRUE(queue_->complete(*mine, "1").value());
        const std::lock_guard lock(mutex);
        taken.insert(mine->id);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(taken.size(), size_t{kTasks});
  for (int i = 0; i < kTasks; ++i) EXPECT_EQ(taken.count(std::to_string(i)), 1u);
  EXPECT_EQ(queue_->counts()->completed, uint64_t{kTasks});
  EXPECT_EQ(queue_->counts()->pending, 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, QueueTest, testing::Values(Store::Sqlite, Store::Redis),
                         [](const auto& store) {
                           return store.param == Store::Sqlite ? "Sqlite" : "Redis";
                         });

TEST(SqliteQueue, ARestartLosesNothing) {
  const TemporaryDirectory folder = TemporaryDirectory::create("queue_test").value();
  const auto opened = [&] { return open_sqlite_queue({.folder = folder.path()}).value(); };
  const auto add = [](Queue& queue, const char* id) {
    queue.submit({.id = id, .definition = "d", .solution = "s", .request = id}).value();
  };
  {
    const auto queue = opened();
    for (const char* id : {"done", "running", "waiting"}) add(*queue, id);
    queue->complete(*queue->claim("w", 0).value(), "kept").value();
    queue->claim("w", 0).value();
  }
  const auto queue = opened();
  EXPECT_EQ(queue->find("done").value()->result, "kept");
  EXPECT_EQ(queue->counts()->pending, 2u);
  EXPECT_EQ(queue->counts()->completed, 1u);
  const auto again = queue->claim("w", 0).value();
  EXPECT_EQ(again->id, "running");
  EXPECT_EQ(again->attempt, 2u);
  add(*queue, "later");
  EXPECT_EQ(queue->claim("w", 0).value()->id, "waiting");
  EXPECT_EQ(queue->claim("w", 0).value()->id, "later");
}

TEST(SqliteQueue, AStoreHasOneServer) {
  const TemporaryDirectory folder = TemporaryDirectory::create("queue_test").value();
  const auto first = open_sqlite_queue({.folder = folder.path()});
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(open_sqlite_queue({.folder = folder.path()}).ok());
}

TEST(RedisQueue, AnotherServerTakesOverWhatADeadOneHad) {
  const TemporaryDirectory folder = TemporaryDirectory::create("queue_test").value();
  const RedisTestServer redis(folder.path());
  if (!redis.running()) GTEST_SKIP() << "redis-server is not installed";
  const RedisOptions options{.url = redis.url(), .lease_seconds = 0.3, .limits = {.deaths = 2}};
  std::unique_ptr<Queue> dead;
  for (int attempt = 0; attempt < 200 && !dead; ++attempt) {
    auto opened = open_redis_queue(options);
    if (opened.ok()) dead = std::move(opened).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(dead);
  const auto other = open_redis_queue(options).value();
  dead->submit({.id = "a", .definition = "d", .solution = "s", .request = "r"}).value();
  const Claim lost = *dead->claim("machine1", 0).value();
  // As long as it is renewed it stays where it is.
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(dead->renew(lost).value());
    EXPECT_FALSE(other->claim("machine2", 0.05).value());
  }
  const auto taken = other->claim("machine2", 5).value();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->id, "a");
  EXPECT_EQ(taken->attempt, 2u);
  EXPECT_FALSE(dead->complete(lost, "late").value());
  EXPECT_FALSE(dead->renew(lost).value());
  // The second lost lease is the last one, and says what happened.
  EXPECT_FALSE(dead->claim("machine1", 1.5).value());
  const TaskRecord record = *other->find("a").value();
  EXPECT_EQ(record.state, State::Failed);
  EXPECT_NE(record.error.find("attempt 2: nobody renewed"), std::string::npos) << record.error;
}

TEST(RedisQueue, NoServerIsAnErrorWithAHint) {
  EXPECT_FALSE(open_redis_queue({.url = "unix:/nonexistent/redis.sock"}).ok());
  EXPECT_FALSE(open_redis_queue({.url = "http://127.0.0.1"}).ok());
}

}  // namespace
}  // namespace weft::service
