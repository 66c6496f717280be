// SPDX-License-Identifier: Apache-2.0

// Expected values are what SQL and the Parquet format define, worked out by hand.
#include <fstream>

#include <gtest/gtest.h>

#include "base/table/database.h"
#include "base/table/sql_text.h"
#include "base/table/writer.h"
#include "base/temporary_directory.h"

namespace weft::table {
namespace {

TEST(Database, WidensEveryColumnToOurTypes) {
  Database database = Database::open().value();
  Rows rows = database
                  .query(
                      "SELECT (-5)::TINYINT, 18446744073709551615::UBIGINT, 1.5::FLOAT, 'short', "
                      "'a text that is longer than twelve bytes', TIMESTAMP '2025-01-01 00:00:01', "
                      "true, NULL::BIGINT")
                  .value();
  Chunk chunk;
  ASSERT_TRUE(rows.next(chunk).value());
  ASSERT_EQ(chunk.size(), 1u);
  EXPECT_EQ(chunk.integers(0)[0], -5);
  EXPECT_EQ(chunk.unsigneds(1)[0], ~uint64_t{0});
  EXPECT_EQ(chunk.reals(2)[0], 1.5);
  EXPECT_EQ(chunk.text(3, 0), "short");
  EXPECT_EQ(chunk.text(4, 0), "a text that is longer than twelve bytes");
  EXPECT_EQ(chunk.integers(5)[0], 1735689601000000);  // 20,089 days and a second
  EXPECT_EQ(chunk.integers(6)[0], 1);
  EXPECT_TRUE(chunk.is_null(7, 0));
  EXPECT_FALSE(chunk.is_null(0, 0));
  EXPECT_FALSE(rows.next(chunk).value());
}

TEST(Database, StreamsMoreRowsThanAChunkHoldsInOrder) {
  Database database = Database::open({.threads = 2}).value();
  Rows rows = database.query("SELECT i FROM range(100000) t(i)").value();
  Chunk chunk;
  int64_t expected = 0;
  while (rows.next(chunk).value())
    for (const int64_t value : chunk.integers(0)) ASSERT_EQ(value, expected++);
  EXPECT_EQ(expected, 100000);
}

TEST(Database, PassesOnWhatDuckDbSays) {
  Database database = Database::open().value();
  const auto rows = database.query("SELECT missing FROM range(3)");
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message().find("missing"), std::string::npos);
  // This one fails only while it runs.
  auto late = database.query("SELECT CAST(t AS INTEGER) FROM (VALUES ('1'), ('x')) v(t)");
  if (late.ok()) {
    Chunk chunk;
    EXPECT_FALSE(late->next(chunk).ok());
  }
}

TEST(SqlText, QuotesCannotBeEnded) {
  Database database = Database::open().value();
  EXPECT_EQ(
      database.row("SELECT " + quoted_text("it's; --") + " AS " + quoted_name("a\"b"))->front(),
      "it's; --");
}

TEST(Writer, RoundTripsThroughParquet) {
  const TemporaryDirectory folder = TemporaryDirectory::create("table").value();
  Database database = Database::open().value();
  constexpr size_t kRows = 5000;
  std::vector<uint64_t> ids(kRows);
  std::vector<int64_t> times(kRows);
  std::vector<float> values(kRows);
  std::vector<uint8_t> valid(kRows), flags(kRows);
  std::vector<std::string_view> texts(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    ids[i] = ~uint64_t{0} - i;
    times[i] = 1735689600000000 + static_cast<int64_t>(i);
    values[i] = static_cast<float>(i) / 2;
    valid[i] = i % 3 != 0;
    flags[i] = i % 2;
    texts[i] = i % 2 == 0 ? "even" : "an odd text of more than twelve bytes";
  }
  Writer writer = Writer::create(database, "t",
                                 {{"id", "UBIGINT"},
                                  {"time", "TIMESTAMP"},
                                  {"value", "FLOAT"},
                                  {"flag", "UTINYINT"},
                                  {"text", "VARCHAR"}})
                      .value();
  const ColumnValues columns[] = {{.unsigneds = ids},
                                  {.integers = times},
                                  {.reals = values, .valid = valid},
                                  {.bytes = flags},
                                  {.texts = texts}};
  ASSERT_TRUE(writer.append(columns).ok());
  ASSERT_TRUE(writer.finish().ok());
  const std::string path = folder.file("t.parquet");
  ASSERT_TRUE(copy_to_parquet(database, "SELECT * FROM t", path).ok());
  Rows rows = database.query("SELECT * FROM read_parquet(" + quoted_text(path) + ")").value();
  EXPECT_EQ(rows.columns()[1].type, ColumnType::Timestamp);
  Chunk chunk;
  size_t at = 0;
  while (rows.next(chunk).value())
    for (size_t i = 0; i < chunk.size(); ++i, ++at) {
      ASSERT_EQ(chunk.unsigneds(0)[i], ids[at]);
      ASSERT_EQ(chunk.integers(1)[i], times[at]);
      ASSERT_EQ(chunk.is_null(2, i), valid[at] == 0);
      if (valid[at] != 0) {
        ASSERT_EQ(chunk.reals(2)[i], values[at]);
      }
      ASSERT_EQ(chunk.unsigneds(3)[i], flags[at]);
      ASSERT_EQ(chunk.text(4, i), texts[at]);
    }
  EXPECT_EQ(at, kRows);
}

TEST(Writer, LeavesNothingWhereTheFileCannotBe) {
  const TemporaryDirectory folder = TemporaryDirectory::create("table").value();
  Database database = Database::open().value();
  const auto written = copy_to_parquet(database, "SELECT 1", folder.file("no_folder/t.parquet"));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().diagnostics.front().file, folder.file("no_folder/t.parquet"));
}

}  // namespace
}  // namespace weft::table
