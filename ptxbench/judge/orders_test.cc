// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/orders.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(Orders, SurviveTheFile) {
  Orders orders;
  orders.candidate = "c.so";
  orders.inputs = "in";
  orders.outputs = "out";
  orders.report = "r.json";
  orders.tensors = {{"A", 4, 16, {3, 5}, 30, false}, {"C", 2, 32, {7}, 28, true}};
  orders.poisons = {0xff, 0x7b};
  orders.guard_bytes = 64;
  orders.launches = {
      {"k", {1, 2, 3}, {4, 5, 6}, {1, 1, 1}, 77, {{LaunchArgument::Kind::Float32, 0, 0.25}}}};
  const Result<Orders> read = read_orders(to_text(orders), "orders.json");
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(to_text(*read), to_text(orders));
  EXPECT_EQ(read->tensors[1].shape, (std::vector<int64_t>{7}));
  EXPECT_EQ(read->launches[0].arguments[0].number, 0.25);
  EXPECT_EQ(read->input_file(1, 0), "in/1_0.bin");
}

TEST(WorkerReport, SurvivesTheFile) {
  WorkerReport report{"call", 1, true, "ValueError", "N is \"7\"", 1, {{1, "C", true, 12}}};
  const Result<WorkerReport> read = read_worker_report(to_text(report), "worker.json");
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(to_text(*read), to_text(report));
  EXPECT_EQ(read->damage[0].distance, 12u);
}

TEST(WorkerReport, RefusesGarbage) {
  EXPECT_FALSE(read_worker_report("{\"stage\": 3}", "worker.json").ok());
}

}  // namespace
}  // namespace weft::judge
