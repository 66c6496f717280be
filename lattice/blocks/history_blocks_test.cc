// SPDX-License-Identifier: Apache-2.0

// Blocks that work on histories, which may be empty, against scalar_reference.h: values from loops
// written apart from them, derivatives from finite differences in float64. The fp32 loops are
// compared with the tensor operations.
#include <gtest/gtest.h>

#include "lattice/blocks/attention.h"
#include "lattice/blocks/scalar_reference.h"
#include "lattice/blocks/segments.h"
#include "lattice/blocks/sequence_summary.h"
#include "lattice/blocks/transformer_block.h"

namespace weft::lattice {
namespace {

using namespace reference;

TEST(Segments, PaddingAndMeansLeaveEmptyHistoriesZero) {
  const Segments segments = segments_of({0, 3, 1, 0, 2});
  const at::Tensor x = numbers({6, 2}).requires_grad_(true);
  const at::Tensor padded = pad(x, segments);
  EXPECT_EQ(padded.sizes(), at::IntArrayRef({5, 3, 2}));
  Matrix expected(15, Row(2)), means(5, Row(2));
  for_each_history(segments, [&](size_t row, size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      expected[row * 3 + t - begin] = matrix(x)[t];
      for (size_t c = 0; c < 2; ++c)
        means[row][c] += matrix(x)[t][c] / static_cast<double>(end - begin);
    }
  });
  expect_near(padded, expected, 0);
  expect_near(unpad(padded, segments), matrix(x), 0);
  expect_near(segment_mean(x, segments), means, 1e-12);
  expect_derivatives([&] { return pad(x, segments); }, {x});
  expect_derivatives([&] { return unpad(pad(x * 2, segments), segments); }, {x});
  expect_derivatives([&] { return segment_mean(x, segments); }, {x});
}

TEST(Attention, BothWaysAreTheFormulaAndSurviveEmptyHistories) {
  // Nine events: one more than the lanes of the loops.
  const Segments segments = segments_of({0, 9, 1, 0, 4});
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const at::Tensor qkv = numbers({14, 36}, 0.3, type);
    const AttentionGains gains{numbers({12}, 0.5, type) + 1, numbers({12}, 0.8, type) + 1};
    Matrix expected;
    for_each_history(segments, [&](size_t, size_t begin, size_t end) {
      for (const Row& row :
           attend(part(matrix(qkv), begin, end), matrix(gains.q)[0], matrix(gains.k)[0], 2))
        expected.push_back(row);
    });
    Pass pass;
    expect_near(attention(qkv, gains, 2, segments, pass), expected,
                type == at::kDouble ? 1e-12 : 3e-6);
    EXPECT_EQ(pass.flops, 4 * 12 * (81 + 1 + 16));
  }
  Pass pass;
  const AttentionGains gains{at::ones({12}), at::ones({12})};
  EXPECT_EQ(attention(at::zeros({0, 36}), gains, 2, segments_of({0, 0}), pass).size(0), 0);
}

TEST(Attention, DerivativesAgreeWithFiniteDifferencesAndBothWaysWithEachOther) {
  const Segments segments = segments_of({0, 9, 1, 0, 4});
  const at::Tensor qkv = numbers({14, 36}).requires_grad_(true);
  const AttentionGains gains{(numbers({12}, 0.5) + 1).requires_grad_(true),
                             (numbers({12}, 0.8) + 1).requires_grad_(true)};
  Pass pass;
  expect_derivatives([&] { return attention(qkv, gains, 2, segments, pass); },
                     {qkv, gains.q, gains.k});
  const auto single = [](const at::Tensor& x) {
    return x.detach().to(at::kFloat).requires_grad_(true);
  };
  const at::Tensor qkv32 = single(qkv);
  const AttentionGains gains32{single(gains.q), single(gains.k)};
  weighted_sum(attention(qkv32, gains32, 2, segments, pass)).backward();
  expect_near(qkv32.grad(), matrix(qkv.grad()), 1e-5, "qkv");
  expect_near(gains32.q.grad(), matrix(gains.q.grad()), 1e-5, "gain q");
  expect_near(gains32.k.grad(), matrix(gains.k.grad()), 1e-5, "gain k");
}

TEST(TransformerBlock, IsAttentionAndAFeedForwardOfTheGroup) {
  Parameters parameters(5, at::kDouble);
  const TransformerBlock block({parameters, "t"},
                               {.width = 8, .heads = 2, .hidden = 10, .groups = 2});
  stir(parameters);
  const Segments segments = segments_of({3, 0, 2, 0, 4});
  const std::vector<int64_t> sizes = token_sizes({2, 3}, segments);  // of tokens: 3 and 6
  const at::Tensor x = numbers({9, 8}).requires_grad_(true);
  const auto w = [&](const std::string& name) { return matrix(weight(parameters, "t." + name)); };
  Matrix expected;
  for_each_history(segments, [&](size_t row, size_t begin, size_t end) {
    const Matrix events = part(matrix(x), begin, end);
    Matrix qkv;
    for (const Row& event : events)
      qkv.push_back(times(norm(event, w("before_attention.gain")[0]), w("qkv.weight")));
    const Matrix mixed = attend(qkv, w("gain_q")[0], w("gain_k")[0], 2);
    const size_t g = row < 2 ? 0 : 1;
    for (size_t t = 0; t < events.size(); ++t) {
      const Row y = plus(events[t], times(mixed[t], w("out.weight")));
      const Row first =
          times(norm(y, w("before_feed.gain")[0]), part(w("first.weight"), 8 * g, 8 * g + 8));
      const Row hidden = swish(norm(first, w("feed_norm.gain")[0]));
      expected.push_back(plus(y, times(hidden, part(w("second.weight"), 10 * g, 10 * g + 10))));
    }
  });
  Pass pass;
  expect_near(block(x, segments, sizes, pass), expected, 1e-12);
  EXPECT_EQ(pass.flops, 2 * 9 * (8 * 24 + 8 * 8 + 2 * 8 * 10) + 4 * 8 * (9 + 4 + 16));
  expect_derivatives([&] { return block(x, segments, sizes, pass); }, leaves(parameters, {x}));
}

TEST(SequenceSummary, EveryPolicyGivesAFixedNumberOfTokensAndZerosForNothing) {
  const Segments segments = segments_of({2, 0, 5, 1});
  const at::Tensor x = numbers({8, 4}).requires_grad_(true);
  Pass pass;
  // The three newest, the newest last.
  Matrix expected(12, Row(4));
  for_each_history(segments, [&](size_t row, size_t begin, size_t end) {
    for (size_t i = 0; i < 3 && i < end - begin; ++i)
      expected[3 * row + 2 - i] = matrix(x)[end - 1 - i];
  });
  expect_near(newest(x, segments, 3), expected, 0);
  expect_derivatives([&] { return newest(x, segments, 3); }, {x});

  Parameters parameters(5, at::kDouble);
  const SequenceSummary all({parameters, "all"},
                            {.policy = SequencePolicy::All, .width = 4, .length = 5});
  const SequenceSummary mean({parameters, "mean"}, {.policy = SequencePolicy::Mean, .width = 4});
  expect_near(all(x, segments, pass), matrix(newest(x, segments, 5)), 0);
  expect_near(mean(x, segments, pass), matrix(segment_mean(x, segments)), 0);

  const SequenceSummary summary({parameters, "s"}, {.policy = SequencePolicy::Summary,
                                                    .width = 4,
                                                    .length = 5,
                                                    .heads = 2,
                                                    .queries = 3,
                                                    .recent = 2});
  stir(parameters);
  const auto w = [&](const std::string& name) { return matrix(weight(parameters, "s." + name)); };
  const Matrix recent = matrix(newest(x, segments, 2));
  expected.clear();
  for_each_history(segments, [&](size_t row, size_t begin, size_t end) {
    Matrix tokens(3, Row(4));
    for (size_t q = 0; q < 3; ++q)
      for (size_t h = 0; h < 2; ++h) {
        if (begin == end) continue;
        Row score;
        for (size_t t = begin; t < end; ++t) {
          const Row key = times(matrix(x)[t], w("key_value.weight"));
          double sum = 0;
          for (size_t i = 0; i < 2; ++i) sum += key[2 * h + i] * w("queries")[2 * h + i][q];
          score.push_back(sum);
        }
        const Row share = softmax(score);
        for (size_t t = begin; t < end; ++t)
          for (size_t i = 0; i < 2; ++i)
            tokens[q][2 * h + i] +=
                share[t - begin] * times(matrix(x)[t], w("key_value.weight"))[4 + 2 * h + i];
      }
    for (size_t i = 0; i < 2; ++i) tokens.push_back(recent[2 * row + i]);
    for (const Row& token : tokens) {
      Row gated = times(token, w("gate.weight"));
      for (size_t c = 0; c < 4; ++c) gated[c] *= token[c];
      expected.push_back(plus(token, gated));
    }
  });
  const at::Tensor made = summary(x, segments, pass);
  EXPECT_EQ(made.sizes(), at::IntArrayRef({4, 5, 4}));
  expect_near(made, expected, 1e-12);
  EXPECT_EQ(made[1].abs().max().item<double>(), 0);
  expect_derivatives([&] { return summary(x, segments, pass); }, leaves(parameters, {x}));
  const at::Tensor nothing = summary(x.slice(0, 0, 0), segments_of({0, 0}), pass);
  EXPECT_EQ(nothing.sizes(), at::IntArrayRef({2, 5, 4}));
}

}  // namespace
}  // namespace weft::lattice
