// SPDX-License-Identifier: Apache-2.0

// The same promises as the store in a folder, asked of a redis-server of the test's own; without
// that program they are skipped.
#include "lattice/distillation/redis_store.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/redis/test_server.h"
#include "base/temporary_directory.h"

namespace weft::lattice {
namespace {

constexpr int64_t kSecond = 1'000'000, kHour = 3600 * kSecond;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

TeacherDescription teacher() {
  return {.version = "t1",
          .width = 3,
          .tasks = {"click"},
          .pairs = "user_id, item_id of schema s",
          .trained_until = kNow - 100 * kHour};
}

class RedisStoreTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("redis_store").value();
  RedisTestServer server_{folder_.path()};
  std::unique_ptr<TeacherStore> store_;
  static constexpr RedisStoreOptions kQuick = {
      .connect_seconds = 0.5, .answer_seconds = 0.2, .retry_seconds = 0.05};

  std::string address(const std::string& name = "one") const { return server_.url() + "#" + name; }
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed";
    // The server takes a moment to make its socket.
    for (int attempt = 0; attempt < 200 && !store_; ++attempt) {
      auto opened = open_redis_store(address(), teacher(), {.lifetime_seconds = 6 * 3600}, kQuick);
      if (opened.ok())
        store_ = std::move(opened).value();
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_NE(store_, nullptr);
  }
  Result<Done> put(uint64_t user, uint64_t item, int64_t computed_at, float value) {
    const std::vector<Pair> pairs = {{user, item}};
    const std::vector<int64_t> times = {computed_at};
    const std::vector<float> embedding = {value, -value, 0.25f}, logits = {value + 1};
    return store_->write({pairs, times, embedding, logits});
  }
  LookUp ask(uint64_t user, uint64_t item, int64_t as_of) {
    const std::vector<Pair> pairs = {{user, item}};
    const std::vector<int64_t> moments = {as_of};
    return store_->look_up(pairs, moments).value().results[0];
  }
};

TEST_F(RedisStoreTest, GivesTheNewestEntryUpToTheEventAndNothingElse) {
  ASSERT_TRUE(put(7, 11, kNow - 3 * kHour, 0.5f).ok());
  ASSERT_TRUE(put(7, 11, kNow, 2).ok());
  const std::vector<Pair> pairs(7, Pair{7, 11});
  const std::vector<int64_t> moments = {
      kNow - 3 * kHour - 1, kNow - 3 * kHour,     kNow - 1,          kNow,
      kNow + 6 * kHour,     kNow + 6 * kHour + 1, kNow - 101 * kHour};
  const TeacherAnswers answers = store_->look_up(pairs, moments).value();
  EXPECT_EQ(answers.results,
            (std::vector<LookUp>{LookUp::NotYet, LookUp::Hit, LookUp::Hit, LookUp::Hit, LookUp::Hit,
                                 LookUp::Expired, LookUp::TeacherAhead}));
  EXPECT_EQ(answers.computed_at[2], kNow - 3 * kHour);
  EXPECT_EQ(answers.computed_at[4], kNow);
  EXPECT_EQ(answers.embeddings[6], 0.5f);
  EXPECT_EQ(answers.embeddings[13], -2);
  EXPECT_EQ(answers.logits[2], 1.5f);
  EXPECT_EQ(answers.logits[0], 0);
  EXPECT_EQ(ask(7, 12, kNow), LookUp::Absent);
  EXPECT_EQ(store_->use().looked_up[0], 4u);
  EXPECT_EQ(store_->use().written, 2u);
}

TEST_F(RedisStoreTest, ManyPairsComeBackInTheirOrder) {
  std::vector<Pair> pairs;
  std::vector<int64_t> times;
  std::vector<float> embeddings, logits;
  for (uint64_t i = 0; i < 3000; ++i) {
    pairs.push_back({i, i % 7});
    times.push_back(kNow - static_cast<int64_t>(i) * kSecond);
    embeddings.insert(embeddings.end(), {static_cast<float>(i % 512), 1, 2});
    logits.push_back(static_cast<float>(i));
  }
  ASSERT_TRUE(store_->write({pairs, times, embeddings, logits}).ok());
  std::reverse(pairs.begin(), pairs.end());
  const std::vector<int64_t> moments(3000, kNow);
  const TeacherAnswers answers = store_->look_up(pairs, moments).value();
  for (size_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(answers.results[i], LookUp::Hit);
    ASSERT_EQ(answers.logits[i], static_cast<float>(2999 - i));
    ASSERT_EQ(answers.embeddings[3 * i], static_cast<float>((2999 - i) % 512));
  }
}

TEST_F(RedisStoreTest, IsOneTeachersUnderOneName) {
  ASSERT_TRUE(put(1, 1, kNow, 1).ok());
  TeacherDescription other = teacher();
  other.version = "t2";
  const auto refused = open_redis_store(address(), other, {.lifetime_seconds = 6 * 3600});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("version t1 there, t2 wanted"), std::string::npos);
  EXPECT_FALSE(open_redis_store(address(), teacher(), {.lifetime_seconds = 60}).ok());
  // Another name is another store beside it.
  const auto second = open_redis_store(address("two"), other, {.lifetime_seconds = 60});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(ask(1, 1, kNow), LookUp::Hit);
  EXPECT_EQ(open_store(address("two"), Access::ReadOnly).value()->description().version, "t2");
  EXPECT_FALSE(open_redis_store(address("three")).ok());
  EXPECT_FALSE(open_redis_store(server_.url()).ok());
  EXPECT_FALSE(open_redis_store("redis://127.0.0.1:1/0#one", kQuick).ok());
}

TEST_F(RedisStoreTest, GoesOnWithMissesWhileRedisIsAwayAndRecovers) {
  ASSERT_TRUE(put(1, 1, kNow, 1).ok());
  server_.stop();
  EXPECT_EQ(ask(1, 1, kNow), LookUp::Away);
  EXPECT_EQ(ask(1, 1, kNow), LookUp::Away);
  EXPECT_FALSE(put(1, 1, kNow, 1).ok());
  EXPECT_GE(store_->use().looked_up[static_cast<size_t>(LookUp::Away)], 2u);
  // What the teacher is ahead of needs no Redis to know.
  EXPECT_EQ(ask(1, 1, kNow - 101 * kHour), LookUp::TeacherAhead);
  server_.start();
  // It has lost its memory: absent is an answer.
  LookUp after = LookUp::Away;
  for (int attempt = 0; attempt < 200 && after == LookUp::Away; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    after = ask(1, 1, kNow);
  }
  EXPECT_EQ(after, LookUp::Absent);
  ASSERT_TRUE(put(1, 1, kNow, 1).ok());
  EXPECT_EQ(ask(1, 1, kNow), LookUp::Hit);
}

TEST_F(RedisStoreTest, DoesNotWaitForASlowRedisAndNeverTakesALateAnswerForAnother) {
  ASSERT_TRUE(put(1, 1, kNow, 1).ok());
  ASSERT_TRUE(put(2, 2, kNow, 2).ok());
  server_.freeze();
  EXPECT_EQ(ask(1, 1, kNow), LookUp::Away);
  server_.thaw();
  LookUp after = LookUp::Away;
  std::vector<float> embedding;
  for (int attempt = 0; attempt < 200 && after == LookUp::Away; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::vector<Pair> pairs = {{2, 2}};
    const std::vector<int64_t> moments = {kNow};
    const TeacherAnswers answers = store_->look_up(pairs, moments).value();
    after = answers.results[0];
    embedding = answers.embeddings;
  }
  EXPECT_EQ(after, LookUp::Hit);
  EXPECT_EQ(embedding, (std::vector<float>{2, -2, 0.25f}));
}

}  // namespace
}  // namespace weft::lattice
