// SPDX-License-Identifier: Apache-2.0

// Every rule by a few rows whose labels are worked out by hand. Times are seconds, one window of
// 100 s and one of 1000 s unless a test says otherwise.
#include "lattice/consolidation/zip_rules.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace weft::lattice {
namespace {

constexpr int64_t kSecond = 1'000'000;

struct Case {
  ZipRules rules = {
      .windows = {100 * kSecond, 1000 * kSecond},
      .thresholds = {0},  // everything in the longer window
      .objectives = {{.name = "buy"}, {.name = "click", .fixed_window = 10 * kSecond}},
      .as_of = 1'000'000 * kSecond};
  std::vector<ShownRow> shown;
  std::vector<ReportRow> reports;
  ZipCounts counts;

  Case& show(uint64_t id, int64_t second, uint64_t key = 1) {
    shown.push_back({key, id, second * kSecond});
    return *this;
  }
  Case& report(uint64_t event, int64_t second, int64_t arrival = -1, uint64_t objective = 0,
               uint64_t key = 1) {
    reports.push_back(
        {key, event, 0, second * kSecond, (arrival < 0 ? second : arrival) * kSecond, objective});
    return *this;
  }
  Case& refund(uint64_t event, uint64_t of, int64_t second) {
    reports.push_back({1, event, of, second * kSecond, second * kSecond, 0});
    return *this;
  }
  // Conversions by impression.
  std::map<uint64_t, int> buys(size_t objective = 0) {
    std::map<uint64_t, int> result;
    counts = {};
    for (const ZippedRow& row : zip_bucket(rules, shown, reports, counts))
      result[row.id] = row.conversions[objective];
    return result;
  }
};

using Labels = std::map<uint64_t, int>;

TEST(Zip, TheLastTouchGetsTheCredit) {
  Case c;
  c.show(1, 0).show(2, 50).show(3, 200).report(9, 100);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 1}, {3, 0}}));
}

TEST(Zip, TheFirstTouchInsideTheWindowNotTheFirstEver) {
  Case c;
  c.rules.touch = Touch::First;
  c.show(1, 0).show(2, 500).show(3, 900).report(9, 1200);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 1}, {3, 0}}));
}

TEST(Zip, AllTouches) {
  Case c;
  c.rules.touch = Touch::All;
  c.show(1, 0).show(2, 500).show(3, 900).show(4, 1300).report(9, 1200);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 1}, {3, 1}, {4, 0}}));
  EXPECT_EQ(c.counts.credited, 1u);
}

TEST(Zip, TheEndOfTheWindowIsInOrOutAsNamed) {
  Case c;
  c.show(1, 0).report(9, 1000);
  EXPECT_EQ(c.buys()[1], 1);
  c.rules.window_end = WindowEnd::Exclusive;
  EXPECT_EQ(c.buys()[1], 0);
  EXPECT_EQ(c.counts.without_impression, 1u);
  c.rules.window_end = WindowEnd::Inclusive;
  c.reports[0].time += 1;  // a microsecond later
  EXPECT_EQ(c.buys()[1], 0);
}

TEST(Zip, TheStartOfTheWindowIsIn) {
  Case c;
  c.show(1, 100).report(9, 100);
  EXPECT_EQ(c.buys()[1], 1);
  c.reports[0].time -= 1;
  EXPECT_EQ(c.buys()[1], 0);
}

TEST(Zip, OneEventReportedTwiceCountsOnceAndTwoEventsCountTwice) {
  Case c;
  c.show(1, 0).report(9, 100).report(9, 100, 160).report(8, 120);
  EXPECT_EQ(c.buys()[1], 2);
  EXPECT_EQ(c.counts.conversions, 2u);
  EXPECT_EQ(c.counts.duplicates, 1u);
  EXPECT_EQ(c.counts.conflicting, 0u);
  c.report(9, 101, 170);
  EXPECT_EQ(c.buys()[1], 2);
  EXPECT_EQ(c.counts.conflicting, 1u);
}

TEST(Zip, ARefundCancelsWhenItIsKnownInTime) {
  Case c;
  c.show(1, 0).report(9, 100).refund(7, 9, 500);
  EXPECT_EQ(c.buys()[1], 0);
  EXPECT_EQ(c.counts.refunded, 1u);
  c.rules.refunds = Refunds::Ignore;
  EXPECT_EQ(c.buys()[1], 1);
  // The impression was emitted at 1000: later knowledge must not reach back.
  c.rules.refunds = Refunds::Cancel;
  for (ReportRow& one : c.reports)
    if (one.refund_of != 0) one.arrival = 1001 * kSecond;
  EXPECT_EQ(c.buys()[1], 1);
  EXPECT_EQ(c.counts.late_refunds, 1u);
}

TEST(Zip, ARefundOfNothingIsCounted) {
  Case c;
  c.show(1, 0).report(9, 100).refund(7, 5, 500);
  EXPECT_EQ(c.buys()[1], 1);
  EXPECT_EQ(c.counts.orphan_refunds, 1u);
}

TEST(Zip, WhatArrivesAfterTheImpressionIsEmittedIsNotKnown) {
  Case c;
  c.show(1, 0).report(9, 900, 1001);
  EXPECT_EQ(c.buys()[1], 0);
  EXPECT_EQ(c.counts.late, 1u);
  c.rules.allowance = kSecond;
  EXPECT_EQ(c.buys()[1], 1);
}

TEST(Zip, ImmatureRowsAreMarkedAndNeverNegatives) {
  Case c;
  c.show(1, 0).show(2, 50, 2).report(9, 10, 10, 0, 2);
  c.rules.as_of = 1000 * kSecond;  // the first window ends now, the second 50 s later
  ZipCounts counts;
  const auto rows = zip_bucket(c.rules, c.shown, c.reports, counts);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, 1u);
  EXPECT_EQ(rows[0].mature, 1);
  EXPECT_EQ(rows[1].mature, 0);
}

TEST(Zip, AnObjectiveAtOnceHasItsOwnWindowOnEveryImpression) {
  Case c;
  c.rules.thresholds = {UINT64_MAX};  // everything in the shorter window
  c.show(1, 0).show(2, 5, 2).report(9, 10, 10, 1).report(8, 16, 16, 1, 2);
  EXPECT_EQ(c.buys(1), (Labels{{1, 1}, {2, 0}}));
}

TEST(Zip, TheOwnWindowDecidesWhatTheTouchRuleCredits) {
  // The last touch owns a short window: its label is 0 and nobody else is credited instead.
  Case c;
  c.rules.thresholds = {UINT64_MAX};
  c.show(1, 0).show(2, 10).report(9, 500);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 0}}));
  EXPECT_EQ(c.counts.outside_window, 1u);
}

TEST(Zip, KeysDoNotMix) {
  Case c;
  c.show(1, 0, 1).show(2, 0, 2).report(9, 10, 10, 0, 2).report(8, 10, 10, 0, 3);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 1}}));
  EXPECT_EQ(c.counts.without_impression, 1u);
}

TEST(Zip, TiesAreBrokenByTheIdWhateverTheOrderOfTheInput) {
  Case c;
  c.show(1, 0).show(2, 0).show(3, 0).report(9, 10);
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 0}, {3, 1}}));
  std::reverse(c.shown.begin(), c.shown.end());
  EXPECT_EQ(c.buys(), (Labels{{1, 0}, {2, 0}, {3, 1}}));
}

TEST(Zip, WindowsAreChosenBySharesAndStay) {
  Case c;
  c.rules.windows = {100, 200, 300};
  c.rules.thresholds = window_thresholds({0.5, 0.3, 0.2});
  std::array<int, 3> counts{};
  for (uint64_t id = 0; id < 30'000; ++id) {
    const ShownRow row{id * 7, id, static_cast<int64_t>(id) * kSecond};
    ++counts[window_of(c.rules, row)];
    ASSERT_EQ(window_of(c.rules, row), window_of(c.rules, row));
  }
  // Five standard deviations of a binomial count.
  EXPECT_NEAR(counts[0], 15'000, 433);
  EXPECT_NEAR(counts[1], 9'000, 397);
  EXPECT_NEAR(counts[2], 6'000, 347);
  EXPECT_EQ(window_thresholds({1}), std::vector<uint64_t>());
}

TEST(Zip, RowsComeOutInOrderOfEmission) {
  Case c;
  c.rules.thresholds = window_thresholds({0.5, 0.5});
  for (uint64_t id = 1; id <= 200; ++id) c.show(id, static_cast<int64_t>(id * 10), id);
  ZipCounts counts;
  const auto rows = zip_bucket(c.rules, c.shown, c.reports, counts);
  EXPECT_EQ(rows.size(), 200u);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), [](const ZippedRow& a, const ZippedRow& b) {
    return std::pair(a.emit_time, a.id) < std::pair(b.emit_time, b.id);
  }));
}

}  // namespace
}  // namespace weft::lattice
