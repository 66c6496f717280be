// SPDX-License-Identifier: Apache-2.0

// What a student gets, against what the rules say of entries planted one by one.
#include "lattice/distillation/student_view.h"

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "lattice/distillation/rocks_store.h"

namespace weft::lattice {
namespace {

constexpr int64_t kSecond = 1'000'000, kHour = 3600 * kSecond;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

ShardIndex schema() {
  ShardIndex index;
  // Of items, row numbers below 6 are padding, null and four kinds of unknown.
  index.tables = {{"place", 9, 3}, {"user_id", 100, 2}, {"item_id", 100, 6}};
  index.labels = {{"click", false}, {"buy", false}};
  index.row_columns = {"id", "time"};
  index.schema = "0123456789abcdef0123456789abcdef";
  return index;
}

TeacherDescription teacher() {
  return {.version = "t1",
          .width = 2,
          .tasks = {"buy", "click"},
          .pairs = "user_id, item_id of schema 0123456789abcdef",
          .trained_until = kNow - 10 * kHour};
}

struct Event {
  int32_t user, item;
  int64_t time;
};

Batch rows(const std::vector<Event>& events) {
  Batch batch;
  batch.rows = events.size();
  batch.categorical.assign(3 * events.size(), 3);
  for (size_t i = 0; i < events.size(); ++i) {
    batch.categorical[events.size() + i] = events[i].user;
    batch.categorical[2 * events.size() + i] = events[i].item;
    batch.time.push_back(events[i].time);
  }
  return batch;
}

class StudentViewTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("student").value();
  std::shared_ptr<TeacherStore> store_ =
      open_rocks_store(folder_.file("store"), teacher(), {.lifetime_seconds = 6 * 3600}).value();

  void plant(uint64_t user, uint64_t item, int64_t computed_at, float value) {
    const std::vector<Pair> pairs = {{user, item}};
    const std::vector<int64_t> times = {computed_at};
    const std::vector<float> embedding = {value, -value}, logits = {value + 1, value + 2};
    ASSERT_TRUE(store_->write({pairs, times, embedding, logits}).ok());
  }
  StudentView view(const StudentViewOptions& options = {}) {
    return StudentView::create(store_, schema(), options).value();
  }
  std::string refusal(const StudentViewOptions& options) {
    const auto made = StudentView::create(store_, schema(), options);
    return made.ok() ? "accepted" : format(made.error());
  }
};

TEST_F(StudentViewTest, FillsHitsAndLeavesMissesZero) {
  plant(7, 11, kNow - kHour, 0.5f);
  StudentView one = view();
  Batch batch = rows({{8, 11, kNow}, {7, 11, kNow}});
  ASSERT_TRUE(one.attach(batch).ok());
  EXPECT_EQ(batch.teacher_hit, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(batch.teacher, (std::vector<float>{0, 0, 0.5f, -0.5f}));
  EXPECT_EQ(batch.teacher_logit, (std::vector<float>{0, 0, 1.5f, 2.5f}));
  EXPECT_EQ(task_of(teacher(), "buy").value(), 0u);
  EXPECT_EQ(task_of(teacher(), "click").value(), 1u);
  EXPECT_FALSE(task_of(teacher(), "like").ok());
  EXPECT_EQ(one.use().rows, 2u);
  EXPECT_EQ(one.use().hits, 1u);
  // An hour of six: the third of twelve.
  EXPECT_EQ(one.use().ages[2], 1u);
}

TEST_F(StudentViewTest, NeverGivesAnEntryThatIsNewerThanTheEvent) {
  plant(7, 11, kNow + 1, 0.5f);
  StudentView one = view();
  Batch batch = rows({{7, 11, kNow}, {7, 11, kNow + 1}});
  ASSERT_TRUE(one.attach(batch).ok());
  EXPECT_EQ(batch.teacher_hit, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(one.use().looked_up[static_cast<size_t>(LookUp::NotYet)], 1u);
}

TEST_F(StudentViewTest, NeverGivesATeacherThatHasLearnedFromLaterThanTheEvent) {
  // The entry says that it is old enough; its teacher is not.
  plant(7, 11, kNow - 12 * kHour, 0.5f);
  StudentView one = view();
  Batch batch = rows({{7, 11, kNow - 10 * kHour - 1}, {7, 11, kNow - 10 * kHour}});
  ASSERT_TRUE(one.attach(batch).ok());
  EXPECT_EQ(batch.teacher_hit, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(one.use().looked_up[static_cast<size_t>(LookUp::TeacherAhead)], 1u);
}

TEST_F(StudentViewTest, UnknownUsersAndItemsAreNobody) {
  plant(1, 11, kNow - kHour, 1);
  plant(7, 5, kNow - kHour, 1);
  StudentView one = view();
  Batch batch = rows({{1, 11, kNow}, {7, 5, kNow}});
  ASSERT_TRUE(one.attach(batch).ok());
  EXPECT_EQ(batch.teacher_hit, (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(one.use().without_pair, 2u);
}

TEST_F(StudentViewTest, ClipsEmbeddingsAndNotLogits) {
  plant(7, 11, kNow, 5);
  StudentView one = view({.clip = 2});
  Batch batch = rows({{7, 11, kNow}});
  ASSERT_TRUE(one.attach(batch).ok());
  EXPECT_EQ(batch.teacher, (std::vector<float>{2, -2}));
  EXPECT_EQ(batch.teacher_logit, (std::vector<float>{6, 7}));
}

TEST_F(StudentViewTest, SweepsTakeHitsAway) {
  plant(7, 11, kNow - 2 * kHour, 1);
  plant(7, 12, kNow - 3 * kHour, 1);
  StudentView shorter = view({.lifetime_seconds = 2.5 * 3600});
  Batch batch = rows({{7, 11, kNow}, {7, 12, kNow}});
  ASSERT_TRUE(shorter.attach(batch).ok());
  EXPECT_EQ(batch.teacher_hit, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(shorter.use().cut, 1u);

  std::vector<Event> events;
  for (int i = 0; i < 2000; ++i) events.push_back({7, 11, kNow + i * kSecond});
  StudentView most = view({.dropped_share = 0.25}), none = view({.dropped_share = 1});
  Batch many = rows(events);
  ASSERT_TRUE(most.attach(many).ok());
  // Four deviations of a share of 3/4 over 2000.
  EXPECT_NEAR(static_cast<double>(most.use().hits) / 2000, 0.75, 0.04);
  ASSERT_TRUE(none.attach(many).ok());
  EXPECT_EQ(none.use().hits, 0u);
}

TEST_F(StudentViewTest, IsOneTeachersOnOneSchema) {
  EXPECT_EQ(refusal({.version = "t1", .width = 2}), "accepted");
  EXPECT_NE(refusal({.version = "t2"}).find("version t1 there, t2 wanted"), std::string::npos);
  EXPECT_NE(refusal({.width = 3}).find("width 2 there, 3 wanted"), std::string::npos);
  EXPECT_NE(refusal({.item = "place"}).find("user_id, place of schema"), std::string::npos);
  EXPECT_NE(refusal({.item = "thing"}).find("place, user_id, item_id"), std::string::npos);
  ShardIndex other = schema();
  other.schema[0] = 'f';
  EXPECT_FALSE(StudentView::create(store_, other, {}).ok());
  ShardIndex timeless = schema();
  timeless.row_columns = {"id"};
  EXPECT_FALSE(StudentView::create(store_, timeless, {}).ok());
}

}  // namespace
}  // namespace weft::lattice
