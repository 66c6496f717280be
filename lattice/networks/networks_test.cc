// SPDX-License-Identifier: Apache-2.0

// What every kind of network has to do, whatever is inside: shapes, derivatives that reach all
// weights and agree with finite differences, rows that do not see each other, empty histories.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "lattice/networks/dcn.h"
#include "lattice/networks/dlrm.h"
#include "lattice/networks/experts.h"
#include "lattice/networks/interformer.h"
#include "lattice/networks/sample_batch.h"

namespace weft::lattice {
namespace {

std::unique_ptr<Network> make(const std::string& text, at::ScalarType type = at::kFloat,
                              const NetworkInputs& inputs = sample_inputs()) {
  const YamlDocument document = parse_yaml(text, "network.yaml").value();
  auto made = make_network(document, document.root, {.inputs = inputs, .seed = 7, .type = type});
  EXPECT_TRUE(made.ok()) << format(made.error());
  // Products of a few rows gain nothing from threads, which wait by spinning.
  at::set_num_threads(1);
  return std::move(made.value());
}

std::string refusal(const std::string& text) {
  const YamlDocument document = parse_yaml(text, "network.yaml").value();
  const auto made = make_network(document, document.root, {.inputs = sample_inputs()});
  return made.ok() ? "" : format(made.error());
}

// A loss with a different weight for each logit, so that no derivative cancels.
at::Tensor weighted(const at::Tensor& logits) {
  const at::Tensor weights = at::arange(1, logits.numel() + 1, logits.options()).mul(0.7).cos();
  return (logits.sigmoid().flatten() * weights).sum();
}

class EachNetwork : public testing::TestWithParam<std::string> {
 protected:
  std::string text() const { return "kind: " + GetParam() + "\nwidth: 8\n"; }
};

TEST_P(EachNetwork, LogitsHaveTheShapeOfTasksAndWindows) {
  const auto network = make(text());
  const SampleBatch sample(9);
  const TensorBatch batch = make_batch(sample.view(), network->inputs(), network->tables()).value();
  Pass pass;
  const at::Tensor logits = network->forward(batch, pass);
  EXPECT_EQ(logits.sizes(), at::IntArrayRef({9, 2, 3}));
  EXPECT_TRUE(at::isfinite(logits).all().item<bool>());
  // Windows that the first task lacks.
  EXPECT_EQ(logits.select(1, 0).slice(1, 1).abs().max().item<float>(), 0);
  // A fresh network is near the base rates 0.2 and 0.05.
  const at::Tensor served = served_logits(*network, logits).sigmoid().mean(0);
  EXPECT_NEAR(served[0].item<double>(), 0.2, 0.05);
  EXPECT_NEAR(served[1].item<double>(), 0.05, 0.02);
}

TEST_P(EachNetwork, RowsDoNotSeeEachOther) {
  const auto network = make(text(), at::kDouble);
  const at::NoGradGuard still;
  const SampleBatch sample(9);
  const TensorBatch batch =
      make_batch(sample.view(), network->inputs(), network->tables()).value().to(at::kDouble);
  Pass pass;
  const at::Tensor all = network->forward(batch, pass);
  const int64_t* offsets = batch.history.offsets.data_ptr<int64_t>();
  for (int64_t row = 0; row < 9; ++row) {
    TensorBatch alone;
    alone.categorical = batch.categorical.slice(0, row, row + 1);
    alone.dense = batch.dense.slice(0, row, row + 1);
    alone.present = batch.present.slice(0, row, row + 1);
    alone.domain = batch.domain.slice(0, row, row + 1);
    alone.group = batch.group.slice(0, row, row + 1);
    const int64_t begin = offsets[row], end = offsets[row + 1];
    alone.history.offsets = at::tensor(std::vector<int64_t>{0, end - begin}, at::kLong);
    alone.events = batch.events.slice(0, begin, end);
    alone.age = batch.age.slice(0, begin, end);
    const at::Tensor difference = network->forward(alone, pass)[0] - all[row];
    EXPECT_LT(difference.abs().max().item<double>(), 1e-10) << "row " << row;
  }
}

TEST_P(EachNetwork, DerivativesReachAllWeightsAndAgreeWithFiniteDifferences) {
  const auto network = make(text(), at::kDouble);
  const SampleBatch sample(9);
  const TensorBatch batch =
      make_batch(sample.view(), network->inputs(), network->tables()).value().to(at::kDouble);
  Pass pass;
  weighted(network->forward(batch, pass)).backward();

  const auto loss = [&] {
    const at::NoGradGuard still;
    Pass again;
    return weighted(network->forward(batch, again)).item<double>();
  };
  // At the largest derivative of each tensor, so that a missing or doubled path is seen.
  const auto check = [&](const std::string& name, at::Tensor weight, const at::Tensor& gradient) {
    const at::NoGradGuard still;
    const auto at = gradient.abs().flatten().argmax().item<int64_t>();
    const double expected = gradient.flatten()[at].item<double>();
    EXPECT_GT(std::abs(expected), 1e-12) << name << " has no derivative";
    at::Tensor entry = weight.view({-1})[at];
    const double value = entry.item<double>(), step = 1e-5;
    entry.fill_(value + step);
    const double above = loss();
    entry.fill_(value - step);
    const double below = loss();
    entry.fill_(value);
    EXPECT_NEAR((above - below) / (2 * step), expected, 1e-5 * (0.01 + std::abs(expected))) << name;
  };
  for (const auto& [name, value] : network->parameters().all()) {
    ASSERT_TRUE(value.grad().defined()) << name;
    check(name, value.detach(), value.grad());
  }
  // The look-ups together give the derivative of the table.
  at::Tensor& table = network->tables().weight();
  at::Tensor gradient = at::zeros_like(table);
  for (const Lookup& lookup : pass.lookups)
    gradient.index_add_(0, lookup.rows.flatten(), lookup.gradient());
  EXPECT_EQ(gradient[0].abs().max().item<double>(), 0) << "padding has a derivative";
  check("tables", table, gradient);
}

TEST_P(EachNetwork, WorksWithoutSequencesAndWithoutDenseColumns) {
  NetworkInputs inputs = sample_inputs();
  inputs.sequence = {};
  inputs.dense_columns = 0;
  inputs.dense_groups = {};
  const auto network = make(text(), at::kFloat, inputs);
  BatchView view;
  const SampleBatch sample(4);
  view.rows = 4;
  view.categorical = sample.categorical;
  const TensorBatch batch = make_batch(view, inputs, network->tables()).value();
  Pass pass;
  EXPECT_EQ(network->forward(batch, pass).sizes(), at::IntArrayRef({4, 2, 3}));
}

TEST_P(EachNetwork, TheSameSeedGivesTheSameNetworkAndWorkIsCounted) {
  const auto a = make(text()), b = make(text());
  ASSERT_EQ(a->parameters().all().size(), b->parameters().all().size());
  for (size_t i = 0; i < a->parameters().all().size(); ++i)
    EXPECT_TRUE(a->parameters().all()[i].value.equal(b->parameters().all()[i].value));
  EXPECT_TRUE(a->tables().weight().equal(b->tables().weight()));
  EXPECT_GT(flops_per_sample(*a), 1000);
  EXPECT_EQ(table_parameters(*a), (1 + 11 + 23 + 5) * 8u);
}

TEST_P(EachNetwork, AnUnknownKeyIsRefused) {
  EXPECT_NE(refusal(text() + "wdith: 9\n").find("wdith"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachNetwork, testing::ValuesIn(network_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST(Networks, AnUnknownKindIsRefusedWithTheKnownOnes) {
  EXPECT_NE(refusal("kind: mpl\n").find("mlp"), std::string::npos);
  EXPECT_NE(refusal("width: 8\n").find("kind"), std::string::npos);
  EXPECT_NE(refusal("kind: mlp\nhidden: [64, 0]\n").find("0"), std::string::npos);
}

TEST(Networks, UseAllCoresUnlessToldOtherwise) {
  EXPECT_EQ(refusal("kind: mlp"), "");
  if (const char* wanted = std::getenv("OMP_NUM_THREADS")) {
    EXPECT_EQ(at::get_num_threads(), std::atoi(wanted));
  } else {
    EXPECT_EQ(at::get_num_threads(), static_cast<int>(std::thread::hardware_concurrency()));
  }
}

// By hand: three dense groups (2, 2, 1 columns, doubled by their presence) of hidden width 8 to a
// token of 8; six events of two columns of 8 and 32 gap buckets to 8; then (3 + 3 + 1) * 8 = 56 to
// 16, heads 16 to 4 to 1 and 3 logits. Two operations for each multiply-add.
TEST(Networks, OperationsAndParametersOfTheMlpAreThoseCountedByHand) {
  const auto network = make("{kind: mlp, width: 8, hidden: 16, head: 4}");
  const double groups = (4 * 8 + 8 * 8) + (4 * 8 + 8 * 8) + (2 * 8 + 8 * 8);
  const double events = (2 * 8 + 32) * 8, layers = 56 * 16, heads = 2 * 16 * 4 + 4 * 1 + 4 * 3;
  EXPECT_EQ(flops_per_sample(*network), 2 * (groups + 6 * events + layers + heads));
  const double gains = 3 * 8 + 16 + 2 * 4, offsets = 1 + 3;
  EXPECT_EQ(dense_parameters(*network),
            static_cast<uint64_t>(groups + events + layers + heads + gains + offsets));
}

at::Tensor sample_tensor(at::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return at::arange(count, at::kDouble).mul(0.77).add(0.3).sin().view(shape);
}

TEST(Dlrm, MultipliesEachPairOfTokens) {
  const at::Tensor x = sample_tensor({2, 4, 3});
  Pass pass;
  const at::Tensor pairs = pairwise_products(x, pass);
  ASSERT_EQ(pairs.sizes(), at::IntArrayRef({2, 6}));
  const auto a = x.accessor<double, 3>();
  for (int64_t row = 0; row < 2; ++row) {
    int64_t place = 0;
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < i; ++j) {
        double sum = 0;
        for (int64_t c = 0; c < 3; ++c) sum += a[row][i][c] * a[row][j][c];
        EXPECT_NEAR(pairs[row][place++].item<double>(), sum, 1e-12);
      }
  }
  EXPECT_EQ(pass.flops, 2 * 6 * 2 * 3);
}

TEST(Dcn, ACrossLayerIsTheInputTimesAMapPlusItself) {
  for (const int64_t rank : {0, 2}) {
    Parameters parameters(3, at::kDouble);
    const CrossLayer layer({parameters, "c"}, 4, rank);
    at::Tensor map = parameters.all()[0].value;
    if (rank > 0) map = at::mm(map, parameters.all()[1].value);
    const at::Tensor first = sample_tensor({3, 4}), x = sample_tensor({6, 4}).slice(0, 3);
    Pass pass;
    const at::Tensor y = layer(first, x, pass);
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t j = 0; j < 4; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < 4; ++i) sum += x[row][i].item<double>() * map[i][j].item<double>();
        EXPECT_NEAR(y[row][j].item<double>(),
                    first[row][j].item<double>() * sum + x[row][j].item<double>(), 1e-12);
      }
  }
}

TEST(Experts, AGateMixesExpertsBySoftmax) {
  const at::Tensor experts = sample_tensor({2, 3, 4}), gate = sample_tensor({2, 3}) * 2;
  Pass pass;
  const at::Tensor mixed = gated_mean(experts, gate, pass);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t c = 0; c < 4; ++c) {
      double total = 0, sum = 0;
      for (int64_t e = 0; e < 3; ++e) {
        const double share = std::exp(gate[row][e].item<double>());
        total += share;
        sum += share * experts[row][e][c].item<double>();
      }
      EXPECT_NEAR(mixed[row][c].item<double>(), sum / total, 1e-12);
    }
}

TEST(Interformer, EventsGoThroughTheMatrixOfTheirRow) {
  const Segments segments{at::tensor(std::vector<int64_t>{0, 2, 2, 5}, at::kLong)};
  const at::Tensor events = sample_tensor({5, 2}), matrices = sample_tensor({3, 2, 2});
  Pass pass;
  const at::Tensor y = personal_product(events, matrices, segments, pass);
  const int64_t row_of[] = {0, 0, 2, 2, 2};
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t j = 0; j < 2; ++j)
      EXPECT_NEAR(y[t][j].item<double>(),
                  events[t][0].item<double>() * matrices[row_of[t]][0][j].item<double>() +
                      events[t][1].item<double>() * matrices[row_of[t]][1][j].item<double>(),
                  1e-12);
}

// Copies of untied weights start equal, so the network starts as the tied one; after one of them
// has moved, only rows of its group see it. Domains feed and search are group 0, reels group 1.
TEST(Lattice, UntiedWeightsAreSeenByTheirGroupOnly) {
  const auto network = make("{kind: lattice, width: 8, layers: 2}", at::kDouble);
  const at::NoGradGuard still;
  const SampleBatch sample(12);
  const TensorBatch batch =
      make_batch(sample.view(), network->inputs(), network->tables()).value().to(at::kDouble);
  Pass pass;
  const at::Tensor before = network->forward(batch, pass);
  const auto tied = make("{kind: lattice, width: 8, layers: 2, untie: false}", at::kDouble);
  EXPECT_LT((tied->forward(batch, pass) - before).abs().max().item<double>(), 1e-10);
  size_t untied = 0;
  for (const auto& [name, value] : network->parameters().all())
    if (value.dim() == 3 && value.size(0) == 2) {
      value.detach()[1].mul_(1.5);
      ++untied;
    }
  EXPECT_EQ(untied, 2 * 3u) << "two layers: the feed-forward's two matrices and the FMB's last";
  const at::Tensor moved = (network->forward(batch, pass) - before).abs().amax({1, 2});
  for (int64_t row = 0; row < 12; ++row) {
    const double difference = moved[row].item<double>();
    const bool in_group = row % 3 == 1;
    EXPECT_EQ(difference > 1e-4, in_group) << row << " moved by " << difference;
    EXPECT_EQ(difference < 1e-10, !in_group) << row << " moved by " << difference;
  }
}

TEST(Lattice, EveryPolicyForHistoriesAndEveryOptionBuilds) {
  const SampleBatch sample(6);
  for (const std::string option :
       {"sequence: all", "sequence: summary", "sequence: mean", "cross_tokens: 4",
        "context_tokens: 0", "fm_hidden: []", "head: []", "heads: 4", "layers: 1"}) {
    const auto network = make("{kind: lattice, width: 8, " + option + "}");
    const TensorBatch batch =
        make_batch(sample.view(), network->inputs(), network->tables()).value();
    Pass pass;
    const at::Tensor logits = network->forward(batch, pass);
    EXPECT_TRUE(at::isfinite(logits).all().item<bool>()) << option;
  }
  EXPECT_NE(refusal("{kind: lattice, width: 10, heads: 4}").find("heads"), std::string::npos);
  EXPECT_NE(refusal("{kind: lattice, sequence: most}").find("summary"), std::string::npos);
  const auto strict = make("{kind: lattice, width: 8, offset: false}");
  for (const auto& named : strict->parameters().all())
    EXPECT_EQ(named.name.find("offset"), std::string::npos) << named.name;
}

TEST(Batch, LabelsCountWhereTheyAreKnownAndOwned) {
  const auto network = make("{kind: mlp, width: 8}");
  const SampleBatch sample(12);
  const TensorBatch batch = make_batch(sample.view(), network->inputs(), network->tables()).value();
  for (size_t i = 0; i < 12; ++i) {
    const auto row = static_cast<int64_t>(i);
    // click reads label column 1, buy column 0; search (domain 2) does not own buy.
    const bool click = sample.known[2 * i + 1] != 0;
    const bool buy = sample.known[2 * i] != 0 && i % 3 != 2;
    EXPECT_EQ(batch.known[row][0].item<float>(), click);
    EXPECT_EQ(batch.known[row][1].item<float>(), buy);
    EXPECT_EQ(batch.label[row][0].item<float>(), click ? sample.label[2 * i + 1] : 0);
    EXPECT_EQ(batch.label[row][1].item<float>(), buy ? sample.label[2 * i] : 0);
    EXPECT_EQ(batch.window[row][0].item<int64_t>(), 0);
    EXPECT_EQ(batch.window[row][1].item<int64_t>(), buy ? sample.window[i] : 0);
    EXPECT_EQ(batch.group[row].item<int64_t>(), i % 3 == 1 ? 1 : 0);
    // Tables of 11, 23 and 5 rows behind the padding row.
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t first[] = {1, 12, 35};
      const int32_t id = sample.categorical[static_cast<size_t>(c) * 12 + i];
      EXPECT_EQ(batch.categorical[row][c].item<int64_t>(), id == 0 ? 0 : first[c] + id);
    }
  }
}

TEST(Batch, WhatDoesNotFitTheNetworkIsRefused) {
  const auto network = make("{kind: mlp, width: 8}");
  const auto failure = [&](auto&& spoil) {
    SampleBatch sample(6);
    spoil(sample);
    const auto made = make_batch(sample.view(), network->inputs(), network->tables());
    return made.ok() ? "" : made.error().message();
  };
  EXPECT_EQ(failure([](SampleBatch&) {}), "");
  EXPECT_NE(failure([](auto& s) { s.categorical[7] = 23; }).find("column item, id 23"),
            std::string::npos);
  EXPECT_NE(failure([](auto& s) { s.sequence.back() = -1; }).find("column place, id -1"),
            std::string::npos);
  EXPECT_NE(failure([](auto& s) { s.domain[2] = 3; }).find("no such domain"), std::string::npos);
  EXPECT_NE(failure([](auto& s) { s.dense.pop_back(); }).find("dense has 29"), std::string::npos);
  EXPECT_NE(failure([](auto& s) { s.offsets[3] = 99; }).find("sequence_offsets"),
            std::string::npos);
  EXPECT_NE(failure([](auto& s) {
              s.known.assign(12, 1);
              s.window.assign(6, 3);
            }).find("window beyond the task's: task buy"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
