// SPDX-License-Identifier: Apache-2.0

// Bad input, one kind a test: each error names file, column and row. Rows are counted by hand.
#include "lattice/ingest/source.h"

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

const std::vector<Field> kFields = {
    {.name = "id", .type = FieldType::Id},
    {.name = "time", .type = FieldType::Time},
    {.name = "price", .type = FieldType::Real, .presence = Presence::Optional},
    {.name = "word", .type = FieldType::Text, .presence = Presence::Optional}};

class SourceTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("source").value();
  table::Database database_ = table::Database::open().value();
  std::string csv_ = folder_.file("t.csv");

  void write_csv(const std::string& text) { ASSERT_TRUE(write_file(csv_, text).ok()); }
  void write_parquet(const std::string& query) {
    ASSERT_TRUE(
        database_
            .execute("COPY (" + query + ") TO '" + folder_.file("t.parquet") + "' (FORMAT parquet)")
            .ok());
  }
  // Reads everything, as a step does, and gives the first row as text or the error.
  std::string read(const std::string& file, std::vector<Field> fields = kFields,
                   SourceFiles files = {}) {
    files.files = {file};
    Result<Source> source = Source::open(database_, "things", folder_.path(), files, fields);
    if (!source.ok()) return format(source.error());
    std::string text;
    bool bad = false;
    Result<table::Rows> rows = database_.query(source->select());
    if (!rows.ok()) return format(source->locate(rows.error()));
    table::Chunk chunk;
    for (;;) {
      const Result<bool> more = rows->next(chunk);
      if (!more.ok()) return format(source->locate(more.error()));
      if (!*more) break;
      for (size_t r = 0; r < chunk.size(); ++r) {
        bad = bad || chunk.is_null(0, r) || chunk.is_null(1, r) ||
              chunk.integers(1)[r] < Source::kEarliest ||
              (!chunk.is_null(2, r) && !(chunk.reals(2)[r] - chunk.reals(2)[r] == 0));
        if (text.empty() && !bad)
          text = std::to_string(chunk.unsigneds(0)[r]) + " " + std::to_string(chunk.integers(1)[r]);
      }
    }
    return bad ? format(source->locate(Error("nothing found"))) : text;
  }
  static testing::AssertionResult says(const std::string& text,
                                       std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      if (text.find(part) == std::string::npos)
        return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    return testing::AssertionSuccess();
  }
};

constexpr const char* kHeader = "id,time,price,word\n";
constexpr const char* kGood = "18446744073709551615,2025-01-01T00:00:00Z,1.5,a\n";

TEST_F(SourceTest, ReadsIdsOfAllBitsAndInstantsInUtc) {
  write_csv(std::string(kHeader) + kGood);
  EXPECT_EQ(read("t.csv"), "18446744073709551615 1735689600000000");
  write_csv(std::string(kHeader) + "1,2025-01-01T02:00:00+02:00,,\n");
  EXPECT_EQ(read("t.csv"), "1 1735689600000000");
  write_parquet(
      "SELECT 1::UBIGINT AS id, TIMESTAMPTZ '2025-01-01 02:00:00+02' AS time, 1.0 AS price, 'a' AS "
      "word");
  EXPECT_EQ(read("t.parquet"), "1 1735689600000000");
}

TEST_F(SourceTest, MissingAndDoubledColumns) {
  write_csv("id,tme,price,word\n" + std::string(kGood));
  EXPECT_TRUE(says(read("t.csv"), {"t.csv", "no column \"time\"", "did you mean tme"}));
  write_csv("id,time,price,id\n" + std::string(kGood));
  EXPECT_TRUE(says(read("t.csv"), {"t.csv", "column \"id\" is there twice"}));
}

TEST_F(SourceTest, NoFileAndEmptyFile) {
  EXPECT_TRUE(says(read("absent/*.parquet"), {"absent/*.parquet", "no file of the table things"}));
  write_csv("");
  EXPECT_TRUE(says(read("t.csv"), {"t.csv", "empty"}));
}

TEST_F(SourceTest, IdsThatAreNegativeTooLargeOrNoNumbers) {
  for (const char* bad : {"-5", "18446744073709551616", "12x", "1e400"}) {
    write_csv(std::string(kHeader) + kGood + bad + ",2025-01-01T00:00:00Z,1,a\n");
    EXPECT_TRUE(says(read("t.csv"), {"t.csv", "column \"id\", row 2", "not an id", bad})) << bad;
  }
  write_parquet("SELECT -7 AS id, TIMESTAMP '2025-01-01' AS time, 1.0 AS price, 'a' AS word");
  EXPECT_TRUE(says(read("t.parquet"), {"t.parquet", "column \"id\", row 1", "-7"}));
  write_parquet("SELECT 'x' AS id, 5 AS time, 1.0 AS price, 'a' AS word");
  EXPECT_TRUE(says(read("t.parquet"), {"t.parquet", "\"time\" holds INTEGER", "unit"}));
}

TEST_F(SourceTest, MissingValuesWhereOneIsNeeded) {
  write_csv(std::string(kHeader) + kGood + ",2025-01-01T00:00:00Z,1,a\n");
  EXPECT_TRUE(says(read("t.csv"), {"column \"id\", row 2", "missing"}));
}

TEST_F(SourceTest, DatesOfNineteenSeventyAreAWrongUnit) {
  std::vector<Field> fields = kFields;
  fields[1].unit = TimeUnit::Milliseconds;
  write_csv(std::string(kHeader) + "1,1735689600000,1,a\n2,1735689600,1,a\n");
  EXPECT_TRUE(
      says(read("t.csv", fields), {"column \"time\", row 2", "outside 2000 to 2100", "unit"}));
  fields[1].unit = TimeUnit::Seconds;
  write_csv(std::string(kHeader) + "1,1735689600,1,a\n");
  EXPECT_EQ(read("t.csv", fields), "1 1735689600000000");
}

TEST_F(SourceTest, TimesWithoutAZoneAreRefusedUnlessDeclared) {
  write_csv(std::string(kHeader) + kGood + "1,2025-01-01 00:00:00,1,a\n");
  EXPECT_TRUE(says(read("t.csv"), {"column \"time\", row 2", "not an instant", "zone"}));
  std::vector<Field> fields = kFields;
  fields[1].assume_utc = true;
  write_csv(std::string(kHeader) + "1,2025-01-01 00:00:00,1,a\n");
  EXPECT_EQ(read("t.csv", fields), "1 1735689600000000");
}

TEST_F(SourceTest, NotANumberAndInfinities) {
  for (const char* bad : {"nan", "inf", "-inf", "abc"}) {
    write_csv(std::string(kHeader) + kGood + kGood + "1,2025-01-01T00:00:00Z," + bad + ",a\n");
    EXPECT_TRUE(says(read("t.csv"), {"column \"price\", row 3", "not a finite number", bad}))
        << bad;
  }
  write_parquet(
      "SELECT 1 AS id, TIMESTAMP '2025-01-01' AS time, CASE WHEN i = 4999 THEN 'nan'::DOUBLE ELSE "
      "1 END AS price, "
      "'a' AS word FROM range(6000) t(i)");
  EXPECT_TRUE(says(read("t.parquet"), {"column \"price\", row 5000", "nan"}));
}

TEST_F(SourceTest, WrongTypes) {
  write_parquet(
      "SELECT 1.5::DOUBLE AS id, TIMESTAMP '2025-01-01' AS time, 1.0 AS price, 'a' AS word");
  EXPECT_TRUE(says(read("t.parquet"), {"\"id\" holds DOUBLE", "no id"}));
  write_parquet("SELECT 1 AS id, TIMESTAMP '2025-01-01' AS time, [1.0] AS price, 'a' AS word");
  EXPECT_TRUE(says(read("t.parquet"), {"\"price\" holds LIST"}));
}

TEST_F(SourceTest, FilesWithoutAHeaderAndWithTheirOwnMissingValue) {
  write_csv("skipped\n7, 2025-01-01T00:00:00Z, ?, x\n");
  EXPECT_EQ(read("t.csv", kFields,
                 {.delimiter = ", ",
                  .null_text = "?",
                  .names = {"id", "time", "price", "word"},
                  .skip = 1}),
            "7 1735689600000000");
}

TEST_F(SourceTest, AFileThatIsCutShort) {
  write_parquet(
      "SELECT 1 AS id, TIMESTAMP '2025-01-01' AS time, 1.0 AS price, 'a' AS word FROM range(1000)");
  const std::string whole = read_file(folder_.file("t.parquet")).value();
  ASSERT_TRUE(write_file(folder_.file("t.parquet"), whole.substr(0, whole.size() - 20)).ok());
  EXPECT_TRUE(says(read("t.parquet"), {"t.parquet", "cannot read the file"}));
}

}  // namespace
}  // namespace weft::lattice
