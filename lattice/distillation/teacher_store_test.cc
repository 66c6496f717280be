// SPDX-License-Identifier: Apache-2.0

// Expected values: hand arithmetic on times; fp16 values that are exact; the scalar conversions of
// base/floats.h, which have tests of their own.
#include "lattice/distillation/teacher_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/distillation/rocks_store.h"

namespace weft::lattice {
namespace {

constexpr int64_t kHour = 3'600'000'000;
constexpr int64_t kNow = 480'000 * kHour;  // the start of a bucket
constexpr uint32_t kWidth = 11;            // eight lanes and a rest

TeacherDescription teacher(EmbeddingFormat format = EmbeddingFormat::Fp16) {
  return {.version = "t1", .width = kWidth, .tasks = {"click", "buy"}, .format = format};
}

struct Batch {
  std::vector<Pair> pairs;
  std::vector<int64_t> times;
  std::vector<float> embeddings, logits;

  // The values tell the pair and the moment.
  void add(Pair pair, int64_t time) {
    pairs.push_back(pair);
    times.push_back(time);
    for (uint32_t i = 0; i < kWidth; ++i) embeddings.push_back(value(pair, i));
    logits.push_back(static_cast<float>(pair.user) + 0.1f);
    logits.push_back(static_cast<float>(time % 1000));
  }
  static float value(Pair pair, uint32_t i) {
    return static_cast<float>((pair.user * 31 + pair.item * 7 + i) % 512) - 256;
  }
  TeacherEntries entries() const { return {pairs, times, embeddings, logits}; }
};

class Rocks : public testing::Test {
 protected:
  std::unique_ptr<TeacherStore> open(const TeacherDescription& description = teacher(),
                                     const StoreLimits& limits = {}) {
    auto store = open_rocks_store(path(), description, limits);
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : format(store.error()));
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::string path() const { return folder_.file("store"); }
  static LookUp ask(TeacherStore& store, Pair pair, int64_t as_of, int64_t* found = nullptr) {
    const std::vector<Pair> pairs = {pair};
    const std::vector<int64_t> moments = {as_of};
    const auto answers = store.look_up(pairs, moments);
    EXPECT_TRUE(answers.ok());
    if (found != nullptr) *found = answers->computed_at[0];
    return answers->results[0];
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::create("teacher-store");
};

TEST_F(Rocks, GivesBackWhatWasWrittenInTheOrderOfTheQuestion) {
  const auto store = open();
  Batch batch;
  for (uint64_t i = 0; i < 2000; ++i) batch.add({i % 50, i}, kNow + static_cast<int64_t>(i));
  ASSERT_TRUE(store->write(batch.entries()).ok());
  std::vector<Pair> questions;
  for (uint64_t i = 0; i < 4000; ++i)
    questions.push_back({(i * 1237) % 4000 % 50, (i * 1237) % 4000});
  const std::vector<int64_t> moments(questions.size(), kNow + kHour / 2);
  const auto answers = store->look_up(questions, moments);
  ASSERT_TRUE(answers.ok());
  for (size_t row = 0; row < questions.size(); ++row) {
    const bool there = questions[row].item < 2000;
    ASSERT_EQ(answers->results[row], there ? LookUp::Hit : LookUp::Absent);
    for (uint32_t i = 0; i < kWidth; ++i)
      ASSERT_EQ(answers->embeddings[row * kWidth + i],
                there ? Batch::value(questions[row], i) : 0.0f);
    ASSERT_EQ(answers->logits[row * 2], there ? static_cast<float>(questions[row].user) + 0.1f : 0);
  }
  const Json use = to_json(store->use(), store->limits().lifetime_seconds);
  EXPECT_EQ(use["hit_rate"], 0.5);
  EXPECT_EQ(use["ages"][0]["hits"], 1999);  // under half an hour
  EXPECT_EQ(use["ages"][1]["hits"], 1);     // the first one, half an hour to the microsecond
}

TEST_F(Rocks, NeverGivesWhatWasComputedAfterTheEvent) {
  const auto store = open();
  Batch batch;
  batch.add({1, 1}, kNow + kHour);  // the future, planted, in a bucket of its own
  batch.add({1, 1}, kNow - kHour);  // what the event may see
  batch.add({2, 2}, kNow + 1);      // the future in the event's own bucket
  batch.add({3, 3}, kNow);          // the same instant counts
  ASSERT_TRUE(store->write(batch.entries()).ok());
  int64_t found = 0;
  EXPECT_EQ(ask(*store, {1, 1}, kNow, &found), LookUp::Hit);
  EXPECT_EQ(found, kNow - kHour);
  EXPECT_EQ(ask(*store, {2, 2}, kNow), LookUp::NotYet);
  EXPECT_EQ(ask(*store, {2, 2}, kNow + 1), LookUp::Hit);
  EXPECT_EQ(ask(*store, {3, 3}, kNow), LookUp::Hit);
}

TEST_F(Rocks, GivesNothingToEventsThatTheTeacherMayHaveLearnedFrom) {
  TeacherDescription late = teacher();
  late.trained_until = kNow + 10;
  const auto store = open(late);
  Batch batch;
  batch.add({1, 1}, kNow);
  ASSERT_TRUE(store->write(batch.entries()).ok());
  EXPECT_EQ(ask(*store, {1, 1}, kNow + 9), LookUp::TeacherAhead);
  EXPECT_EQ(ask(*store, {1, 1}, kNow + 10), LookUp::Hit);
}

TEST_F(Rocks, ForgetsAfterTheLifetime) {
  const auto store = open();
  Batch batch;
  batch.add({1, 1}, kNow + 5);
  ASSERT_TRUE(store->write(batch.entries()).ok());
  EXPECT_EQ(ask(*store, {1, 1}, kNow + 5 + 6 * kHour), LookUp::Hit);
  EXPECT_EQ(ask(*store, {1, 1}, kNow + 6 + 6 * kHour), LookUp::Expired);
  // The bucket ends an hour after kNow; an event six hours later can still see its last entry.
  EXPECT_EQ(*store->expire(kNow + 7 * kHour - 1), 0u);
  EXPECT_EQ(*store->expire(kNow + 7 * kHour), 1u);
  EXPECT_EQ(ask(*store, {1, 1}, kNow + 10), LookUp::Absent);
}

TEST_F(Rocks, DropsOldBucketsWhileItIsWritten) {
  const auto store = open();
  for (int64_t hour = 0; hour < 30; ++hour) {
    Batch batch;
    batch.add({1, 1}, kNow + hour * kHour);
    ASSERT_TRUE(store->write(batch.entries()).ok());
  }
  const auto contents = store->contents();
  EXPECT_EQ((*contents)["buckets"].size(), 7u);  // the newest and six whole hours
  Batch late;
  late.add({9, 9}, kNow);
  ASSERT_TRUE(store->write(late.entries()).ok());
  EXPECT_EQ(store->use().too_old, 1u);
  EXPECT_EQ(ask(*store, {9, 9}, kNow), LookUp::Absent);
}

TEST_F(Rocks, StaysUnderItsSizeByDroppingTheOldest) {
  constexpr uint64_t kMost = 4 << 20;
  const auto store = open(teacher(), {.most_bytes = kMost});
  for (uint64_t i = 0; i < 200; ++i) {
    Batch batch;
    for (uint64_t j = 0; j < 1000; ++j)
      batch.add({i, j}, kNow + static_cast<int64_t>(i) * kHour / 40);
    ASSERT_TRUE(store->write(batch.entries()).ok());
  }
  // Written: 200,000 x (16 + 12 + 8 + 22) bytes, 11.6 MB in five buckets. Between two looks at the
  // size a sixteenth more comes, and an empty bucket takes a filter of 1.3 MB.
  EXPECT_LT((*store->contents())["bytes"].get<uint64_t>(), kMost + (2 << 20));
  EXPECT_EQ(ask(*store, {0, 0}, kNow + 5 * kHour), LookUp::Absent);
  EXPECT_EQ(ask(*store, {199, 999}, kNow + 5 * kHour), LookUp::Hit);
}

TEST_F(Rocks, RoundsToInt8WithAScaleOfTheVector) {
  const auto store = open(teacher(EmbeddingFormat::Int8));
  Batch batch;
  batch.add({1, 1}, kNow);
  batch.embeddings = {127, -127, 63.6f, 0, 1, -1, 0.4f, -0.6f, 100, 50, 25};
  ASSERT_TRUE(store->write(batch.entries()).ok());
  const std::vector<int64_t> moments = {kNow};
  const auto answers = store->look_up(batch.pairs, moments);
  // The largest is 127, so the scale is 1 and values go to the nearest whole.
  EXPECT_EQ(answers->embeddings, (std::vector<float>{127, -127, 64, 0, 1, -1, 0, -1, 100, 50, 25}));
}

TEST_F(Rocks, RefusesValuesThatCannotBeStored) {
  const auto store = open();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 65505.0f}) {
    Batch batch;
    batch.add({7, 8}, kNow);
    batch.embeddings[9] = value;
    const auto written = store->write(batch.entries());
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message().find("user 7, item 8, index 9"), std::string::npos);
  }
  Batch narrow;
  narrow.add({1, 1}, kNow);
  narrow.embeddings.pop_back();
  EXPECT_FALSE(store->write(narrow.entries()).ok());
  Batch future;
  future.add({1, 1}, 4'000'000'000'000'000);  // the year 2096
  EXPECT_FALSE(store->write(future.entries()).ok());
  EXPECT_EQ(ask(*store, {7, 8}, kNow), LookUp::Absent);
}

TEST_F(Rocks, IsOneTeachers) {
  Batch batch;
  batch.add({1, 1}, kNow);
  ASSERT_TRUE(open()->write(batch.entries()).ok());
  TeacherDescription other = teacher();
  other.version = "t2";
  other.width = 12;
  const auto refused = open_rocks_store(path(), other);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(
      refused.error().message().find("version t1 there, t2 wanted; width 11 there, 12 wanted"),
      std::string::npos);
  EXPECT_FALSE(open_rocks_store(path(), teacher(), {.lifetime_seconds = 60}).ok());
  // The old state is kept.
  EXPECT_EQ(ask(*open(), {1, 1}, kNow), LookUp::Hit);
}

TEST_F(Rocks, RefusesFoldersThatAreNoStore) {
  EXPECT_FALSE(open_rocks_store(path(), Access::ReadOnly).ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
  ASSERT_TRUE(write_file(path() + "/letter.txt", "text").ok());
  EXPECT_FALSE(open_rocks_store(path(), teacher()).ok());
  EXPECT_FALSE(open_rocks_store(folder_.file("x"), {.version = "", .width = 4}).ok());
  EXPECT_FALSE(
      open_rocks_store(folder_.file("x"), teacher(), {.lifetime_seconds = std::nan("")}).ok());
}

TEST_F(Rocks, HasOneWriterAndReadersBesideIt) {
  const auto store = open();
  Batch batch;
  batch.add({1, 1}, kNow);
  ASSERT_TRUE(store->write(batch.entries()).ok());
  EXPECT_FALSE(open_rocks_store(path(), teacher()).ok());
  auto reader = open_rocks_store(path(), Access::ReadOnly);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ask(**reader, {1, 1}, kNow), LookUp::Hit);
  EXPECT_EQ((*reader)->description(), teacher());
}

// Run by the next test as a process of its own: batch after batch, each acknowledged by a line.
constexpr uint64_t kInBatch = 100;
TEST_F(Rocks, FillsTheStoreThatTheEnvironmentNames) {
  const char* folder = std::getenv("WEFT_STORE_TO_FILL");
  if (folder == nullptr) GTEST_SKIP() << "only a part of the next test";
  auto store = *open_rocks_store(folder, teacher());
  uint64_t number = std::strtoull(std::getenv("WEFT_FIRST_BATCH"), nullptr, 10);
  for (;; ++number) {
    Batch batch;
    // Two buckets, so that a batch crosses column families.
    for (uint64_t i = 0; i < kInBatch; ++i) batch.add({number, i}, kNow + (i % 2 == 0 ? 0 : kHour));
    ASSERT_TRUE(store->write(batch.entries()).ok());
    const std::string line = "acknowledged " + std::to_string(number) + "\n";
    ASSERT_EQ(::write(1, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
}

TEST_F(Rocks, LosesNothingAndHalvesNothingWhenItIsKilled) {
  uint64_t batches = 0;
  for (const double seconds : {0.7, 0.9, 1.1}) {
    const uint64_t before = batches;
    const auto killed =
        run({.arguments = {"/proc/self/exe",
                           "--gtest_filter=Rocks.FillsTheStoreThatTheEnvironmentNames"},
             .extra_environment = {{"WEFT_STORE_TO_FILL", path()},
                                   {"WEFT_FIRST_BATCH", std::to_string(batches)}},
             .kept_output_bytes = 64 << 20,
             .limits = {.seconds = seconds}});
    ASSERT_TRUE(killed.ok());
    ASSERT_EQ(killed->ending, Ending::TimedOut) << killed->output << killed->errors;
    std::istringstream lines(killed->output);
    for (std::string line; std::getline(lines, line);)
      if (line.rfind("acknowledged ", 0) == 0 && !lines.eof()) ++batches;
    if (batches == 0) continue;
    const auto store = open();
    ASSERT_NE(store, nullptr);
    // All of this round's, and one in sixteen of those that an earlier round has seen.
    for (uint64_t number = 0; number < batches + 3; number += number + 16 < before ? 16 : 1) {
      std::vector<Pair> pairs;
      for (uint64_t i = 0; i < kInBatch; ++i) pairs.push_back({number, i});
      const std::vector<int64_t> moments(kInBatch, kNow + kHour);
      const auto answers = store->look_up(pairs, moments);
      ASSERT_TRUE(answers.ok());
      const auto hits = std::count(answers->results.begin(), answers->results.end(), LookUp::Hit);
      if (number < batches)
        ASSERT_EQ(hits, kInBatch) << "batch " << number << " was acknowledged";
      else
        ASSERT_TRUE(hits == 0 || hits == kInBatch) << "batch " << number << " is half there";
      for (size_t row = 0; hits != 0 && row < kInBatch; ++row)
        for (uint32_t i = 0; i < kWidth; ++i)
          ASSERT_EQ(answers->embeddings[row * kWidth + i], Batch::value(pairs[row], i));
    }
  }
  EXPECT_GT(batches, 10u);
}

}  // namespace
}  // namespace weft::lattice
