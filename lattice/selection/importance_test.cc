// SPDX-License-Identifier: Apache-2.0

// Rows whose labels follow known features: those must matter for their task, and the rest must not.
#include "lattice/selection/importance.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/mix.h"
#include "lattice/training/batch_source.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {
namespace {

ShardIndex schema() {
  ShardIndex index;
  index.tables = {{"kind", 12}, {"idle", 12}};
  index.dense = {"useful", "noise", "private"};
  index.labels = {{"click", false}, {"buy", false}};
  index.domains = {"feed", "search"};
  return index;
}

// click follows "useful", buy follows "private", which only domain 1 has.
Batch rows(size_t count, uint64_t seed) {
  Batch batch;
  batch.rows = count;
  batch.categorical.resize(2 * count, 2);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = mix(seed, i);
    const auto number = [&](int shift) {
      return static_cast<float>((bits >> shift) % 1000) / 250 - 2;
    };
    batch.categorical[i] = 1 + static_cast<int32_t>(bits % 11);
    batch.categorical[count + i] = 1 + static_cast<int32_t>((bits >> 5) % 11);
    const auto domain = static_cast<int32_t>((bits >> 60) % 2);
    const float own = domain == 1 ? number(30) : 0;
    batch.dense.insert(batch.dense.end(), {number(10), number(20), own});
    batch.dense_present.insert(batch.dense_present.end(), {1, 1, static_cast<uint8_t>(domain)});
    const auto draw = [&](double logit, uint64_t salt) {
      return static_cast<double>(mix(bits, salt) % 10'000) / 10'000 < 1 / (1 + std::exp(-logit))
                 ? 1.0f
                 : 0.0f;
    };
    batch.label.push_back(draw(2 * number(10), 1));
    batch.label.push_back(draw(3 * own, 2));
    batch.label_known.insert(batch.label_known.end(), {1, 1});
    batch.domain.push_back(domain);
  }
  return batch;
}

TEST(Importance, FindsWhatEachTaskDependsOn) {
  const YamlDocument document =
      parse_yaml("{kind: mlp, width: 8, hidden: [16], head: [8]}", "network").value();
  Learner learner = Learner::create(schema(), document, document.root,
                                    {.tasks = {{"click", {0.5}}, {"buy", {0.5}}},
                                     .dense = {.learning_rate = 0.01}})
                        .value();
  const MemorySource source(rows(6000, 1));
  Training training;
  training.options = {.batch_rows = 200};
  training.tasks = {"click", "buy"};
  training.loss = loss_of(Objective({{.name = "click"}, {.name = "buy"}}, 1, {}), {0, 1});
  training.source = &source;
  ASSERT_TRUE(train(learner, training).ok());
  const std::vector<MeasuredImportance> measured =
      permutation_importance(learner, training.loss, rows(3000, 2), schema(), {}).value();
  ASSERT_EQ(measured.size(), 5u);
  const auto of = [&](const std::string& name, size_t task) {
    for (const MeasuredImportance& one : measured)
      if (one.feature.name == name) return one.feature.by_task[task];
    return -1.0;
  };
  EXPECT_GT(of("useful", 0), 0.2);
  EXPECT_GT(of("private", 1), 0.1);
  for (const char* name : {"kind", "idle", "noise"}) {
    EXPECT_LT(std::abs(of(name, 0)), 0.02) << name;
    EXPECT_LT(std::abs(of(name, 1)), 0.02) << name;
  }
  EXPECT_LT(of("private", 0), 0.02);
}

TEST(Importance, KeepsTheSelectedColumnsInTheirOrder) {
  const std::vector<Choice> choices = {{.name = "idle", .selected = true},
                                       {.name = "private", .selected = true},
                                       {.name = "useful", .selected = true},
                                       {.name = "noise"}};
  const ShardIndex kept = keep_features(schema(), choices);
  ASSERT_EQ(kept.tables.size(), 1u);
  EXPECT_EQ(kept.tables[0].name, "idle");
  EXPECT_EQ(kept.dense, (std::vector<std::string>{"useful", "private"}));
  const Batch before = rows(3, 5), after = keep_features(before, schema(), choices);
  EXPECT_EQ(after.categorical,
            (std::vector<int32_t>(before.categorical.begin() + 3, before.categorical.end())));
  EXPECT_EQ(after.dense, (std::vector<float>{before.dense[0], before.dense[2], before.dense[3],
                                             before.dense[5], before.dense[6], before.dense[8]}));
  EXPECT_EQ(after.label, before.label);
}

}  // namespace
}  // namespace weft::lattice
