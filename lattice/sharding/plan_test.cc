// SPDX-License-Identifier: Apache-2.0

// Expected values: every plan of small random cases, counted through; timelines by hand.
#include "lattice/sharding/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include <nlohmann/json.hpp>

namespace weft::lattice {
namespace {

constexpr double kMegabyte = 1e6;

Profile random_profile(std::mt19937_64& random, size_t blocks, size_t batches) {
  const auto draw = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  Profile profile{.hardware = "imagined", .ranks = 8, .ranks_per_host = 4};
  profile.within_host = {{0, 1e-5, draw(1e10, 3e11)}};
  profile.between_hosts = {{0, 3e-5, draw(2e9, 5e10)}, {1e8, 3e-5, draw(5e9, 1e11)}};
  for (size_t b = 0; b < batches; ++b) profile.batch_rows.push_back(256 << b);
  for (size_t l = 0; l < blocks; ++l) {
    BlockProfile block{.name = "block " + std::to_string(l),
                       .parameter_bytes = draw(0.1, 40) * kMegabyte};
    const double forward = draw(1e-4, 3e-3), kept = draw(1, 30) * kMegabyte;
    for (size_t b = 0; b < batches; ++b) {
      const auto scale = static_cast<double>(1 << b);
      block.forward_seconds.push_back(forward * scale + 1e-4);
      block.backward_seconds.push_back(2 * forward * scale + 1e-4);
      block.activation_bytes.push_back(kept * scale);
    }
    profile.blocks.push_back(std::move(block));
  }
  return profile;
}

double additive_seconds(const Profile& profile, const std::vector<Strategy>& plan, size_t batch,
                        double& bytes) {
  double seconds = 0;
  bytes = 0;
  for (size_t l = 0; l < plan.size(); ++l) {
    const BlockProfile& block = profile.blocks[l];
    const StrategyCost cost = cost_of(profile, block, plan[l]);
    seconds +=
        block.forward_seconds[batch] + block.backward_seconds[batch] + cost.communication_seconds();
    bytes += cost.bytes() + block.activation_bytes[batch];
  }
  return seconds;
}

TEST(Sharding, CollectivesTakeWhatTheirFormulaSays) {
  const std::vector<LinkPoint> link = {{100, 1, 50}, {300, 2, 100}};
  // 100 bytes over 4 ranks: 1 * 3 + 100 * (3/4) / 50.
  EXPECT_DOUBLE_EQ(gather_seconds(link, 100, 4), 4.5);
  EXPECT_DOUBLE_EQ(gather_seconds(link, 300, 4), 8.25);
  // Half way: the mean of 3 + 200 * 0.75 / 50 and 6 + 200 * 0.75 / 100.
  EXPECT_DOUBLE_EQ(gather_seconds(link, 200, 4), 6.75);
  EXPECT_DOUBLE_EQ(gather_seconds(link, 600, 4), 10.5);  // beyond what was measured: the last
  EXPECT_EQ(gather_seconds(link, 100, 1), 0);
}

TEST(Sharding, StrategiesCostWhatTheTableSays) {
  Profile profile{.ranks = 8, .ranks_per_host = 4};
  profile.within_host = {{0, 0, 100}};
  profile.between_hosts = {{0, 0, 10}};
  const BlockProfile block{.name = "b", .parameter_bytes = 800};
  const auto cost = [&](Strategy strategy) { return cost_of(profile, block, strategy); };
  // Over 8 ranks 800 * (7/8) / 10 = 70 s a gather; in a host 800 * (3/4) / 100 = 6 s; an all-reduce
  // of 200 bytes over 2 hosts 2 * 200 * (1/2) / 10 = 20 s.
  EXPECT_DOUBLE_EQ(cost(Strategy::NoShard).communication_seconds(), 140);
  EXPECT_DOUBLE_EQ(cost(Strategy::ShardGradOp).communication_seconds(), 140);
  EXPECT_DOUBLE_EQ(cost(Strategy::FullShard).communication_seconds(), 210);
  EXPECT_DOUBLE_EQ(cost(Strategy::HybridShard).communication_seconds(), 38);
  EXPECT_DOUBLE_EQ(cost(Strategy::HybridShardZero2).communication_seconds(), 32);
  EXPECT_DOUBLE_EQ(cost(Strategy::NoShard).bytes(), 3200);
  EXPECT_DOUBLE_EQ(cost(Strategy::ShardGradOp).bytes(), 400 + 800);
  EXPECT_DOUBLE_EQ(cost(Strategy::FullShard).bytes(), 400);
  EXPECT_DOUBLE_EQ(cost(Strategy::HybridShard).bytes(), 800);
  EXPECT_DOUBLE_EQ(cost(Strategy::HybridShardZero2).bytes(), 800 + 800);
}

TEST(Sharding, TheProgrammeFindsWhatCountingThroughFinds) {
  std::mt19937_64 random(7);
  int feasible = 0, infeasible = 0;
  for (int turn = 0; turn < 150; ++turn) {
    const size_t blocks = 1 + random() % 5;
    const Profile profile = random_profile(random, blocks, 2);
    double all_bytes = 0;
    additive_seconds(profile, std::vector<Strategy>(blocks, Strategy::NoShard), 1, all_bytes);
    const double memory = all_bytes * std::uniform_real_distribution<double>(0.2, 1.05)(random);
    size_t plans = 1;
    for (size_t l = 0; l < blocks; ++l) plans *= kStrategies;
    double best = std::numeric_limits<double>::infinity();
    for (size_t code = 0; code < plans; ++code) {
      std::vector<Strategy> plan;
      for (size_t l = 0, rest = code; l < blocks; ++l, rest /= kStrategies)
        plan.push_back(static_cast<Strategy>(rest % kStrategies));
      double bytes = 0;
      const double seconds = additive_seconds(profile, plan, 1, bytes);
      if (bytes <= memory) best = std::min(best, seconds);
    }
    const AdditivePlans found = plan_blocks(profile, 1, memory, 1);
    EXPECT_TRUE(found.exact);
    if (best == std::numeric_limits<double>::infinity()) {
      EXPECT_TRUE(found.fastest.empty());
      ++infeasible;
      continue;
    }
    ++feasible;
    ASSERT_FALSE(found.fastest.empty());
    EXPECT_NEAR(found.fastest[0].seconds / best, 1, 1e-12);
    double bytes = 0;
    EXPECT_NEAR(additive_seconds(profile, found.fastest[0].strategies, 1, bytes) / best, 1, 1e-12);
    EXPECT_LE(bytes, memory * (1 + 1e-12));
  }
  EXPECT_GT(feasible, 50);
  EXPECT_GT(infeasible, 5);
}

TEST(Sharding, ThinnedStatesStayFeasibleAndNear) {
  std::mt19937_64 random(3);
  const Profile profile = random_profile(random, 30, 1);
  double most = 0;
  additive_seconds(profile, std::vector<Strategy>(30, Strategy::NoShard), 0, most);
  const AdditivePlans fine = plan_blocks(profile, 0, most * 0.6, 1, 256);
  const AdditivePlans coarse = plan_blocks(profile, 0, most * 0.6, 1, 4);
  EXPECT_FALSE(coarse.exact);
  EXPECT_LE(coarse.fastest[0].bytes, most * 0.6);
  EXPECT_LT(coarse.fastest[0].seconds / fine.fastest[0].seconds, 1.01);
}

TEST(Sharding, StreamsOverlapAsByHand) {
  Profile profile{.ranks = 2, .ranks_per_host = 2, .batch_rows = {1}};
  profile.within_host = {{0, 0, 25}};  // 100 bytes * (1/2) / 25: 2 s a gather
  for (const char* name : {"a", "b"}) profile.blocks.push_back({name, 100, {3}, {5}, {10}});
  // communicate  ga 0-2, gb 2-4, gb 5-7 (when a's pass is over), ga 8-10, rb 13-15, ra 18-20
  // compute      a 2-5, b 5-8, b 8-13, a 13-18
  const Simulated sharded = simulate(profile, 0, {Strategy::FullShard, Strategy::FullShard}, {});
  EXPECT_DOUBLE_EQ(sharded.seconds, 20);
  // At 8: 2 * 4 * 100 / 2 at rest, b and a gathered, b's gradients, both activations.
  EXPECT_DOUBLE_EQ(sharded.peak_bytes, 400 + 200 + 100 + 20);
  // Nothing to gather: a 0-3, b 3-6, b 6-11, a 11-16; all-reduce b 11-15, a 16-20. The tables'
  // exchanges, 1 s on each side, are outside.
  const Simulated whole = simulate(profile, 0, {Strategy::NoShard, Strategy::NoShard}, {2, 50});
  EXPECT_DOUBLE_EQ(whole.seconds, 22);
  EXPECT_DOUBLE_EQ(whole.peak_bytes, 800 + 20 + 50);
}

TEST(Sharding, IsNeverWorseThanAUniformPlan) {
  std::mt19937_64 random(11);
  int compared = 0, better = 0;
  for (int turn = 0; turn < 40; ++turn) {
    Profile profile = random_profile(random, 6, 3);
    const double memory = std::uniform_real_distribution<double>(120, 450)(random) * kMegabyte;
    const auto report = make_plan(profile, memory);
    double best_uniform = 0;
    for (size_t batch = 0; batch < 3; ++batch)
      for (size_t s = 0; s < kStrategies; ++s) {
        const Simulated uniform =
            simulate(profile, batch, std::vector<Strategy>(6, static_cast<Strategy>(s)), {});
        if (uniform.peak_bytes <= memory)
          best_uniform = std::max(
              best_uniform, static_cast<double>(profile.batch_rows[batch] * 8) / uniform.seconds);
      }
    if (!report.ok()) {
      EXPECT_EQ(best_uniform, 0);
      continue;
    }
    ++compared;
    EXPECT_LE(report->plan.predicted.peak_bytes, memory);
    EXPECT_GE(report->plan.rows_per_second, best_uniform);
    better += report->plan.rows_per_second > 1.001 * best_uniform ? 1 : 0;
  }
  EXPECT_GT(compared, 15);
  EXPECT_GT(better, 2);
}

TEST(Sharding, TablesGoWhereTheyFit) {
  Profile profile{.ranks = 2, .ranks_per_host = 2, .batch_rows = {64}};
  profile.within_host = {{0, 0, 1e9}};
  profile.tables = {{"users", 1000, 8, 1}};  // 1000 * 9 * 4 bytes
  const auto roomy = place_tables(profile, 64, 36'000);
  ASSERT_TRUE(roomy.ok());
  const auto half = place_tables(profile, 64, 18'000);
  ASSERT_TRUE(half.ok());
  EXPECT_DOUBLE_EQ(half->most_bytes, 18'000);
  const auto none = place_tables(profile, 64, 17'999);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(),
            "tables do not fit: the largest is users, 36000 bytes; needed on one of 2 ranks 18000, "
            "available 17999");
  // Replicating a history of 1000 ids sends 2 * 64 * 1000 * 40 bytes; columns send its ids and 64
  // rows of half the width.
  profile.tables[0].ids_per_row = 1000;
  EXPECT_NE(place_tables(profile, 64, 36'000)->placements[0], Placement::Replicate);
}

TEST(Sharding, SaysWhichBlockDoesNotFit) {
  Profile profile{.ranks = 1, .ranks_per_host = 1, .batch_rows = {64}};
  profile.blocks = {{"small", 10, {1}, {1}, {1}}, {"attention", 1000, {1}, {1}, {500}}};
  const auto plan = make_plan(profile, 4000);
  ASSERT_FALSE(plan.ok());
  // 4 * 1000 + 500, and 4 * 10 + 1 more.
  EXPECT_EQ(plan.error().message(),
            "blocks do not fit at 64 rows: the largest is attention, 4500 bytes; needed on a rank "
            "4541, available 4000");
  EXPECT_TRUE(make_plan(profile, 4541).ok());
}

TEST(Sharding, RefusesProfilesThatAreNone) {
  const char* good = R"({"hardware": "h", "ranks": 2, "ranks_per_host": 2,
    "within_host": [{"bytes": 0, "latency_seconds": 0, "bytes_per_second": 1e9}],
    "blocks": [{"name": "a", "parameter_bytes": 8, "batches": [{"rows": 4, "forward_seconds": 1,
      "backward_seconds": 2, "activation_bytes": 3}]}]})";
  ASSERT_TRUE(parse_profile(*parse_json(good), "p.json").ok());
  const auto refused = [&](const char* pointer, const Json& value, const char* message) {
    Json json = *parse_json(good);
    json[Json::json_pointer(pointer)] = value;
    const auto profile = parse_profile(json, "p.json");
    ASSERT_FALSE(profile.ok()) << message;
    EXPECT_NE(format(profile.error()).find(message), std::string::npos) << format(profile.error());
  };
  refused("/rank", 2, "did you mean rank");
  refused("/ranks", 3, "ranks that do not fill hosts: 3 by 2");
  refused("/ranks", 4, "needs a list that is not empty: between_hosts");
  refused("/blocks", Json::array(), "needs a list that is not empty: blocks");
  refused("/blocks/0/parameter_bytes", -1, "out of range: parameter_bytes -1");
  refused("/blocks/0/batches/0/forward_seconds", "fast", "batch 0 of block a needs a number");
  refused("/within_host/0/bytes_per_second", 0, "out of range: bytes_per_second 0");
}

}  // namespace
}  // namespace weft::lattice
