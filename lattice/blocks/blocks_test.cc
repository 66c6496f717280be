// SPDX-License-Identifier: Apache-2.0

// Blocks that work on a row each, against scalar_reference.h: values from loops written apart from
// them, derivatives from finite differences in float64. The fp32 loops are compared with the tensor
// operations.
#include <gtest/gtest.h>

#include "lattice/blocks/context_store.h"
#include "lattice/blocks/dense_tokens.h"
#include "lattice/blocks/embedding_table.h"
#include "lattice/blocks/event_tokens.h"
#include "lattice/blocks/fusion_block.h"
#include "lattice/blocks/scalar_reference.h"
#include "lattice/blocks/swish.h"
#include "lattice/blocks/task_heads.h"
#include "lattice/blocks/token_mix.h"
#include "lattice/blocks/untied.h"

namespace weft::lattice {
namespace {

using namespace reference;

TEST(Swish, ExpIsWithinTwoUnitsInTheLastPlace) {
  for (float x = -86; x < 87; x += 0.0137f)
    EXPECT_NEAR(fast_exp(x) / std::exp(double{x}), 1, 2.4e-7) << x;
  EXPECT_NEAR(logistic(0), 0.5, 1e-7);
  EXPECT_EQ(logistic(200), 1);
  EXPECT_LT(logistic(-200), 1e-30);
}

TEST(Norm, ValuesAreThoseOfTheFormulaInBothWays) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const double tolerance = type == at::kDouble ? 1e-12 : 2e-6;
    const at::Tensor x = numbers({5, 19}, 0.3, type) * 3, gain = numbers({19}, 0.9, type);
    Matrix plain, swished;
    for (const Row& row : matrix(x)) {
      plain.push_back(norm(row, matrix(gain)[0]));
      swished.push_back(swish(plain.back()));
    }
    expect_near(rms_norm(x, gain), plain, tolerance);
    expect_near(swish_rms_norm(x, gain), swished, tolerance);
    const at::Tensor zero = at::zeros({2, 19}, type);
    EXPECT_EQ(swish_rms_norm(zero, gain).abs().max().item<double>(), 0);
  }
}

TEST(Norm, DerivativesAgreeWithFiniteDifferencesAndBothWaysWithEachOther) {
  // 40 rows: more than the parts in which the loops sum the gain's derivative.
  const at::Tensor x = numbers({40, 13}).requires_grad_(true);
  const at::Tensor gain = numbers({13}, 0.9).requires_grad_(true);
  const at::Tensor x32 = x.detach().to(at::kFloat).requires_grad_(true);
  const at::Tensor gain32 = gain.detach().to(at::kFloat).requires_grad_(true);
  for (const auto& f : {rms_norm, swish_rms_norm}) {
    expect_derivatives([&] { return f(x, gain); }, {x, gain});
    x32.mutable_grad() = at::Tensor();
    gain32.mutable_grad() = at::Tensor();
    weighted_sum(f(x32, gain32)).backward();
    expect_near(x32.grad(), matrix(x.grad()), 1e-5);
    expect_near(gain32.grad(), matrix(gain.grad()), 1e-5);
  }
}

TEST(Linear, ProductsAreCountedAndBf16IsNear) {
  Parameters parameters(1);
  const Linear linear({parameters, "a"}, 6, 4);
  const at::Tensor x = numbers({2, 3, 6}, 0.3, at::kFloat);
  Pass pass, half;
  half.precision = Precision::Bf16;
  Matrix expected;
  for (const Row& row : matrix(x))
    expected.push_back(times(row, matrix(weight(parameters, "a.weight"))));
  const at::Tensor y = linear(x, pass);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({2, 3, 4}));
  expect_near(y, expected, 1e-6);
  EXPECT_EQ(pass.flops, 2 * 6 * 6 * 4);
  // bf16 has 8 significant bits.
  expect_near(linear(x, half), expected, 0.02);
  EXPECT_EQ(linear(x, half).scalar_type(), at::kFloat);
}

TEST(EmbeddingTable, LookUpsKeepTheDerivativeOfWhatWasRead) {
  EmbeddingTable table({4, 3}, 5, 9);
  EXPECT_EQ(table.first(0), 1);
  EXPECT_EQ(table.first(1), 5);
  EXPECT_EQ(table.weight().sizes(), at::IntArrayRef({8, 5}));
  Lookups lookups;
  const at::Tensor rows = at::tensor(std::vector<int64_t>{3, 0, 7, 3}, at::kLong).view({2, 2});
  const at::Tensor values = table.look_up(rows, lookups);
  EXPECT_TRUE(values[1][0].equal(table.weight()[7]));
  EXPECT_EQ(values[0][1].abs().max().item<float>(), 0);
  (values * numbers({2, 2, 5}, 0.2, at::kFloat)).sum().backward();
  Matrix expected = matrix(numbers({4, 5}, 0.2, at::kFloat));
  expected[1] = Row(5);  // padding
  ASSERT_EQ(lookups.size(), 1u);
  expect_near(lookups[0].gradient(), expected, 1e-6);
}

TEST(DenseTokens, UnknownValuesDifferFromZerosAndAnUnknownGroupIsAZeroToken) {
  Parameters parameters(3, at::kDouble);
  const DenseTokens dense({parameters, "d"},
                          {.groups = {{2, 0}, {1}}, .width = 4, .hidden = 5, .tokens = 2});
  stir(parameters);
  at::Tensor values = numbers({4, 3}), present = at::ones({4, 3}, at::kDouble);
  present[1][0].zero_();
  present[2].zero_();
  values[3][0].zero_();
  values[1][0].fill_(std::nan(""));  // whatever is left in place of an unknown value
  const size_t columns[2][2] = {{2, 0}, {1, 1}};
  Matrix expected;
  for (size_t row = 0; row < 4; ++row)
    for (size_t g = 0; g < 2; ++g) {
      const std::string name = "d.group" + std::to_string(g);
      Row in;
      const size_t count = 2 - g;
      for (size_t c = 0; c < count; ++c) {
        const bool known = matrix(present)[row][columns[g][c]] > 0;
        in.push_back(known ? matrix(values)[row][columns[g][c]] : 0);
      }
      for (size_t c = 0; c < count; ++c) in.push_back(matrix(present)[row][columns[g][c]]);
      const Row hidden = swish(norm(times(in, matrix(weight(parameters, name + ".first.weight"))),
                                    matrix(weight(parameters, name + ".norm.gain"))[0]));
      const Row out = times(hidden, matrix(weight(parameters, name + ".second.weight")));
      expected.push_back({out.begin(), out.begin() + 4});
      expected.push_back({out.begin() + 4, out.end()});
    }
  Pass pass;
  const at::Tensor tokens = dense(values, present, pass);
  EXPECT_EQ(tokens.sizes(), at::IntArrayRef({4, 4, 4}));
  expect_near(tokens, expected, 1e-12);
  EXPECT_EQ(tokens[2].abs().max().item<double>(), 0);
  expect_derivatives([&] { return dense(values, present, pass); }, leaves(parameters));
}

TEST(EventTokens, GapsFallIntoDoublingBuckets) {
  const at::Tensor age =
      at::tensor(std::vector<double>{-5, 0, 0.9, 1, 2.9, 3, 6.5, 1e5, 1e12}, at::kDouble);
  const std::vector<int64_t> expected = {0, 0, 0, 1, 1, 2, 2, 16, 31};
  EXPECT_TRUE(gap_bucket(age).equal(at::tensor(expected, at::kLong)));

  Parameters parameters(3, at::kDouble);
  const EventTokens events({parameters, "e"}, 2, 3);
  const at::Tensor values = numbers({9, 2, 3}).requires_grad_(true);
  const Matrix map = matrix(weight(parameters, "e.map.weight"));
  Matrix tokens;
  for (size_t i = 0; i < 9; ++i) {
    Row token = times(flat(part(matrix(values), 2 * i, 2 * i + 2)), part(map, 0, 6));
    tokens.push_back(plus(token, map[6 + static_cast<size_t>(expected[i])]));
  }
  Pass pass;
  expect_near(events(values, age, pass), tokens, 1e-12);
  expect_derivatives([&] { return events(values, age, pass); }, leaves(parameters, {values}));
}

TEST(Untied, RowsAreSortedStablyAndMultipliedByTheirGroup) {
  const at::Tensor group = at::tensor(std::vector<int64_t>{2, 0, 2, 0, 3, 0}, at::kLong);
  const GroupOrder order = order_by_group(group, 4);
  EXPECT_EQ(order.size, (std::vector<int64_t>{3, 0, 2, 1}));
  EXPECT_TRUE(order.order.equal(at::tensor(std::vector<int64_t>{1, 3, 5, 0, 2, 4}, at::kLong)));
  EXPECT_TRUE(order.order.index_select(0, order.place).equal(at::arange(6, at::kLong)));
  EXPECT_EQ(token_sizes(order.size, segments_of({1, 2, 0, 4, 0, 3})),
            (std::vector<int64_t>{3, 0, 4, 3}));

  Parameters parameters(5, at::kDouble);
  const UntiedLinear linear({parameters, "u"}, 4, 3, 2);
  const at::Tensor weights = weight(parameters, "u.weight");
  EXPECT_TRUE(weights[0].equal(weights[3])) << "copies start equal";
  stir(parameters);
  const at::Tensor x = numbers({6, 3}).requires_grad_(true);
  Matrix expected;
  for (size_t i = 0; i < 6; ++i) {
    const size_t g = i < 3 ? 0 : i < 5 ? 2 : 3;
    expected.push_back(times(matrix(x)[i], part(matrix(weights), 3 * g, 3 * g + 3)));
  }
  Pass pass;
  expect_near(linear(x, order.size, pass), expected, 1e-12);
  EXPECT_EQ(pass.flops, 2 * 6 * 3 * 2);
  expect_derivatives([&] { return linear(x, order.size, pass); }, {x, weights});
  EXPECT_EQ(weights.grad()[1].abs().max().item<double>(), 0) << "a group without rows";
}

TEST(TokenMix, MixesAlongTheTokenAxisAndReadsTheContext) {
  Parameters parameters(5, at::kDouble);
  const ContextReader reader({parameters, "c"}, 5, 2);
  ContextStore store;
  const at::Tensor a = numbers({3, 2, 4}, 0.1).requires_grad_(true);
  const at::Tensor b = numbers({3, 3, 4}, 0.6).requires_grad_(true);
  store.put(a);
  store.put(b);
  Matrix expected;
  for (size_t row = 0; row < 3; ++row) {
    Matrix tokens = part(matrix(a), 2 * row, 2 * row + 2);
    for (const Row& token : part(matrix(b), 3 * row, 3 * row + 3)) tokens.push_back(token);
    for (const Row& token : mix(tokens, matrix(weight(parameters, "c.mix.weight"))))
      expected.push_back(token);
  }
  Pass pass;
  expect_near(reader(store, pass), expected, 1e-12);
  EXPECT_EQ(pass.flops, 2 * 3 * 5 * 2 * 4);
  expect_derivatives([&] { return reader(store, pass); }, leaves(parameters, {a, b}));
}

TEST(FusionBlock, IsFmbLcbCrossAndResidual) {
  Parameters parameters(5, at::kDouble);
  const FusionShape shape{.tokens = 5,
                          .width = 4,
                          .mixtures = 3,
                          .fm_tokens = 2,
                          .linear_tokens = 3,
                          .hidden = {6, 7},
                          .cross_tokens = 2,
                          .cross_rank = 3,
                          .groups = 2};
  const FusionBlock block({parameters, "f"}, shape);
  stir(parameters);
  const std::vector<int64_t> sizes = {1, 3};
  const at::Tensor x = numbers({4, 5, 4}).requires_grad_(true);
  const auto w = [&](const std::string& name) { return matrix(weight(parameters, "f." + name)); };
  Matrix expected;
  for (size_t row = 0; row < 4; ++row) {
    const Matrix tokens = part(matrix(x), 5 * row, 5 * row + 5);
    const Matrix mixed = mix(tokens, w("mix"));  // 3 of Y, 3 of LCB, 7 of the residual
    Row fm;
    for (const Row& token : tokens)
      for (size_t k = 0; k < 3; ++k) {
        double sum = 0;
        for (size_t c = 0; c < 4; ++c) sum += token[c] * mixed[k][c];
        fm.push_back(sum);
      }
    Row hidden = norm(fm, w("flat_norm.gain")[0]);
    for (const std::string layer : {"layer0", "layer1"})
      hidden = swish(norm(times(hidden, w(layer + ".weight")), w(layer + ".gain")[0]));
    const size_t g = row < 1 ? 0 : 1;
    const Row last = times(hidden, part(w("last.weight"), 7 * g, 7 * g + 7));
    Matrix members = {{last.begin(), last.begin() + 4}, {last.begin() + 4, last.end()}};
    for (size_t i = 3; i < 6; ++i) members.push_back(mixed[i]);
    const Row all = flat(tokens);
    const Row mapped = times(times(all, w("cross_down.weight")), w("cross_up.weight"));
    Matrix crossed = tokens;
    for (size_t i = 0; i < 20; ++i) crossed[i / 4][i % 4] *= mapped[i];
    for (const Row& token : mix(crossed, w("cross_mix"))) members.push_back(token);
    for (size_t i = 0; i < 7; ++i)
      expected.push_back(norm(plus(members[i], mixed[6 + i]), w("norm.gain")[0]));
  }
  Pass pass;
  const at::Tensor y = block(x, sizes, pass);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({4, 7, 4}));
  expect_near(y, expected, 1e-12);
  EXPECT_EQ(pass.flops,
            2 * 4 * (5 * 13 * 4 + 5 * 4 * 3 + 15 * 6 + 6 * 7 + 7 * 8 + 2 * 20 * 3 + 5 * 2 * 4));
  expect_derivatives([&] { return block(x, sizes, pass); }, leaves(parameters, {x}));
}

TEST(TaskHeads, EachTaskHasALogitForEachOfItsWindows) {
  Parameters parameters(5, at::kDouble);
  const TaskHeads heads(
      {parameters, "h"},
      {.in = 3, .tasks = {{"click", {0.25}}, {"buy", {0.01, 0.1}}}, .hidden = {4}});
  // logit(0.25) = -ln 3, logit(0.1) = -ln 9.
  EXPECT_NEAR(weight(parameters, "h.click.offset")[0].item<double>(), -std::log(3), 1e-12);
  EXPECT_NEAR(weight(parameters, "h.buy.offset")[1].item<double>(), -std::log(9), 1e-12);
  stir(parameters);
  const at::Tensor x = numbers({5, 3}).requires_grad_(true);
  Matrix expected, served;
  for (const Row& row : matrix(x)) {
    served.emplace_back();
    for (const std::string task : {"click", "buy"}) {
      const auto w = [&](const std::string& name) {
        return matrix(weight(parameters, "h." + task + name));
      };
      const Row hidden = swish(norm(times(row, w(".layer0.weight")), w(".layer0.gain")[0]));
      Row logits = plus(times(hidden, w(".logits.weight")), w(".offset")[0]);
      served.back().push_back(logits.back());
      logits.resize(2);
      expected.push_back(logits);
    }
  }
  Pass pass;
  const at::Tensor logits = heads(x, pass);
  EXPECT_EQ(logits.sizes(), at::IntArrayRef({5, 2, 2}));
  expect_near(logits, expected, 1e-12);
  expect_near(oracle_logits(logits, {1, 2}), served, 1e-12);
  expect_derivatives([&] { return heads(x, pass); }, leaves(parameters, {x}));
}

}  // namespace
}  // namespace weft::lattice
