// SPDX-License-Identifier: Apache-2.0

// Fronts by hand and against a reference that removes dominated features one pair at a time.
#include "lattice/selection/pareto.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/mix.h"

namespace weft::lattice {
namespace {

std::set<std::string> selected(const std::vector<Choice>& choices) {
  std::set<std::string> names;
  for (const Choice& one : choices)
    if (one.selected) names.insert(one.name);
  return names;
}

std::vector<FeatureImportance> random_features(size_t count, size_t tasks, uint64_t seed) {
  std::vector<FeatureImportance> features;
  for (size_t i = 0; i < count; ++i) {
    FeatureImportance one{"f" + std::to_string(i), {}};
    // Few levels, so that equal vectors occur.
    for (size_t j = 0; j < tasks; ++j)
      one.by_task.push_back(static_cast<double>(mix(seed, i * tasks + j) % 6));
    features.push_back(one);
  }
  return features;
}

// The front of each feature, by its definition.
std::vector<int> reference_fronts(const std::vector<FeatureImportance>& features) {
  std::vector<int> front(features.size(), -1);
  for (int number = 0; std::count(front.begin(), front.end(), -1) != 0; ++number) {
    std::vector<size_t> found;
    for (size_t i = 0; i < features.size(); ++i) {
      if (front[i] != -1) continue;
      bool beaten = false;
      for (size_t k = 0; k < features.size(); ++k)
        beaten = beaten || (front[k] == -1 && dominates(features[k], features[i]));
      if (!beaten) found.push_back(i);
    }
    for (const size_t i : found) front[i] = number;
  }
  return front;
}

TEST(Pareto, DominationIsStrict) {
  EXPECT_TRUE(dominates({"a", {2, 1}}, {"b", {1, 1}}));
  EXPECT_FALSE(dominates({"a", {1, 1}}, {"b", {1, 1}}));  // equal ones would remove each other
  EXPECT_FALSE(dominates({"a", {2, 0}}, {"b", {1, 1}}));
}

TEST(Pareto, FrontsByHand) {
  // 3,0 | 0,3 | 2,2 do not dominate each other; 1,1 is under 2,2; 1,0 under all but 0,3.
  const std::vector<FeatureImportance> features = {
      {"small", {0, 3}}, {"large", {3, 0}}, {"both", {2, 2}}, {"weak", {1, 1}}, {"last", {1, 0}}};
  const std::vector<Choice> choices = select_features(features, {.budget = 4});
  EXPECT_EQ(choices[0].front, 0);
  EXPECT_EQ(choices[1].front, 0);
  EXPECT_EQ(choices[2].front, 0);
  EXPECT_EQ(choices[3].front, 1);
  EXPECT_EQ(choices[4].front, 2);
  EXPECT_EQ(selected(choices), (std::set<std::string>{"small", "large", "both", "weak"}));
  EXPECT_EQ(choices[4].why, "front 2: the budget was full before");
}

TEST(Pareto, FrontsAgreeWithTheirDefinition) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<FeatureImportance> features = random_features(60, 3, seed);
    const std::vector<int> reference = reference_fronts(features);
    const std::vector<Choice> choices = select_features(features, {.budget = 25, .seed = seed});
    for (size_t i = 0; i < features.size(); ++i) EXPECT_EQ(choices[i].front, reference[i]) << i;
    EXPECT_EQ(selected(choices).size(), 25u);
    // No selected feature lies on a later front than one that was left out.
    int worst_taken = 0, best_left = 1 << 20;
    for (const Choice& one : choices)
      (one.selected ? worst_taken : best_left) =
          one.selected ? std::max(worst_taken, one.front) : std::min(best_left, one.front);
    EXPECT_LE(worst_taken, best_left);
  }
}

TEST(Pareto, OrderOfTheFeaturesDoesNotMatter) {
  std::vector<FeatureImportance> features = random_features(40, 2, 5);
  for (const Method method : {Method::Pareto, Method::WeightedSum, Method::Union, Method::Random}) {
    for (const TieBreak tie : {TieBreak::Random, TieBreak::TotalRank}) {
      const SelectionOptions options = {.method = method, .budget = 13, .tie_break = tie};
      const std::set<std::string> before = selected(select_features(features, options));
      std::reverse(features.begin(), features.end());
      EXPECT_EQ(selected(select_features(features, options)), before);
      EXPECT_EQ(before.size(), 13u);
    }
  }
}

TEST(Pareto, AWeightedSumStarvesASmallTaskAndFrontsDoNot) {
  // Task 1 is worth little; only "mine" helps it.
  const std::vector<FeatureImportance> features = {
      {"mine", {0, 0.1}}, {"a", {1, 0}}, {"b", {0.9, 0}}, {"c", {0.8, 0}}};
  EXPECT_TRUE(selected(select_features(features, {.budget = 2})).count("mine"));
  EXPECT_FALSE(selected(select_features(features, {.method = Method::WeightedSum, .budget = 2}))
                   .count("mine"));
  EXPECT_TRUE(
      selected(select_features(features, {.method = Method::Union, .budget = 2})).count("mine"));
}

TEST(Pareto, TheFloorKeepsNoiseOut) {
  const std::vector<FeatureImportance> features = {
      {"noise", {-0.2, 0.01}}, {"good", {0.5, 0}}, {"fair", {0.2, 0}}};
  const std::vector<Choice> choices =
      select_features(features, {.budget = 3, .floor = {0.05, 0.05}});
  EXPECT_EQ(selected(choices), (std::set<std::string>{"good", "fair"}));
  EXPECT_EQ(choices[0].why, "below the importance floor for every task");
  EXPECT_EQ(choices[0].front, -1);
}

}  // namespace
}  // namespace weft::lattice
