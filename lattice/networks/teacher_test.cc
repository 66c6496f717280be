// SPDX-License-Identifier: Apache-2.0

// What a teacher adds to any kind of network: a token, heads beside the served ones, and what the
// heads read, row for row.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "lattice/blocks/scalar_reference.h"
#include "lattice/networks/sample_batch.h"

namespace weft::lattice {
namespace {

constexpr int64_t kRows = 9, kWidth = 3;

struct Student {
  std::unique_ptr<Network> network;
  TensorBatch batch;
  Pass pass;

  explicit Student(const std::string& kind, const TeacherInput& teacher,
                   at::ScalarType type = at::kDouble) {
    NetworkInputs inputs = sample_inputs();
    inputs.teacher = teacher;
    const YamlDocument document = parse_yaml("{kind: " + kind + ", width: 8}", "network").value();
    network =
        make_network(document, document.root, {.inputs = inputs, .seed = 7, .type = type}).value();
    at::set_num_threads(1);
    const SampleBatch sample(kRows);
    // Row i misses when i is divisible by 3.
    std::vector<float> embedding;
    std::vector<uint8_t> hit;
    for (int64_t i = 0; i < kRows; ++i) {
      hit.push_back(i % 3 != 0);
      for (int64_t c = 0; c < kWidth; ++c)
        embedding.push_back(
            i % 3 == 0 ? 0 : 0.1f * static_cast<float>(i) - 0.2f * static_cast<float>(c));
    }
    BatchView view = sample.view();
    view.teacher = embedding;
    view.teacher_hit = hit;
    batch = make_batch(view, network->inputs(), network->tables()).value().to(type);
  }
  at::Tensor weight(const std::string& name) const {
    for (const Parameters::Named& one : network->parameters().all())
      if (one.name == name) return one.value;
    return {};
  }
};

class EachStudent : public testing::TestWithParam<std::string> {};

TEST_P(EachStudent, HasAHeadMoreForEachDistilledTaskButNotWhenServing) {
  Student one(GetParam(), {.width = kWidth, .distilled = {1}, .gradient_scale = 1});
  const at::NoGradGuard still;
  const at::Tensor all = one.network->forward(one.batch, one.pass);
  EXPECT_EQ(all.sizes(), at::IntArrayRef({kRows, 3, 3}));
  EXPECT_EQ(all.select(1, 2).slice(1, 1).abs().max().item<double>(), 0);
  Pass serving;
  serving.serving = true;
  const at::Tensor served = one.network->forward(one.batch, serving);
  EXPECT_TRUE(served.equal(all.slice(1, 0, 2)));
  EXPECT_LT(serving.flops, one.pass.flops);
}

TEST_P(EachStudent, AHitMovesItsRowOnlyAndAMissIsTheNetworkWithoutATeacher) {
  Student one(GetParam(), {.width = kWidth, .distilled = {}, .gradient_scale = 1});
  const at::NoGradGuard still;
  const at::Tensor before = one.network->forward(one.batch, one.pass);
  const at::Tensor weight = one.weight("features.teacher.weight").detach();
  ASSERT_EQ(weight.sizes(), at::IntArrayRef({kWidth + 1, 8}));
  weight.mul_(-2);
  const at::Tensor moved =
      (one.network->forward(one.batch, one.pass) - before).abs().flatten(1).amax(1);
  for (int64_t i = 0; i < kRows; ++i)
    EXPECT_EQ(moved[i].item<double>() > 1e-9, i % 3 != 0) << "row " << i;
}

TEST_P(EachStudent, DerivativesOfTheTokenAndTheHeadAgreeWithFiniteDifferences) {
  Student one(GetParam(), {.width = kWidth, .distilled = {0}, .gradient_scale = 1});
  const auto f = [&] {
    Pass pass;
    return one.network->forward(one.batch, pass);
  };
  std::vector<at::Tensor> leaves = {one.weight("features.teacher.weight")};
  for (const Parameters::Named& named : one.network->parameters().all())
    if (named.name.find("distillation") != std::string::npos) leaves.push_back(named.value);
  ASSERT_GE(leaves.size(), 3u);
  reference::expect_derivatives(f, leaves);
}

// The same weights and values; of the distillation head's own derivative all comes through, of what
// lies before it a quarter.
TEST_P(EachStudent, OnlyAShareOfTheDistillationReachesTheBackbone) {
  const auto gradients = [&](double scale) {
    Student one(GetParam(), {.width = kWidth, .distilled = {0}, .gradient_scale = scale});
    const at::Tensor logits = one.network->forward(one.batch, one.pass);
    reference::weighted_sum(logits.select(1, 2)).backward();
    return std::tuple(logits.detach(), one.weight("features.teacher.weight").grad().clone(),
                      one.weight("heads.click.distillation.logits.weight").grad().clone());
  };
  const auto [logits, token, head] = gradients(1);
  const auto [same, less, same_head] = gradients(0.25);
  EXPECT_TRUE(logits.equal(same));
  EXPECT_TRUE(head.equal(same_head));
  EXPECT_GT(token.abs().max().item<double>(), 1e-9);
  EXPECT_LT((less * 4 - token).abs().max().item<double>(), 1e-12);
}

TEST_P(EachStudent, WhatTheHeadsReadIsEachRowsOwn) {
  Student one(GetParam(), {}, at::kFloat);
  const at::NoGradGuard still;
  one.pass.serving = one.pass.wants_backbone = true;
  one.network->forward(one.batch, one.pass);
  ASSERT_EQ(one.pass.backbone.size(0), kRows);
  EXPECT_EQ(one.pass.backbone.size(1), backbone_width(*one.network));
  const at::Tensor before = one.pass.backbone;
  // Another user for row 2 only: no other row may move.
  one.batch.categorical[2][0].fill_(0);
  one.network->forward(one.batch, one.pass);
  const at::Tensor moved = (one.pass.backbone - before).abs().amax(1);
  for (int64_t i = 0; i < kRows; ++i) EXPECT_EQ(moved[i].item<float>() > 0, i == 2) << "row " << i;
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachStudent, testing::ValuesIn(network_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST(Student, NeedsTheTeachersColumns) {
  Student one("mlp", {.width = kWidth, .distilled = {}, .gradient_scale = 1});
  const SampleBatch sample(4);
  const auto made = make_batch(sample.view(), one.network->inputs(), one.network->tables());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("teacher has 0 values instead of 12"), std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
