// SPDX-License-Identifier: Apache-2.0

// Whole logs through files. Expected labels come from an SQL query written apart from the zipper,
// by the definition of the rules, on a log with ties, duplicates, refunds and late reports.
#include "lattice/consolidation/zip.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/table/database.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

// 4000 impressions over ten days of 150 users and 20 items, so that keys repeat; times collide on
// purpose (whole minutes).
constexpr const char* kShown =
    "SELECT (i + 1)::UBIGINT AS impression_id, TIMESTAMP '2025-01-01' + to_minutes((i * 7919 % "
    "14400)::INT) AS event_time, "
    "(hash(i) % 150)::UBIGINT AS user_id, (hash(i + 77) % 20)::UBIGINT AS item_id FROM range(4000) "
    "t(i)";
// Each third impression is followed by a report of its key; some twice, some taken back.
constexpr const char* kReports =
    "WITH c AS (SELECT (100000 + impression_id)::UBIGINT AS event_id, user_id, item_id, "
    "CASE WHEN impression_id % 2 = 0 THEN 'buy' ELSE 'click' END AS objective, "
    "event_time + to_seconds((hash(impression_id) % 300000)::INT) AS t, impression_id AS i FROM "
    "shown WHERE impression_id % 3 = 0) "
    "SELECT event_id, user_id, item_id, objective, t AS event_time, t + to_seconds((i % 90 * "
    "1000)::INT) "
    "AS arrival_time, NULL::UBIGINT AS refund_of FROM c "
    "UNION ALL SELECT event_id, user_id, item_id, objective, t, t + to_seconds(2000), NULL FROM c "
    "WHERE i % 5 = 0 "
    "UNION ALL SELECT event_id + 900000, user_id, item_id, objective, t + to_seconds(3600), t + "
    "to_seconds(3600), event_id FROM c WHERE i % 7 = 0";

class ZipTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("zip").value();
  table::Database database_ = table::Database::open().value();

  void SetUp() override {
    run("CREATE TABLE shown AS " + std::string(kShown));
    run("CREATE TABLE reports AS " + std::string(kReports));
    write();
  }
  void run(const std::string& sql) {
    const auto done = database_.execute(sql);
    ASSERT_TRUE(done.ok()) << format(done.error());
  }
  void write(const std::string& order = "event_time, impression_id") {
    run("COPY (SELECT * FROM shown ORDER BY " + order + ") TO '" + folder_.file("shown.parquet") +
        "' (FORMAT parquet)");
    run("COPY reports TO '" + folder_.file("reports.parquet") + "' (FORMAT parquet)");
  }
  ZipConfiguration configuration() {
    ZipConfiguration zip;
    zip.base = folder_.path();
    zip.impressions.files = {"shown.parquet"};
    zip.feedback.files = {"reports.parquet"};
    zip.key = {"user_id", "item_id"};
    zip.windows = {5400, 86400, 259200};
    zip.shares = {0.4, 0.3, 0.3};
    zip.objectives = {{"click", 5400}, {"buy", 0}};
    zip.part_rows = 700;
    return zip;
  }
  Result<Json> work(const ZipConfiguration& zip, const std::string& name, unsigned workers = 2) {
    RunFolder folder =
        TRY(RunFolder::open(folder_.file(name), {.verb = "zip", .configuration = to_json(zip)}));
    return weft::lattice::zip(zip, folder, {.workers = workers});
  }
  std::string digests(const std::string& name) {
    std::string text;
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file(name)))
      if (entry.path().extension() == ".parquet") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths)
      text += path.substr(folder_.file(name).size()) + " " + sha256(read_file(path).value()) + "\n";
    return text;
  }
};

TEST_F(ZipTest, AgreesWithSqlByTheDefinition) {
  const Json summary = work(configuration(), "out").value();
  const std::string zipped =
      fmt::format("read_parquet('{}/*.parquet')", folder_.file("out/zipped"));
  // The window is the zipper's choice; everything else is derived again here.
  run(fmt::format(
      "CREATE TABLE expected AS WITH "
      "z AS (SELECT impression_id, \"window\" AS w, event_time AS shown_time, emit_time FROM {}), "
      "once AS (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY event_id ORDER BY "
      "arrival_time) AS n FROM reports) "
      "  WHERE n = 1 AND refund_of IS NULL), "
      "refunds AS (SELECT refund_of AS event_id, min(arrival_time) AS refund_time FROM reports "
      "WHERE refund_of IS NOT NULL GROUP BY 1), "
      "touched AS (SELECT o.*, s.impression_id, s.event_time AS shown_time, row_number() OVER "
      "(PARTITION BY o.event_id "
      "  ORDER BY s.event_time DESC, s.impression_id DESC) AS touch FROM once o JOIN shown s USING "
      "(user_id, item_id) "
      "  WHERE s.event_time <= o.event_time AND epoch(o.event_time) - epoch(s.event_time) <= CASE "
      "WHEN o.objective = 'click' THEN 5400 ELSE 259200 END), "
      "credit AS (SELECT t.* FROM touched t JOIN z USING (impression_id) LEFT JOIN refunds r USING "
      "(event_id) WHERE touch = 1 "
      "  AND epoch(t.event_time) - epoch(t.shown_time) <= CASE WHEN t.objective = 'click' THEN "
      "5400 "
      "WHEN w = 0 THEN 5400 WHEN w = 1 THEN 86400 ELSE 259200 END "
      "  AND t.arrival_time <= z.emit_time AND (refund_time IS NULL OR refund_time > z.emit_time)) "
      "SELECT z.impression_id, count(c.event_id) FILTER (objective = 'click') AS clicks, "
      "count(c.event_id) FILTER (objective = 'buy') AS buys "
      "FROM z LEFT JOIN credit c USING (impression_id) GROUP BY 1",
      zipped));
  const auto counts =
      database_
          .counts(fmt::format("SELECT count(*), count(*) FILTER (click_count <> clicks OR "
                              "buy_count <> buys), sum(clicks), sum(buys), "
                              "count(*) FILTER (click <> (clicks > 0)::INT OR buy <> (buys > "
                              "0)::INT) FROM {} JOIN expected USING (impression_id)",
                              zipped))
          .value();
  EXPECT_EQ(counts[0], summary["mature"].get<int64_t>());
  EXPECT_EQ(counts[1], 0);
  EXPECT_GT(counts[2], 0);
  EXPECT_GT(counts[3], 30);
  EXPECT_EQ(counts[4], 0);
  EXPECT_GT(summary["refunded"].get<int>(), 5);
  EXPECT_GT(summary["late"].get<int>(), 0);
  EXPECT_GT(summary["duplicates"].get<int>(), 100);
}

TEST_F(ZipTest, EveryImpressionIsThereExactlyOnceAndInOrder) {
  ZipConfiguration zip = configuration();
  zip.as_of = "2025-01-10";
  const Json summary = work(zip, "out").value();
  EXPECT_GT(summary["pending"].get<int>(), 100);
  const std::string all = fmt::format("read_parquet(['{}/*.parquet', '{}/*.parquet'])",
                                      folder_.file("out/zipped"), folder_.file("out/pending"));
  EXPECT_EQ(database_.counts("SELECT count(*), count(DISTINCT impression_id) FROM " + all).value(),
            (std::vector<int64_t>{4000, 4000}));
  // Immature labels are null, mature ones never.
  EXPECT_EQ(database_
                .counts(fmt::format("SELECT count(buy) + count(click) + count(buy_count), count(*) "
                                    "FILTER (emit_time <= TIMESTAMP '2025-01-10') "
                                    "FROM read_parquet('{}/*.parquet')",
                                    folder_.file("out/pending")))
                .value(),
            (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(database_
                .counts(fmt::format(
                    "SELECT count(*) FILTER (emit_time > TIMESTAMP '2025-01-10' OR buy IS NULL), "
                    "count(*) FILTER (before > (emit_time, impression_id)) FROM (SELECT *, "
                    "lag((emit_time, impression_id)) OVER "
                    "(ORDER BY filename, file_row_number) AS before FROM "
                    "read_parquet('{}/*.parquet', filename = true, file_row_number = true))",
                    folder_.file("out/zipped")))
                .value(),
            (std::vector<int64_t>{0, 0}));
}

TEST_F(ZipTest, TheBytesDoNotDependOnWorkersOrOnTheOrderOfTheLog) {
  ASSERT_TRUE(work(configuration(), "one", 1).ok());
  ASSERT_TRUE(work(configuration(), "four", 4).ok());
  write("hash(impression_id)");
  ASSERT_TRUE(work(configuration(), "shuffled", 2).ok());
  EXPECT_EQ(digests("one"), digests("four"));
  EXPECT_EQ(digests("one"), digests("shuffled"));
  EXPECT_NE(digests("one"), "");
}

TEST_F(ZipTest, KeysOfTextsAndOfNumbersMeet) {
  const Json before = work(configuration(), "numbers").value();
  run("ALTER TABLE shown ALTER user_id TYPE VARCHAR");
  write();
  const Json after = work(configuration(), "texts").value();
  EXPECT_EQ(before["without_impression"], after["without_impression"]);
}

TEST_F(ZipTest, AnImpressionTwiceIsRefused) {
  run("INSERT INTO shown SELECT impression_id, event_time + INTERVAL 1 DAY, user_id + 1, item_id "
      "FROM shown WHERE impression_id = 17");
  write();
  const auto refused = work(configuration(), "out");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(format(refused.error()).find("twice: 17"), std::string::npos)
      << format(refused.error());
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out/manifest.json")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out/scratch.draft")));
}

TEST_F(ZipTest, BadValuesAreNamedByFileColumnAndRow) {
  run("UPDATE reports SET arrival_time = TIMESTAMP '1970-01-20' WHERE event_id = (SELECT event_id "
      "FROM reports LIMIT 1 OFFSET 4)");
  write();
  const std::string text = format(work(configuration(), "out").error());
  EXPECT_NE(text.find("reports.parquet"), std::string::npos) << text;
  EXPECT_NE(text.find("column \"arrival_time\", row 5"), std::string::npos) << text;
}

TEST(ZipConfigurationTest, RefusesWhatHasNoMeaning) {
  const auto read = [](const std::string& text) {
    const YamlDocument document = parse_yaml(text, "z.yaml").value();
    const auto zip = read_zip(document, document.root, "");
    return zip.ok() ? std::string() : format(zip.error());
  };
  const std::string objectives = "objectives: {buy: {}}\n";
  EXPECT_EQ(read(objectives), "");
  EXPECT_NE(read(objectives + "windows: [1d, 90m]\n").find("does not ascend"), std::string::npos);
  EXPECT_NE(read(objectives + "shares: [0.5, 0.2, 0.2]\n").find("sum to 0.9"), std::string::npos);
  EXPECT_NE(read("objectives: {click: {window: 2h}}\n").find("longer than the shortest"),
            std::string::npos);
  EXPECT_NE(read(objectives + "touch: latest\n").find("did you mean last"), std::string::npos);
  EXPECT_NE(read("touch: last\n").find("objectives of zip"), std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
