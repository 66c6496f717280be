// SPDX-License-Identifier: Apache-2.0

// A log whose overlaps, rates and delays are known by construction.
#include "lattice/consolidation/partition.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/table/database.h"
#include "base/temporary_directory.h"

namespace weft::lattice {
namespace {

class PartitionTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("partition").value();
  table::Database database_ = table::Database::open().value();

  void SetUp() override {
    // Users of a: 0-899, b: 600-1499 (300 of 1500 shared), c: 0-99. Labels of a and b depend on x
    // in opposite ways. 'buy' follows after an hour; one conversion in a is reported twice.
    run("CREATE TABLE shown AS SELECT (i + 1)::UBIGINT AS impression_id, ['a', 'b', 'c'][1 + i % "
        "3] AS domain, "
        "(CASE i % 3 WHEN 0 THEN i // 3 % 900 WHEN 1 THEN 600 + i // 3 % 900 ELSE i // 3 % 100 "
        "END)::UBIGINT AS user_id, "
        "(i // 3 % 50)::UBIGINT AS item_id, TIMESTAMP '2025-01-01' + to_seconds((i * 10)::INT) AS "
        "event_time, "
        "sin(i * 12.9898)::DOUBLE AS x FROM range(30000) t(i)");
    run("CREATE TABLE reports AS SELECT (impression_id + 50000)::UBIGINT AS event_id, "
        "impression_id, 'buy' AS objective, "
        "event_time + INTERVAL 1 HOUR AS event_time, NULL::UBIGINT AS refund_of FROM shown WHERE "
        "(domain <> 'b' AND x > 0.8) OR (domain = 'b' AND x < -0.8)");
    run("INSERT INTO reports SELECT * FROM reports LIMIT 1");
    run("COPY shown TO '" + folder_.file("shown.parquet") + "' (FORMAT parquet)");
    run("COPY reports TO '" + folder_.file("reports.parquet") + "' (FORMAT parquet)");
  }
  void run(const std::string& sql) {
    const auto done = database_.execute(sql);
    ASSERT_TRUE(done.ok()) << format(done.error());
  }
  Result<Json> work(const std::string& extra = "") {
    const YamlDocument document = TRY(parse_yaml(
        "impressions: shown.parquet\nfeedback: reports.parquet\nobjectives: buy\nprobe: x\n" +
            extra,
        "p.yaml"));
    const PartitionConfiguration c = TRY(read_partition(document, document.root, folder_.path()));
    RunFolder run = TRY(
        RunFolder::open(folder_.file("out"), {.verb = "partition", .configuration = to_json(c)}));
    return partition(c, run);
  }
};

TEST_F(PartitionTest, MeasuresWhatIsThere) {
  const Json report = work().value();
  EXPECT_EQ(report["domains"][0]["users"], 900.0);
  EXPECT_EQ(report["domains"][0]["impressions"], 10000);
  const int64_t distinct = database_
                               .counts(
                                   "SELECT count(DISTINCT event_id) FROM reports JOIN shown USING "
                                   "(impression_id) WHERE domain = 'a'")
                               .value()[0];
  EXPECT_EQ(report["portfolios"][0]["conversions"], distinct);
  EXPECT_EQ(report["portfolios"][0]["median_delay_seconds"], 3600.0);
  const Json& ab = report["pairs"][0];
  EXPECT_NEAR(ab["user_jaccard"].get<double>(), 300.0 / 1500, 1e-9);
  EXPECT_NEAR(ab["user_containment"].get<double>(), 300.0 / 900, 1e-9);
  EXPECT_NEAR(ab["gradient_cosine"].get<double>(), -1, 0.05);
  const Json& ac = report["pairs"][1];
  EXPECT_NEAR(ac["user_containment"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(ac["gradient_cosine"].get<double>(), 1, 0.05);
}

TEST_F(PartitionTest, GroupsWithMasksAndReasons) {
  const Json report = work().value();
  ASSERT_EQ(report["groups"].size(), 2u);
  EXPECT_EQ(report["groups"][0]["portfolios"], (Json{"a/buy", "c/buy"}));
  EXPECT_EQ(report["groups"][0]["task_masks"]["c"], Json::array({"buy"}));
  EXPECT_EQ(report["decisions"].size(), 2u);
}

TEST_F(PartitionTest, RefusesPortfoliosThatAreNotInTheLog) {
  const auto refused = work("portfolios: {a/bye: {revenue: 2}}\n");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(format(refused.error()).find("did you mean a/buy"), std::string::npos)
      << format(refused.error());
}

}  // namespace
}  // namespace weft::lattice
