// SPDX-License-Identifier: Apache-2.0

// Affinities and groups by hand, and a probe on rows whose dependence is known.
#include "lattice/consolidation/grouping.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "lattice/consolidation/gradient_probe.h"

namespace weft::lattice {
namespace {

using Table = std::vector<std::vector<Likeness>>;

std::vector<Portfolio> portfolios(size_t count) {
  std::vector<Portfolio> list(count);
  for (size_t i = 0; i < count; ++i)
    list[i] = {.domain = std::string(1, static_cast<char>('a' + i)),
               .objective = "o",
               .rate = 0.1,
               .median_delay_seconds = 10};
  return list;
}

Table everywhere(size_t count, Likeness likeness) {
  return Table(count, std::vector<Likeness>(count, likeness));
}

Likeness overlap(double value) {
  return {.user_jaccard = value,
          .user_containment = value,
          .item_jaccard = value,
          .item_containment = value};
}

TEST(Affinity, IsTheSumOfItsParts) {
  GroupingPolicy policy;
  Portfolio a{.rate = 0.5, .median_delay_seconds = 0};
  Portfolio b{.rate = 1 / (1 + std::exp(2.0)), .median_delay_seconds = std::exp(3.0) - 1};
  Likeness like = overlap(0.1);
  like.user_containment = 0.9;
  like.gradient_cosine = -0.5;
  const Affinity result = affinity(a, b, like, policy);
  EXPECT_NEAR(result.overlap, 0.5 * 0.9 + 0.5 * 0.1, 1e-12);
  EXPECT_NEAR(result.delay, -0.09, 1e-12);   // three e-folds
  EXPECT_NEAR(result.density, -0.2, 1e-12);  // two units of logit
  EXPECT_NEAR(result.gradient, -0.25, 1e-12);
  EXPECT_NEAR(result.total, 0.5 - 0.09 - 0.2 - 0.25, 1e-12);
  b.median_delay_seconds.reset();
  EXPECT_EQ(affinity(a, b, like, policy).delay, 0);
}

TEST(Grouping, MergesWhatIsAlikeAndSaysWhy) {
  Table likeness = everywhere(3, overlap(0.05));
  likeness[0][2] = overlap(0.8);
  const Grouping grouping = group_portfolios(portfolios(3), likeness, {});
  ASSERT_EQ(grouping.groups.size(), 2u);
  EXPECT_EQ(grouping.groups[0].members, (std::vector<size_t>{0, 2}));
  ASSERT_EQ(grouping.decisions.size(), 2u);
  EXPECT_TRUE(grouping.decisions[0].merged);
  EXPECT_EQ(
      grouping.decisions[0].why,
      "a/o with c/o: affinity 0.80 (overlap +0.80, delay +0.00, density +0.00, gradients +0.00)");
  EXPECT_FALSE(grouping.decisions[1].merged);
  EXPECT_NE(grouping.decisions[1].why.find("affinity 0.05 is not above 0.20"), std::string::npos);
}

TEST(Grouping, OpposedGradientsKeepApartOrUntie) {
  Likeness opposed = overlap(0.5);
  opposed.gradient_cosine = -0.8;
  EXPECT_EQ(group_portfolios(portfolios(2), everywhere(2, opposed), {}).groups.size(), 2u);
  opposed.gradient_cosine = -0.2;
  const Grouping grouping = group_portfolios(portfolios(2), everywhere(2, opposed), {});
  ASSERT_EQ(grouping.groups.size(), 1u);
  EXPECT_EQ(grouping.groups[0].untie, (std::vector<std::pair<size_t, size_t>>{{0, 1}}));
}

TEST(Grouping, AModelThatIsTooSlowForAMemberIsRefused) {
  std::vector<Portfolio> list = portfolios(2);
  list[0].mflops = 100;
  list[0].latency_ms = 50;
  list[1].latency_ms = 10;
  GroupingPolicy policy{.mflops_per_ms = 5};
  const Grouping grouping = group_portfolios(list, everywhere(2, overlap(1)), policy);
  ASSERT_EQ(grouping.groups.size(), 2u);
  EXPECT_EQ(grouping.decisions[0].why,
            "a/o not with b/o: one model of 100 MFLOP takes 20 ms and b/o allows 10");
}

TEST(Grouping, BudgetsFollowRevenueAndGroupsHaveAMost) {
  std::vector<Portfolio> list = portfolios(3);
  list[0].revenue = 8;
  GroupingPolicy policy{.most_members = 2, .total_mflops = 50};
  const Grouping grouping = group_portfolios(list, everywhere(3, overlap(1)), policy);
  ASSERT_EQ(grouping.groups.size(), 2u);
  EXPECT_NEAR(grouping.groups[0].budget_mflops, 45, 1e-9);
  EXPECT_TRUE(grouping.groups[0].within_budget);
  EXPECT_NEAR(grouping.groups[1].budget_mflops, 5, 1e-9);
  EXPECT_FALSE(grouping.groups[1].within_budget);
  EXPECT_NE(grouping.decisions.back().why.find("3 members, 2 are the most"), std::string::npos);
}

TEST(GradientProbe, FindsTheAngleBetweenDependencesDespiteNoise) {
  // Residuals are -w.x plus noise ten times as strong; w of the portfolios are 60 degrees, then 180
  // degrees apart, and the last depends on nothing.
  constexpr size_t kFeatures = 6;
  const std::array<std::array<float, kFeatures>, 4> weights = {
      {{1, 0}, {0.5f, 0.8660254f}, {-1, 0}, {0, 0}}};
  GradientProbe probe(4, kFeatures);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int row = 0; row < 60'000; ++row)
    for (size_t p = 0; p < 4; ++p) {
      std::array<float, kFeatures> x;
      float residual = 10 * normal(random);
      for (size_t f = 0; f < kFeatures; ++f) residual -= weights[p][f] * (x[f] = normal(random));
      probe.add(p, row % 2, x, residual);
    }
  EXPECT_NEAR(probe.cosine(0, 1, 4).value(), 0.5, 0.15);
  EXPECT_NEAR(probe.cosine(0, 2, 4).value(), -1, 0.1);
  EXPECT_FALSE(probe.cosine(0, 3, 4));
  EXPECT_FALSE(GradientProbe(2, 3).cosine(0, 1, 4));
}

}  // namespace
}  // namespace weft::lattice
