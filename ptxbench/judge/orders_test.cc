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
  orders.calls = "in/calls";
  orders.reports = "out/reports";
  orders.tensors = {{"A", 4, 16, {3, 5}, 30, false},
                    {"C", 2, 32, {7}, 28, true},
                    {"scale", 2, 32, {}, 4, false, 0.125}};
  orders.guard_bytes = 64;
  orders.launches = {
      {"k", {1, 2, 3}, {4, 5, 6}, {1, 1, 1}, 77, {{LaunchArgument::Kind::Float32, 0, 0.25}}}};
  const Result<Orders> read = read_orders(to_text(orders), "orders.json");
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(to_text(*read), to_text(orders));
  EXPECT_EQ(read->tensors[1].shape, (std::vector<int64_t>{7}));
  EXPECT_EQ(read->tensors[1].scalar, std::nullopt);
  EXPECT_EQ(read->tensors[2].scalar, 0.125);
  EXPECT_EQ(read->launches[0].arguments[0].number, 0.25);
  EXPECT_EQ(read->input_file(1), "in/1.bin");
}

TEST(CallOrder, SurvivesTheLine) {
  const CallOrder order{0x7b, 0xff, true, "out/recording"};
  const Result<CallOrder> read = read_call(to_line(order));
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(read->poison, 0x7b);
  EXPECT_EQ(read->guard, 0xff);
  EXPECT_TRUE(read->move);
  EXPECT_EQ(read->recording, "out/recording");
}

TEST(WorkerReport, SurvivesTheLine) {
  const WorkerReport report{
      "call", true, "ValueError", "N is \"7\"\nor 8", {{"C", true, 12}}, {"A"},
      {"B"},  3,    {0x30000000}};
  const std::string line = to_line(report);
  EXPECT_EQ(line.find('\n'), line.npos);
  const Result<WorkerReport> read = read_worker_report(line);
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(read->message, "N is \"7\"\nor 8");
  EXPECT_EQ(read->damage[0].distance, 12u);
  EXPECT_EQ(read->reshaped, std::vector<std::string>{"A"});
  EXPECT_EQ(read->retyped, std::vector<std::string>{"B"});
  EXPECT_EQ(read->threads_left, 3);
  EXPECT_EQ(read->addresses, std::vector<uint64_t>{0x30000000});
}

TEST(WorkerReport, RefusesGarbage) {
  EXPECT_FALSE(read_worker_report("{\"stage\": 3}").ok());
  EXPECT_FALSE(read_worker_report("PASSED").ok());
}

}  // namespace
}  // namespace weft::judge
