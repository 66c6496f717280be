// SPDX-License-Identifier: Apache-2.0

// From shards made by hand to a teacher, its store and a student. What the store holds is compared
// with what the trained network says of single rows, and what a stopped run leaves with one that
// was never stopped.
#include "lattice/teaching/teach_run.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.h"
#include "base/mix.h"
#include "base/safetensors.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/distillation/open_store.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

constexpr int64_t kSecond = 1'000'000, kMinute = 60 * kSecond;
constexpr int64_t kStart = 1'700'000'000 * kSecond;
constexpr uint64_t kTrainRows = 600, kLaterRows = 500;
constexpr size_t kUsers = 8, kItems = 6;

template <typename T>
std::string_view bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Row i comes i minutes after the start. Row numbers of user 5 are unknown values.
int32_t user_of(uint64_t i) {
  return static_cast<int32_t>(5 + mix(i, 1) % kUsers);
}
int32_t item_of(uint64_t i) {
  return static_cast<int32_t>(2 + mix(i, 2) % kItems);
}

class TeachTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("teach").value();
  std::string data_ = folder_.file("data");
  std::optional<Learner> learner_;

  void SetUp() override {
    // The later rows lie in two shards, the newer first.
    put("train", 0, kTrainRows);
    put("newer", kTrainRows + 200, kLaterRows - 200);
    put("older", kTrainRows, 200);
    const auto entry = [&](const std::string& name, uint64_t rows) {
      return R"({"file":")" + name + R"(","rows":)" + std::to_string(rows) + R"(,"fingerprint":")" +
             fingerprint(data_ + "/" + name).value() + "\"}";
    };
    ASSERT_TRUE(
        write_file(
            data_ + "/index.json",
            R"({"format":1,"schema":"0123456789abcdef","categorical":[{"name":"user_id","table_rows":13,"unknown_buckets":4},)"
            R"({"name":"item_id","table_rows":8}],"dense":[{"name":"x"}],"labels":[{"name":"click","windowed":false}],)"
            R"("domains":[],"windows":[],"sequence":[],"sequence_length":0,"row_columns":["id","time"],)"
            R"("splits":{"train":{"rows":600,"shards":[)" +
                entry("train", kTrainRows) + R"(]},"later":{"rows":500,"shards":[)" +
                entry("newer", kLaterRows - 200) + "," + entry("older", 200) + "]}}}")
            .ok());
  }

  void put(const std::string& name, uint64_t first, uint64_t n) {
    std::vector<int32_t> codes;
    std::vector<float> dense, label;
    const std::vector<uint8_t> ones(n, 1);
    std::vector<uint64_t> id;
    std::vector<int64_t> time;
    for (uint64_t r = 0; r < n; ++r) codes.push_back(user_of(first + r));
    for (uint64_t r = 0; r < n; ++r) codes.push_back(item_of(first + r));
    for (uint64_t r = 0; r < n; ++r) {
      const uint64_t i = first + r;
      dense.push_back(static_cast<float>(mix(i, 3) % 100) / 50 - 1);
      label.push_back(dense.back() > 0.2f * static_cast<float>(item_of(i) - 4) ? 1.0f : 0.0f);
      id.push_back(i);
      time.push_back(kStart + static_cast<int64_t>(i) * kMinute);
    }
    ASSERT_TRUE(std::filesystem::create_directories(data_) || std::filesystem::exists(data_));
    ASSERT_TRUE(
        write_safetensors(data_ + "/" + name, {{"categorical", {"I32", {2, n}, bytes(codes)}},
                                               {"dense", {"F32", {n, 1}, bytes(dense)}},
                                               {"dense_present", {"U8", {n, 1}, bytes(ones)}},
                                               {"label", {"F32", {n, 1}, bytes(label)}},
                                               {"label_known", {"U8", {n, 1}, bytes(ones)}},
                                               {"id", {"U64", {n}, bytes(id)}},
                                               {"time", {"I64", {n}, bytes(time)}}})
            .ok());
  }

  Result<Json> trained(const std::string& out, const std::string& yaml,
                       const std::atomic<bool>* stop = nullptr) {
    const YamlDocument document = TRY(parse_yaml(yaml, "train"));
    const TrainConfiguration c = TRY(read_training(document, document.root, folder_.path()));
    RunFolder run =
        TRY(RunFolder::open(folder_.file(out), {.verb = "train", .configuration = to_json(c)}));
    return train_models(c, run, {.stop = stop});
  }
  void train_teacher(const std::string& more = "") {
    const auto summary =
        trained("teacher", "{data: data, validation: '', batch_rows: 50, " + more +
                               "models: {big: {network: {kind: mlp, width: 8, hidden: [16], "
                               "head: [8]}}}}");
    ASSERT_TRUE(summary.ok()) << format(summary.error());
  }
  Result<Json> taught(const std::string& out, const std::string& more = "",
                      const std::atomic<bool>* stop = nullptr) {
    const YamlDocument document = TRY(parse_yaml(
        "{models: teacher, batch_rows: 64, bucket: 1h, lifetime: 3h" + more + "}", "teach"));
    const TeachConfiguration c = TRY(read_teach(document, document.root, folder_.path()));
    RunFolder run =
        TRY(RunFolder::open(folder_.file(out), {.verb = "teach", .configuration = to_json(c)}));
    return teach(c, run, {.stop = stop});
  }
  // What the teacher says of a row of the later split, by itself.
  float logit_of(uint64_t i) {
    const Json summary = finished_summary(folder_.file("teacher"), "train").value();
    const ShardIndex schema = ShardIndex::read(data_).value();
    const Json& model = summary["models"][0];
    if (!learner_)
      learner_.emplace(
          load_part(folder_.file("teacher"), summary, model, model["parts"][0], schema).value());
    Batch row;
    row.rows = 1;
    row.categorical = {user_of(i), item_of(i)};
    row.dense = {static_cast<float>(mix(i, 3) % 100) / 50 - 1};
    row.dense_present = {1};
    return learner_->logits(row).value()[0];
  }
};

TEST_F(TeachTest, WritesWhatTheNetworkSaysOfEachRowAfterItsOwnData) {
  train_teacher();
  const Json summary = taught("taught").value();
  const int64_t until = kStart + int64_t{kTrainRows - 1} * kMinute;
  EXPECT_EQ(summary["teacher"]["trained_until"], until);
  EXPECT_EQ(summary["rows"], kTrainRows + kLaterRows);
  // The last training row is as new as the teacher itself.
  EXPECT_EQ(summary["before_teacher"], kTrainRows - 1);
  uint64_t unknown = 0;
  for (uint64_t i = kTrainRows - 1; i < kTrainRows + kLaterRows; ++i) unknown += user_of(i) < 6;
  EXPECT_EQ(summary["without_pair"], unknown);
  EXPECT_EQ(summary["taught"], kLaterRows + 1 - unknown);
  EXPECT_GT(unknown, 20u);

  const auto store = open_store(summary["store"], Access::ReadOnly).value();
  size_t compared = 0;
  for (uint64_t i = kTrainRows; i < kTrainRows + kLaterRows; i += 11) {
    if (user_of(i) < 6) continue;
    // A minute after the row the entry is there, and the newest of its pair.
    const std::vector<Pair> pair = {
        {static_cast<uint64_t>(user_of(i)), static_cast<uint64_t>(item_of(i))}};
    const std::vector<int64_t> at = {kStart + static_cast<int64_t>(i + 1) * kMinute};
    const TeacherAnswers answers = store->look_up(pair, at).value();
    // The same pair may have come again in the bucket; then the newer entry is in its place.
    if (answers.results[0] != LookUp::Hit || answers.computed_at[0] != at[0]) continue;
    EXPECT_NEAR(answers.logits[0], logit_of(i), 1e-5);
    ++compared;
  }
  EXPECT_GT(compared, 3u);
}

TEST_F(TeachTest, TakesAllSplitsInOrderOfTimeAndSaysWhatAStudentBesideItWouldHit) {
  train_teacher();
  const Json summary = taught("taught").value();
  // By hand: the age of the newest earlier entry of the pair at each row.
  uint64_t hits = 0;
  std::map<std::pair<int32_t, int32_t>, std::vector<uint64_t>> seen;
  constexpr uint64_t kBatch = 64, kLifetimeMinutes = 180;
  for (uint64_t i = kTrainRows - 1; i < kTrainRows + kLaterRows; ++i) {
    if (user_of(i) < 6) continue;
    std::vector<uint64_t>& before = seen[{user_of(i), item_of(i)}];
    // Rows of its own batch are written after it asks.
    for (auto j = before.rbegin(); j != before.rend(); ++j) {
      if (*j / kBatch == i / kBatch) continue;
      hits += i - (*j + 1) <= kLifetimeMinutes;
      break;
    }
    before.push_back(i);
  }
  uint64_t by_age = 0;
  for (const Json& age : summary["use"]["ages"]) by_age += age["hits"].get<uint64_t>();
  EXPECT_EQ(by_age, hits);
  EXPECT_GT(hits, 100u);
}

TEST_F(TeachTest, NothingAfterUntilIsTaught) {
  train_teacher();
  const std::string moment = "2023-11-15T08:53:20Z";  // kStart is 2023-11-14T22:13:20Z: row 640
  const Json summary = taught("taught", ", until: '" + moment + "'").value();
  EXPECT_EQ(summary["after_until"], kTrainRows + kLaterRows - 641);
  const auto store = open_store(summary["store"], Access::ReadOnly).value();
  for (const uint64_t i : {641, 700, 900}) {
    const std::vector<Pair> pair = {
        {static_cast<uint64_t>(user_of(i)), static_cast<uint64_t>(item_of(i))}};
    const std::vector<int64_t> at = {kStart + static_cast<int64_t>(i + 1) * kMinute};
    const TeacherAnswers answers = store->look_up(pair, at).value();
    if (answers.results[0] == LookUp::Hit) {
      EXPECT_LE(answers.computed_at[0], kStart + 641 * kMinute);
    }
  }
}

TEST_F(TeachTest, GoesOnWhereItWasStopped) {
  train_teacher();
  const Json whole = taught("whole").value();
  const std::atomic<bool> stop = true;
  int starts = 0;
  for (; starts < 5; ++starts) {
    const auto stopped = taught("parts", "", &stop);
    ASSERT_FALSE(stopped.ok());
    EXPECT_NE(stopped.error().message().find("goes on from here"), std::string::npos);
  }
  const Json rest = taught("parts").value();
  for (const char* name : {"rows", "taught", "without_pair", "before_teacher"})
    EXPECT_EQ(rest[name], whole[name]) << name;
  EXPECT_EQ(rest["use"], whole["use"]);
  const auto one = open_store(whole["store"], Access::ReadOnly).value();
  const auto other = open_store(rest["store"], Access::ReadOnly).value();
  std::vector<Pair> pairs;
  std::vector<int64_t> moments;
  for (uint64_t i = kTrainRows; i < kTrainRows + kLaterRows; ++i) {
    pairs.push_back({static_cast<uint64_t>(user_of(i)), static_cast<uint64_t>(item_of(i))});
    moments.push_back(kStart + static_cast<int64_t>(i) * kMinute);
  }
  const TeacherAnswers a = one->look_up(pairs, moments).value();
  const TeacherAnswers b = other->look_up(pairs, moments).value();
  EXPECT_EQ(a.results, b.results);
  EXPECT_EQ(a.embeddings, b.embeddings);
  EXPECT_GT(std::count(a.results.begin(), a.results.end(), LookUp::Hit), 100);
}

TEST_F(TeachTest, ATrainingCanEndBeforeAMoment) {
  train_teacher("until: '2023-11-15T02:13:20Z', ");  // 240 minutes after the start
  const Json summary = finished_summary(folder_.file("teacher"), "train").value();
  EXPECT_EQ(summary["trained_until"], kStart + 239 * kMinute);
  EXPECT_EQ(summary["models"][0]["parts"][0]["rows"], 240);
}

constexpr const char* kStudents =
    "{data: data, validation: later, batch_rows: 50, passes: 2, checkpoint_every: 3, "
    "teacher: {store: taught/store, adapter: true, gradient_scale: 0.5}, models: {"
    "none: {network: {kind: mlp, width: 4, hidden: [8], head: [4]}}, "
    "labels: {network: {kind: mlp, width: 4, hidden: [8], head: [4]}, teacher: labels}, "
    "both: {network: {kind: mlp, width: 4, hidden: [8], head: [4]}, teacher: both}}}";

TEST_F(TeachTest, AStudentTrainsWithItsTeacherAndEndsWithTheSameBitsWhenStopped) {
  train_teacher("until: '2023-11-15T02:13:20Z', ");
  ASSERT_TRUE(taught("taught").ok());
  const auto whole = trained("students", kStudents);
  ASSERT_TRUE(whole.ok()) << format(whole.error());
  const Json& both = (*whole)["models"][2];
  EXPECT_EQ(both["teacher"]["use"], "both");
  const Json& use = both["parts"][0]["teacher_use"];
  // Two passes over both splits. Of the first 240 rows none may hit.
  EXPECT_EQ(use["rows"], 2 * (kTrainRows + kLaterRows));
  EXPECT_GE(use["teacher_ahead"].get<uint64_t>() + use["without_pair"].get<uint64_t>(), 2u * 239);
  EXPECT_GT(use["hits"].get<uint64_t>(), 300u);
  // The distillation head does not count as work of serving.
  EXPECT_EQ((*whole)["models"][0]["flops_per_impression"],
            (*whole)["models"][1]["flops_per_impression"]);

  const std::atomic<bool> stop = true;
  for (int i = 0; i < 4; ++i) ASSERT_FALSE(trained("stopped", kStudents, &stop).ok());
  ASSERT_TRUE(trained("stopped", kStudents).ok());
  for (const char* name : {"none", "labels", "both"}) {
    const std::string file = "/" + std::string(name) + "/model.safetensors";
    const Safetensors one = Safetensors::open(folder_.file("students") + file).value();
    const Safetensors other = Safetensors::open(folder_.file("stopped") + file).value();
    for (const auto& [tensor, view] : one.tensors())
      EXPECT_EQ(view.bytes, other.tensor(tensor).value().bytes) << name << " " << tensor;
  }
}

TEST_F(TeachTest, AStoreOfAnotherTeacherIsRefused) {
  train_teacher();
  ASSERT_TRUE(taught("taught").ok());
  const std::string yaml =
      "{data: data, validation: '', teacher: {store: taught/store, version: other}, models: "
      "{both: {network: {kind: mlp}, teacher: both}}}";
  const auto refused = trained("students", yaml);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("other wanted"), std::string::npos);
  const auto without =
      trained("without", "{data: data, models: {both: {network: {kind: mlp}, teacher: both}}}");
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message().find("names no store"), std::string::npos);
  EXPECT_FALSE(taught("unknown", ", model: small").ok());
  EXPECT_FALSE(taught("unnamed", ", user: person").ok());
}

}  // namespace
}  // namespace weft::lattice
