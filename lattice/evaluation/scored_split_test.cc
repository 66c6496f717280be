// SPDX-License-Identifier: Apache-2.0

// Splits written by hand: which rows and which head each slice takes.
#include "lattice/evaluation/scored_split.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/temporary_directory.h"

namespace weft::lattice {
namespace {

// "click" has one head; "buy" has two windows. Two domains.
ShardIndex schema() {
  ShardIndex index;
  index.labels = {{"click", false}, {"buy", true}};
  index.domains = {"feed", "search"};
  index.windows = {3600, 86400};
  return index;
}

ScoredSplit split() {
  ScoredSplit made;
  made.rows = 3;
  made.tasks = 2;
  made.windows = 2;
  // Of each row: click, unused, buy under the short and under the long window.
  made.logits = {1, 9, 2, 3, 4, 9, 5, 6, 7, 9, 8, 10};
  made.label = {1, 0, 0, 1, 1, 1};
  made.known = {1, 1, 1, 1, 1, 0};
  made.window = {0, 1, 1};
  made.domain = {0, 1, 1};
  return made;
}

TEST(ScoredSplit, SlicesTakeTheirRowsAndTheirHead) {
  const ScoredSplit made = split();
  const std::vector<SliceKey> keys = slices(schema());
  // click: all, feed, search; buy: the same, twice.
  EXPECT_EQ(keys.size(), 9u);
  const auto rows = [&](size_t task, int32_t domain, size_t window) {
    return quality_of(made, {task, domain, window}, schema(), std::nullopt);
  };
  EXPECT_EQ(rows(0, -1, 0).rows(), 3u);
  EXPECT_EQ(rows(0, 1, 0).rows(), 2u);
  EXPECT_EQ(rows(1, -1, 0).rows(), 1u);
  const Quality longest = rows(1, -1, 1);  // row 1 only: row 2 is unknown
  EXPECT_EQ(longest.rows(), 1u);
  EXPECT_EQ(longest.positives(), 1);
  // The head of the long window says 6: -ln sigmoid(6).
  EXPECT_NEAR(*longest.measure()[0].value, std::log1p(std::exp(-6.0)), 1e-9);
}

TEST(ScoredSplit, ReportNamesWhatIsServed) {
  const Json lines = report(split(), schema(), {.draws = 20}, nullptr);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0]["task"], "click");
  EXPECT_TRUE(lines[0]["domain"].is_null());
  EXPECT_TRUE(lines[0]["served"]);
  EXPECT_EQ(lines[3]["window_seconds"], 3600);
  EXPECT_FALSE(lines[3]["served"]);
  EXPECT_TRUE(lines[4]["served"]);
  EXPECT_EQ(lines[4]["ne_background"], "slice");
}

TEST(ScoredSplit, ComesBackAsItWasWritten) {
  const TemporaryDirectory folder = TemporaryDirectory::create("split").value();
  const ScoredSplit made = split();
  ASSERT_TRUE(made.write(folder.file("s")).ok());
  const ScoredSplit again = ScoredSplit::read(folder.file("s")).value();
  EXPECT_EQ(again.logits, made.logits);
  EXPECT_EQ(again.label, made.label);
  EXPECT_EQ(again.known, made.known);
  EXPECT_EQ(again.window, made.window);
  EXPECT_EQ(again.domain, made.domain);
  EXPECT_EQ(again.rows, 3u);
  EXPECT_EQ(again.windows, 2u);
}

}  // namespace
}  // namespace weft::lattice
