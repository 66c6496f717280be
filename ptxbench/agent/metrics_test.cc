// SPDX-License-Identifier: Apache-2.0

// Rates are counted by hand. Wilson's interval of 8 of 10 is that of Brown, Cai and DasGupta's
// formula worked out by hand; pass@k is compared with counting all samples.
#include "ptxbench/agent/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::agent {
namespace {

// Counts the samples of k out of n without a right one among them, one by one.
double counted(size_t n, size_t c, size_t k) {
  size_t all = 0, without = 0;
  for (uint32_t set = 0; set < 1u << n; ++set) {
    if (static_cast<size_t>(__builtin_popcount(set)) != k) continue;
    ++all;
    without += (set & ((1u << c) - 1)) == 0;  // the first c are right
  }
  return 1 - static_cast<double>(without) / static_cast<double>(all);
}

TEST(Metrics, PassAtKIsTheShareOfAllSamples) {
  for (size_t n = 1; n <= 8; ++n)
    for (size_t c = 0; c <= n; ++c)
      for (size_t k = 1; k <= n; ++k) EXPECT_NEAR(pass_at_k(n, c, k), counted(n, c, k), 1e-12);
}

TEST(Metrics, WilsonsInterval) {
  const Interval interval = wilson(8, 10);
  EXPECT_NEAR(interval.low, 0.4902, 1e-4);
  EXPECT_NEAR(interval.high, 0.9433, 1e-4);
  EXPECT_EQ(wilson(0, 5).low, 0);
  EXPECT_EQ(wilson(5, 5).high, 1);
}

// In the columns of the public tables, with turns out of order and a quoted tag.
const std::string kTable =
    "trajectory_id,turn,correctness,speedup,arch_tag\n"
    "exp_0,1,Correct,0.8,\"A, H\"\n"
    "exp_0,0,Compilation error,,\n"
    "exp_1,0,Correct,0.4,G\n"
    "exp_2,0,Runtime error,,\n"
    "exp_2,1,Runtime error,,\n"
    "exp_2,2,Numerical error,,\n"
    "exp_2,3,Numerical error,,\n"
    "exp_2,4,Correct,1.5,H\n"
    "exp_3,0,Extraction error,,\n";

std::vector<TrajectoryRow> table() {
  const TemporaryDirectory folder = TemporaryDirectory::create("metrics").value();
  EXPECT_TRUE(write_file(folder.file("t.csv"), kTable).ok());
  return csv_rows(folder.file("t.csv")).value();
}

TEST(Metrics, ReadsThePublicPerTurnTable) {
  const std::vector<Summary> summaries = summaries_of(table());
  ASSERT_EQ(summaries.size(), 3u);  // nothing but "all" is known
  const auto expect = [&](size_t i, unsigned turns, size_t correct, size_t audited, double best) {
    EXPECT_EQ(summaries[i].turns, turns);
    EXPECT_EQ(summaries[i].trajectories, 4u);
    EXPECT_EQ(summaries[i].correct, correct);
    EXPECT_EQ(summaries[i].audited, audited);
    EXPECT_EQ(summaries[i].best_speedup, best);
  };
  expect(0, 1, 1, 0, 0.4);
  expect(1, 4, 2, 1, 0.8);
  expect(2, 8, 3, 2, 1.5);
  const std::map<double, double> fast(summaries[2].fast.begin(), summaries[2].fast.end());
  EXPECT_EQ(fast.at(0), 0.75);
  EXPECT_EQ(fast.at(0.5), 0.5);
  EXPECT_EQ(fast.at(1), 0.25);
  EXPECT_EQ(fast.at(1.5), 0.0);
  EXPECT_EQ(summaries[2].pass_at.at(0).value, 0.75);
  EXPECT_EQ(summaries[2].pass_at.at(1).value,
            1.0);  // one wrong of four: no pair without a right one
}

TEST(Metrics, CountsClassesAndWhatFollowsThem) {
  const std::vector<TrajectoryRow> rows = table();
  EXPECT_EQ(error_classes(rows).at("Runtime error"), 2u);
  const Transitions steps = transitions(rows);
  EXPECT_EQ(steps.at({"Runtime error", "Runtime error"}), 1u);
  EXPECT_EQ(steps.at({"Runtime error", "Numerical error"}), 1u);
  EXPECT_EQ(steps.at({"Compilation error", "Correct"}), 1u);
  EXPECT_EQ(steps.size(), 5u);
}

TEST(Metrics, TheReportHoldsTheTableItCameFrom) {
  const TemporaryDirectory folder = TemporaryDirectory::create("metrics").value();
  ASSERT_TRUE(write_report(folder.path(), table()).ok());
  const std::string again = read_file(folder.file("turn_correctness_arch.csv")).value();
  EXPECT_NE(again.find("exp_0,1,Correct,0.8,\"A, H\",\"A, H\",dynamic_present\n"),
            std::string::npos);
  EXPECT_NE(again.find("exp_1,0,Correct,0.4,G,,dynamic_not_executed\n"), std::string::npos);
  EXPECT_NE(again.find("exp_0,0,Compilation error,,,,\n"), std::string::npos);
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 10);
  const std::string page = read_file(folder.file("report.html")).value();
  EXPECT_NE(page.find("75.0 % [30.1, 95.4]"), std::string::npos);  // 3 of 4
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_TRUE(summaries_of({}).empty());
}

// The public aggregate counts the trajectories that have, among their turns before the limit, a
// correct one with status "dynamic_present" and the architecture's tag: counted here by hand. Turns
// that the table leaves out still count towards the limit.
TEST(Metrics, CountsTrajectoriesAsThePublicAggregateDoes) {
  const TemporaryDirectory folder = TemporaryDirectory::create("metrics").value();
  ASSERT_TRUE(write_file(folder.file("t.csv"),
                         "trajectory_id,turn,correctness,speedup,cubin_sass_arch_tag,sass_arch_tag,"
                         "sass_verification_status\n"
                         "exp_0,0,Correct,0.5,H,H,dynamic_present\n"
                         "exp_1,0,Correct,0.6,H,,dynamic_not_executed\n"
                         "exp_1,3,Correct,0.7,H,H,dynamic_present\n"
                         "exp_2,1,Correct,,H,H,profile_failed\n"
                         "exp_2,4,Correct,0.9,H,H,dynamic_present\n"
                         "exp_3,2,Sanitize Timeout,,,,\n"
                         "exp_3,7,Correct,0.2,,,cubin_sass_absent\n"
                         "exp_4,8,Correct,2,H,H,dynamic_present\n")
                  .ok());
  const auto summaries = summaries_of(csv_rows(folder.file("t.csv")).value());
  ASSERT_EQ(summaries.size(), 3u);
  const size_t correct[] = {2, 3, 4}, audited[] = {1, 2, 3};
  const double best[] = {0.6, 0.7, 0.9};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(summaries[i].trajectories, 5u);
    EXPECT_EQ(summaries[i].correct, correct[i]) << summaries[i].turns;
    EXPECT_EQ(summaries[i].audited, audited[i]) << summaries[i].turns;
    EXPECT_EQ(summaries[i].best_speedup, best[i]) << summaries[i].turns;
  }
}

TEST(Metrics, WhatIsNoTableSaysSo) {
  const TemporaryDirectory folder = TemporaryDirectory::create("metrics").value();
  ASSERT_TRUE(write_file(folder.file("t.csv"), "a,b\n1,2\n").ok());
  EXPECT_FALSE(csv_rows(folder.file("t.csv")).ok());
  ASSERT_TRUE(write_file(folder.file("t.csv"), kTable + "exp_9,0\n").ok());
  const auto cut = csv_rows(folder.file("t.csv"));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().diagnostics.front().position.line, 11u);
  EXPECT_FALSE(run_rows(folder.path()).ok());
}

}  // namespace
}  // namespace weft::agent
