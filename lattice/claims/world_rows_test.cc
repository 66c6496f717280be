// SPDX-License-Identifier: Apache-2.0

// Rows in memory against the definition of the world that they come from.
#include "lattice/claims/world_rows.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "lattice/claims/experiment.h"

namespace weft::lattice {
namespace {

WorldConfiguration tiny_world() {
  WorldConfiguration world = world_preset("ads-small").value();
  world.impressions = 20'000;
  world.users = 1000;
  world.items = 400;
  world.objectives[0].rate = 0.3;
  world.objectives[1].rate = 0.2;
  return world;
}

TEST(WorldRows, HaveTheRatesAndTheDelaysOfTheWorld) {
  const WorldRows rows = draw_rows(tiny_world()).value();
  EXPECT_EQ(rows.train.rows, 14'000u);
  EXPECT_EQ(rows.rows(), 20'000u);
  EXPECT_TRUE(std::is_sorted(rows.shown_seconds.begin(), rows.shown_seconds.end()));
  double clicks = 0, carts = 0, wait = 0;
  for (size_t i = 0; i < rows.rows(); ++i) {
    clicks += rows.delay_seconds[3 * i] >= 0;
    carts += rows.delay_seconds[3 * i + 1] >= 0;
    wait += std::max(0.0, rows.delay_seconds[3 * i + 1]);
  }
  // Four deviations of a rate over 20,000 rows, and of a mean of 4,000 exponential delays.
  EXPECT_NEAR(clicks / 20'000, 0.3, 0.02);
  EXPECT_NEAR(carts / 20'000, 0.2, 0.02);
  EXPECT_NEAR(wait / carts, 3 * 3600, 3 * 3600 * 0.065);
  for (size_t t = 0; t < rows.schema.tables.size(); ++t) {
    const auto from = rows.train.categorical.begin() + static_cast<std::ptrdiff_t>(t * 14'000);
    EXPECT_GE(*std::min_element(from, from + 14'000), kFirstUnknown);
    EXPECT_LT(static_cast<uint64_t>(*std::max_element(from, from + 14'000)),
              rows.schema.tables[t].rows);
  }
}

TEST(WorldRows, TheTruthIsTheBestAndAModelComesAfter) {
  const WorldRows rows = draw_rows(tiny_world()).value();
  const double best = best_ne(rows, 16'000, 0, -1);
  EXPECT_LT(best, 0.95);
  EXPECT_GT(best, 0.5);
  const ArmResult result =
      run_arm(rows, {.name = "mlp", .network = "{kind: mlp, width: 8, hidden: [32], head: [8]}"},
              {})
          .value();
  ASSERT_EQ(result.ne.size(), 9u);
  // Better than the constant, not better than the truth by more than chance on 4,000 rows.
  const double ne = result.ne[0];
  EXPECT_LT(ne, 1);
  EXPECT_GT(ne, best_ne(rows, 16'000, 0, 0) - 0.01);
  EXPECT_GT(result.flops, 1000);
}

}  // namespace
}  // namespace weft::lattice
