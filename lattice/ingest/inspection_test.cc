// SPDX-License-Identifier: Apache-2.0

// Small tables whose ranges, overlaps and leaks are counted by hand.
#include "lattice/ingest/inspection.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::lattice {
namespace {

class InspectionTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = TemporaryDirectory::create("inspection").value();

  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_.file(name), text).ok());
  }
  Result<Json> look(const std::string& yaml) {
    const YamlDocument document = TRY(parse_yaml(yaml, "d.yaml"));
    return inspect(TRY(read_data(document, document.root, folder_.path())));
  }
  static int64_t count_of(const Json& report, const std::string& check) {
    for (const Json& line : report["audit"])
      if (line["check"] == check) return line["count"];
    return -1;
  }
};

constexpr const char* kInspected =
    "table: {files: train.csv}\ntest: {files: test.csv}\nid: id\ndomain: place\n"
    "categorical: {user: {}}\ndense: {x: {}}\nlabels: {y: {}}\n";

TEST_F(InspectionTest, RangesRatesAndOverlapsByHand) {
  // Users of a: 1 2 3; of b: 2 3 4 5 6 7. Shared 2 of 7, which is 2 of the smaller's 3.
  put("train.csv",
      "id,place,user,x,y\n1,a,1,5,1\n2,a,2,,0\n3,a,3,-1,0\n4,b,2,2,1\n5,b,3,2,\n6,b,4,2,1\n"
      "7,b,5,2,0\n8,b,6,2,0\n9,b,7,2,0\n");
  put("test.csv", "id,place,user,x,y\n20,a,1,5,1\n");
  const Json report = look(kInspected).value();
  const Json& train = report["tables"][0];
  EXPECT_EQ(train["rows"], 9);
  const Json& x = train["columns"][3];
  EXPECT_EQ(x["name"], "x");
  EXPECT_EQ(x["missing"], 1);
  EXPECT_EQ(x["least"], "-1.0");
  EXPECT_EQ(x["most"], "5.0");
  EXPECT_EQ(train["labels"][1]["domain"], "b");
  EXPECT_EQ(train["labels"][1]["known"], 5);
  EXPECT_NEAR(train["labels"][1]["rate"].get<double>(), 0.4, 1e-12);
  const Json& overlap = train["overlaps"][0];
  EXPECT_EQ(overlap["column"], "user");
  EXPECT_NEAR(overlap["jaccard"].get<double>(), 2.0 / 7, 1e-12);
  EXPECT_NEAR(overlap["containment"].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_EQ(count_of(report, "ids that are in train twice"), 0);
  EXPECT_EQ(count_of(report, "rows of test that are in train as they are"), 0);
}

TEST_F(InspectionTest, LeaksAreCounted) {
  put("train.csv", "id,place,user,x,y\n1,a,1,5,1\n1,a,2,1,0\n3,a,3,-1,0\n");
  put("test.csv", "id,place,user,x,y\n1,a,1,5,1\n4,a,1,5,1\n");
  const Json report = look(kInspected).value();
  EXPECT_EQ(count_of(report, "ids that are in train twice"), 1);
  EXPECT_EQ(count_of(report, "rows of test that are in train as they are"), 1);
  for (const Json& line : report["audit"])
    EXPECT_EQ(line["passed"], line["count"] == 0) << line["check"];
}

TEST_F(InspectionTest, WithoutIdsEqualRowsAreCountedHoweverLabelsAreSpelt) {
  put("train.csv", "user,y\n1,yes\n1,yes\n2,no\n");
  put("test.csv", "user,y\n1,yes.\n2,yes.\n");
  const Json report = look(
                          "table: {files: train.csv}\ntest: {files: test.csv}\ncategorical: "
                          "{user: {}}\nlabels: {y: {positive: [yes, yes.]}}\n")
                          .value();
  const Json& line = report["audit"][0];
  EXPECT_EQ(line["count"], 1);
  EXPECT_TRUE(line["passed"].get<bool>());
}

TEST_F(InspectionTest, EventsKnownBeforeTheyHappened) {
  put("train.csv", "id,time,user,item,y\n1,2025-01-01T00:00:00Z,1,a,1\n");
  put("events.csv",
      "event_id,user,item,event_time,arrival_time\n"
      "1,1,a,2025-01-01T00:00:00Z,2025-01-01T00:00:05Z\n"
      "2,1,a,2025-01-01T00:00:00Z,2024-12-31T23:59:59Z\n"
      "3,1,a,2025-01-01T00:00:00Z,2025-01-01T02:00:00Z\n");
  const Json report = look(
                          "table: {files: train.csv}\nid: id\ntime: time\ncategorical: {user: {}, "
                          "item: {}}\nlabels: {y: {}}\nsequence: {table: {files: events.csv}, "
                          "user: user, columns: {item: item}}\n")
                          .value();
  EXPECT_EQ(count_of(report, "events that arrived before they happened"), 1);
  EXPECT_EQ(report["tables"].back()["arrived_an_hour_late"], 1);
}

}  // namespace
}  // namespace weft::lattice
