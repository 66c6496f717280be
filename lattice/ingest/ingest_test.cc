// SPDX-License-Identifier: Apache-2.0

// From small tables to shards and back; expected rows, codes and statistics by hand.
#include "lattice/ingest/ingest.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/table/database.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "lattice/data/reader.h"
#include "lattice/ingest/vocabulary.h"

namespace weft::lattice {
namespace {

class IngestTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("ingest").value();
  int runs_ = 0;

  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_.file(name), text).ok());
  }
  std::string out() const { return folder_.file("out" + std::to_string(runs_)); }
  Result<Json> work(const std::string& yaml) {
    ++runs_;
    const YamlDocument document = TRY(parse_yaml(yaml, "d.yaml"));
    const DataConfiguration data = TRY(read_data(document, document.root, folder_.path()));
    RunFolder run = TRY(RunFolder::open(out(), {.verb = "ingest", .configuration = to_json(data)}));
    return ingest(data, run);
  }
  std::string failure(const std::string& yaml) {
    const auto result = work(yaml);
    return result.ok() ? "" : format(result.error());
  }
  static testing::AssertionResult says(const std::string& text,
                                       std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      if (text.find(part) == std::string::npos)
        return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    return testing::AssertionSuccess();
  }
  Batch all(const std::string& split) {
    const ShardSet set = ShardSet::open(out(), split).value();
    BatchStream stream(set, {.batch_rows = 1000, .order = RowOrder::AsWritten});
    Batch batch;
    EXPECT_TRUE(stream.next(batch));
    return batch;
  }
};

constexpr const char* kTrain =
    "word,size,label\na,1,1\nb,3,0\na,,0\na,5,0\n,3,0\nb,3,1\nrare,3,0\n";
constexpr const char* kTest = "word,size,label\nnever,9,1\nb,3,0\n";
constexpr const char* kYaml =
    "table: {files: train.csv}\ntest: {files: test.csv}\n"
    "categorical: {word: {unknown_buckets: 3}}\ndense: {size: {to: 5}}\nlabels: {label: {}}\n";

TEST_F(IngestTest, CodesAndStatisticsComeFromTheTrainingSplitAlone) {
  put("train.csv", kTrain);
  put("test.csv", kTest);
  const Json index = work(kYaml).value();
  // a: 3, b: 2; "rare" is seen once and unknown. 0 padding, 1 null, 2-4 unknown, 5 a, 6 b.
  const Json& word = index["categorical"][0];
  EXPECT_EQ(word["table_rows"], 7);
  EXPECT_NEAR(word["unknown_share"].get<double>(), 1.0 / 6, 1e-12);
  const Batch train = all("train");
  EXPECT_EQ(train.rows, 7u);
  const auto& codes = train.categorical;
  EXPECT_EQ(std::vector<int32_t>(codes.begin(), codes.begin() + 6),
            (std::vector<int32_t>{5, 6, 5, 5, 1, 6}));
  EXPECT_TRUE(codes[6] >= 2 && codes[6] <= 4);
  // Sizes 1 3 5 3 3 3: mean 3, variance 8/6.
  EXPECT_NEAR(index["dense"][0]["mean"].get<double>(), 3, 1e-6);
  EXPECT_NEAR(train.dense[0], -2 / std::sqrt(8.0 / 6), 1e-6);
  EXPECT_EQ(train.dense[2], 0);
  EXPECT_EQ(train.dense_present, (std::vector<uint8_t>{1, 1, 0, 1, 1, 1, 1}));
  const Batch test = all("test");
  EXPECT_TRUE(test.categorical[0] >= 2 && test.categorical[0] <= 4);
  EXPECT_NEAR(test.dense[0], 2 / std::sqrt(8.0 / 6), 1e-6) << "9 is bounded to 5";
  EXPECT_EQ(test.label, (std::vector<float>{1, 0}));
}

TEST_F(IngestTest, TheVocabularyReadsBack) {
  put("train.csv", kTrain);
  put("test.csv", kTest);
  ASSERT_TRUE(work(kYaml).ok());
  const Vocabulary vocabulary =
      Vocabulary::read({.name = "word", .unknown_buckets = 3}, out() + "/vocabulary/word.jsonl")
          .value();
  EXPECT_EQ(vocabulary.row("a"), 5);
  EXPECT_EQ(vocabulary.row("b"), 6);
  EXPECT_EQ(vocabulary.row("never"), all("test").categorical[0]);
  EXPECT_EQ(vocabulary.values()[0].second, 3u);
}

TEST_F(IngestTest, LabelsOutsideZeroToOne) {
  put("train.csv", std::string(kTrain) + "a,1,2\n");
  put("test.csv", kTest);
  EXPECT_TRUE(says(failure(kYaml), {"train.csv", "column \"label\", row 8", "outside 0 to 1: 2"}));
}

TEST_F(IngestTest, ASplitWithoutPositivesOrRows) {
  put("train.csv", kTrain);
  put("test.csv", "word,size,label\nb,3,0\n");
  EXPECT_TRUE(says(failure(kYaml),
                   {"test.csv", "column \"label\"", "split test has no positive label in 1 rows"}));
  put("test.csv", "word,size,label\n");
  EXPECT_TRUE(says(failure(kYaml), {"test.csv", "the split test has no rows"}));
}

TEST_F(IngestTest, ADomainWithoutRowsInASplitOrWithoutAName) {
  const std::string yaml = std::string(kYaml) + "domain: place\n";
  put("train.csv", "word,size,label,place\na,1,1,feed\na,2,0,stories\n");
  put("test.csv", "word,size,label,place\na,1,1,feed\n");
  EXPECT_TRUE(says(failure(yaml), {"test.csv", "column \"place\"",
                                   "the split test has no row of the domain stories"}));
  put("test.csv", "word,size,label,place\na,1,1,feed\na,1,1,fed\n");
  EXPECT_TRUE(says(failure(yaml), {"test.csv", "a domain that training has not: fed", "feed"}));
  put("test.csv", "word,size,label,place\na,1,1,feed\na,1,1,\n");
  EXPECT_TRUE(says(failure(yaml), {"test.csv", "column \"place\", row 2"}));
}

TEST_F(IngestTest, AZipThatWasNotFinishedOrNotNamed) {
  put("train.csv", "id,word\n1,a\n");
  const YamlDocument document =
      parse_yaml("table: {files: train.csv}\nid: id\nzip_labels: [click]\n", "d.yaml").value();
  const auto inputs = ingest_inputs(read_data(document, document.root, folder_.path()).value());
  ASSERT_FALSE(inputs.ok());
  EXPECT_TRUE(says(format(inputs.error()), {"data.zipped names no folder", "run lattice zip"}));
  EXPECT_TRUE(says(failure("table: {files: train.csv}\nid: id\ncategorical: {word: {}}\n"
                           "zip_labels: [click]\nzipped: " +
                           folder_.file("zip") + "\n"),
                   {"/zip", "no manifest", "run lattice zip first"}));
}

TEST_F(IngestTest, AVocabularyThatIsTooSmall) {
  put("train.csv", kTrain);
  put("test.csv", kTest);
  std::string yaml = kYaml;
  yaml.replace(yaml.find("unknown_buckets: 3"), 18, "most: 1, most_unknown: 0.4");
  EXPECT_TRUE(
      says(failure(yaml), {"column \"word\"", "1 of 3 values leave 50.0 % of the rows unknown"}));
}

TEST_F(IngestTest, ValuesThatAreNotFiniteInAnySplit) {
  put("train.csv", kTrain);
  put("test.csv", std::string(kTest) + "b,inf,1\n");
  EXPECT_TRUE(
      says(failure(kYaml), {"test.csv", "column \"size\", row 3", "not a finite number: inf"}));
}

TEST_F(IngestTest, TheLogarithmOfMinusThree) {
  put("train.csv", std::string(kTrain) + "a,-3,0\n");
  put("test.csv", kTest);
  std::string yaml = kYaml;
  yaml.replace(yaml.find("to: 5"), 5, "transform: log1p");
  // Bounded to the declared domain, from 0, and counted.
  EXPECT_EQ(work(yaml).value()["dense"][0]["outside"], 1);
  EXPECT_TRUE(std::isfinite(all("train").dense[7]));
  yaml.replace(yaml.find("log1p"), 5, "log1p, outside: refuse");
  EXPECT_TRUE(
      says(failure(yaml), {"train.csv", "column \"size\", row 8", "outside 0 to 1e+30: -3"}));
  yaml.replace(yaml.find("outside: refuse"), 15, "from: -5");
  EXPECT_TRUE(says(failure(yaml), {"d.yaml:4", "log1p takes values above -1"}));
}

TEST_F(IngestTest, RolesThatContradict) {
  EXPECT_TRUE(says(failure("categorical: {x: {}}\ndense: {x: {}}\nlabels: {y: {}}\n"),
                   {"\"x\" a second role"}));
  EXPECT_TRUE(says(failure("categorical: {x: {}}\n"), {"labels of data has no entry"}));
  EXPECT_TRUE(says(failure("labels: {y: {}}\nvalid_from: 2025-01-01\n"),
                   {"no column is named under time"}));
}

// Users 1 and 2. Event 11 of user 1 happened at second 10 and was known at 500 only.
constexpr const char* kEvents =
    "event_id,user_id,item_id,event_time,arrival_time\n"
    "10,1,a,1735689605,1735689605\n11,1,b,1735689610,1735690100\n12,1,c,1735689620,1735689621\n"
    "13,2,a,1735689601,1735689602\n14,1,a,1735689620,1735689622\n";
constexpr const char* kShown =
    "id,time,user_id,item_id,label\n1,1735689605,1,a,1\n2,1735689700,1,b,0\n3,1735690200,1,c,1\n4,"
    "1735690201,3,a,0\n"
    "5,1735690300,1,a,1\n";
constexpr const char* kSequenceYaml =
    "table: {files: shown.csv}\nid: id\ntime: time\nunit: s\nvalid_from: 2025-01-01T00:11:35Z\n"
    "categorical: {user_id: {least_count: 1}, item_id: {least_count: 1}}\nlabels: {label: {}}\n"
    "sequence: {table: {files: events.csv}, columns: {item_id: item_id}, length: 3}\n";

TEST_F(IngestTest, SequencesHoldWhatWasKnownAndNothingOfTheFuture) {
  put("events.csv", kEvents);
  put("shown.csv", kShown);
  ASSERT_TRUE(work(kSequenceYaml).ok());
  const Batch train = all("train");
  // Items in training: a 2 times, then b, c by text: rows 6, 7, 8 after pad, null and 4 unknown.
  // 1: the event at its own instant is not before it. 2: 11 is not known; 12 and 14 tie, 14 is
  // later. 3: of the last three by time, with 11 known: 11, 12, 14. 4: a user without a past.
  EXPECT_EQ(train.id, (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(train.sequence_offsets, (std::vector<int64_t>{0, 0, 3, 6, 6}));
  EXPECT_EQ(train.sequence, (std::vector<int32_t>{6, 8, 6, 7, 8, 6}));
  EXPECT_EQ(train.sequence_age[0], 95);
  EXPECT_EQ(all("valid").id, std::vector<uint64_t>{5});
}

TEST_F(IngestTest, AShardThatWasCutIsRefused) {
  put("train.csv", kTrain);
  put("test.csv", kTest);
  ASSERT_TRUE(work(kYaml).ok());
  const std::string shard = out() + "/train/shard-00000.safetensors";
  const std::string whole = read_file(shard).value();
  ASSERT_TRUE(write_file(shard, whole.substr(0, whole.size() - 1)).ok());
  const auto set = ShardSet::open(out(), "train");
  ASSERT_FALSE(set.ok());
  EXPECT_TRUE(says(format(set.error()), {"shard-00000.safetensors", "cut short"}));
}

}  // namespace
}  // namespace weft::lattice
