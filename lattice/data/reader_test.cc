// SPDX-License-Identifier: Apache-2.0

// Shards made by hand: row i has the id i, and every other value of it is a function of i.
#include "lattice/data/reader.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/fingerprint.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

template <typename T>
std::string_view bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string refusal(const Result<ShardSet>& set) {
  return set.ok() ? "accepted" : format(set.error());
}

class ReaderTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("reader").value();

  // Row i: codes i % 7 and i % 11, dense i / 2, label i % 2, and i % 3 events of code i and age e.
  void put_shard(const std::string& name, uint64_t first, uint64_t rows) {
    std::vector<int32_t> codes(2 * rows), sequence;
    std::vector<float> dense, label, ages;
    std::vector<uint8_t> ones(rows, 1);
    std::vector<uint64_t> id;
    std::vector<int64_t> offsets = {0};
    for (uint64_t r = 0; r < rows; ++r) {
      const uint64_t i = first + r;
      codes[r] = static_cast<int32_t>(i % 7);
      codes[rows + r] = static_cast<int32_t>(i % 11);
      dense.push_back(static_cast<float>(i) / 2);
      label.push_back(static_cast<float>(i % 2));
      id.push_back(i);
      for (uint64_t e = 0; e < i % 3; ++e) {
        sequence.push_back(static_cast<int32_t>(i));
        ages.push_back(static_cast<float>(e));
      }
      offsets.push_back(static_cast<int64_t>(ages.size()));
    }
    ASSERT_TRUE(write_safetensors(folder_.file(name),
                                  {{"categorical", {"I32", {2, rows}, bytes(codes)}},
                                   {"dense", {"F32", {rows, 1}, bytes(dense)}},
                                   {"dense_present", {"U8", {rows, 1}, bytes(ones)}},
                                   {"label", {"F32", {rows, 1}, bytes(label)}},
                                   {"label_known", {"U8", {rows, 1}, bytes(ones)}},
                                   {"id", {"U64", {rows}, bytes(id)}},
                                   {"sequence_offsets", {"I64", {rows + 1}, bytes(offsets)}},
                                   {"sequence", {"I32", {1, ages.size()}, bytes(sequence)}},
                                   {"sequence_age", {"F32", {ages.size()}, bytes(ages)}}})
                    .ok());
  }
  void put_index(uint64_t rows_of_second) {
    const auto entry = [&](const std::string& name, uint64_t rows) {
      return R"({"file":")" + name + R"(","rows":)" + std::to_string(rows) + R"(,"fingerprint":")" +
             fingerprint(folder_.file(name)).value() + "\"}";
    };
    ASSERT_TRUE(
        write_file(
            folder_.file("index.json"),
            R"({"format":1,"schema":"s","categorical":[{"name":"a","table_rows":7},{"name":"b","table_rows":11}],)"
            R"("dense":[{"name":"x"}],"labels":[{"name":"y","windowed":false}],"domains":[],"windows":[],)"
            R"("sequence":[{"name":"past","vocabulary_of":"b"}],"sequence_length":2,"row_columns":["id"],)"
            R"("splits":{"train":{"rows":1000,"shards":[)" +
                entry("one", 300) + "," + entry("two", rows_of_second) + "]}}}")
            .ok());
  }
  void put_all() {
    put_shard("one", 0, 300);
    put_shard("two", 300, 700);
    put_index(700);
  }
};

TEST_F(ReaderTest, TheIndexSaysWhatANetworkNeeds) {
  put_all();
  const ShardSet set = ShardSet::open(folder_.path(), "train").value();
  EXPECT_EQ(set.rows(), 1000u);
  const ShardIndex& index = set.index();
  EXPECT_EQ(index.tables[1].name, "b");
  EXPECT_EQ(index.tables[1].rows, 11u);
  EXPECT_EQ(index.sequences[0].table, 1u);
  EXPECT_EQ(index.sequence_length, 2u);
  EXPECT_EQ(index.labels[0].name, "y");
  EXPECT_EQ(index.schema, "s");
}

TEST_F(ReaderTest, ShuffledBatchesHoldEveryRowOnceForAnyNumberOfWorkers) {
  put_all();
  const ShardSet set = ShardSet::open(folder_.path(), "train").value();
  const auto read = [&](uint64_t seed, unsigned workers) {
    BatchStream stream(
        set, {.batch_rows = 64, .seed = seed, .shards_at_once = 2, .workers = workers, .ahead = 3});
    std::vector<uint64_t> ids;
    Batch batch;
    while (stream.next(batch)) {
      EXPECT_TRUE(batch.rows == 64 || ids.size() + batch.rows == 1000);
      for (uint64_t r = 0; r < batch.rows; ++r) {
        const uint64_t i = batch.id[r];
        EXPECT_EQ(batch.categorical[r], static_cast<int32_t>(i % 7));
        EXPECT_EQ(batch.categorical[batch.rows + r], static_cast<int32_t>(i % 11));
        EXPECT_EQ(batch.dense[r], static_cast<float>(i) / 2);
        EXPECT_EQ(batch.label[r], static_cast<float>(i % 2));
        const auto begin = static_cast<size_t>(batch.sequence_offsets[r]);
        const auto end = static_cast<size_t>(batch.sequence_offsets[r + 1]);
        EXPECT_EQ(end - begin, i % 3);
        for (size_t e = begin; e < end; ++e) {
          EXPECT_EQ(batch.sequence[e], static_cast<int32_t>(i));
          EXPECT_EQ(batch.sequence_age[e], static_cast<float>(e - begin));
        }
      }
      ids.insert(ids.end(), batch.id.begin(), batch.id.end());
    }
    return ids;
  };
  const std::vector<uint64_t> one = read(1, 1);
  EXPECT_EQ(std::set<uint64_t>(one.begin(), one.end()).size(), 1000u);
  EXPECT_EQ(one, read(1, 4));
  EXPECT_NE(one, read(2, 1));
  EXPECT_FALSE(std::is_sorted(one.begin(), one.end()));
}

TEST_F(ReaderTest, AsWrittenKeepsTheOrderAndAPassMayBeAbandoned) {
  put_all();
  const ShardSet set = ShardSet::open(folder_.path(), "train").value();
  BatchStream stream(set, {.batch_rows = 400, .order = RowOrder::AsWritten});
  Batch batch;
  ASSERT_TRUE(stream.next(batch));
  ASSERT_EQ(batch.rows, 400u);
  EXPECT_TRUE(std::is_sorted(batch.id.begin(), batch.id.end()));
  EXPECT_EQ(batch.id.back(), 399u);
}

TEST_F(ReaderTest, AShardCutShortOrReplacedIsRefused) {
  put_all();
  const std::string whole = read_file(folder_.file("two")).value();
  ASSERT_TRUE(write_file(folder_.file("two"), whole.substr(0, whole.size() - 1)).ok());
  const std::string text = refusal(ShardSet::open(folder_.path(), "train"));
  EXPECT_NE(text.find("/two"), std::string::npos) << text;
  EXPECT_NE(text.find("cut short"), std::string::npos) << text;
}

TEST_F(ReaderTest, AShardThatTheIndexDescribesWronglyIsRefused) {
  put_shard("one", 0, 300);
  put_shard("two", 300, 700);
  put_index(699);
  const std::string text = refusal(ShardSet::open(folder_.path(), "train"));
  EXPECT_NE(text.find("/two"), std::string::npos) << text;
  EXPECT_NE(text.find("not what the index says"), std::string::npos) << text;
}

TEST_F(ReaderTest, FoldersThatAreNoFinishedIngest) {
  EXPECT_NE(refusal(ShardSet::open(folder_.path(), "train")).find("no index"), std::string::npos);
  ASSERT_TRUE(write_file(folder_.file("index.json"), R"({"format":1,"categorical":3})").ok());
  EXPECT_NE(refusal(ShardSet::open(folder_.path(), "train")).find("index is damaged"),
            std::string::npos);
  put_all();
  const std::string text = refusal(ShardSet::open(folder_.path(), "valid"));
  EXPECT_NE(text.find("no split named valid"), std::string::npos) << text;
  EXPECT_NE(text.find("there are: train"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::lattice
