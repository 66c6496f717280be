// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/bench_orders.h"

#include <gtest/gtest.h>

namespace weft::judge {
namespace {

TEST(BenchOrders, ComeBackAsTheyWereWritten) {
  BenchOrders orders;
  orders.ask = "in/ask";
  orders.answer = "out/answer";
  orders.outputs = "out";
  orders.contents = {"content_0", "content_1"};
  orders.sets = 3;
  orders.axes = {{0, -1, 0}, {-1, 0, 1}};
  orders.family = "gemm";
  orders.causal = true;
  const Result<BenchOrders> read = read_bench_orders(to_text(orders), "bench.json");
  ASSERT_TRUE(read.ok()) << format(read.error());
  EXPECT_EQ(read->ask, orders.ask);
  EXPECT_EQ(read->answer, orders.answer);
  EXPECT_EQ(read->outputs, orders.outputs);
  EXPECT_EQ(read->contents, orders.contents);
  EXPECT_EQ(read->sets, orders.sets);
  EXPECT_EQ(read->axes, orders.axes);
  EXPECT_EQ(read->family, orders.family);
  EXPECT_TRUE(read->causal);
}

TEST(BenchOrders, NeedContentsAndBuffers) {
  BenchOrders orders;
  orders.sets = 1;
  EXPECT_FALSE(read_bench_orders(to_text(orders), "bench.json").ok());
  orders.contents = {"content_0"};
  orders.sets = 0;
  EXPECT_FALSE(read_bench_orders(to_text(orders), "bench.json").ok());
  EXPECT_FALSE(read_bench_orders("[]", "bench.json").ok());
}

}  // namespace
}  // namespace weft::judge
