// SPDX-License-Identifier: Apache-2.0

// Against hand arithmetic, an independent naive float64 loop, and central differences of that loop.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/mask.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

constexpr int64_t kHeads = 2, kDim = 64;

Task task(const char* name, int64_t tokens) {
  return *Catalogue::open("problems")->task(name, "", {{"B", 1}, {"H", kHeads}, {"S", tokens}});
}

// Element i of a token of a head, where every head has `tokens` tokens.
int64_t at(int64_t tokens, int64_t token, int64_t head, int64_t i) {
  return (head * tokens + token) * kDim + i;
}

// One query row, straight from the formula.
struct Row {
  double lse;
  std::vector<double> p, o;
};
Row naive_row(const std::vector<double>& q, const std::vector<double>& k,
              const std::vector<double>& v, int64_t tokens, int64_t head, int64_t row,
              bool causal) {
  const int64_t visible = causal ? row + 1 : tokens;
  Row out{0, std::vector<double>(tokens), std::vector<double>(kDim)};
  double sum = 0;
  for (int64_t j = 0; j < visible; ++j) {
    double dot = 0;
    for (int64_t i = 0; i < kDim; ++i)
      dot += q[at(tokens, row, head, i)] * k[at(tokens, j, head, i)];
    out.p[j] = std::exp(dot / 8.0);  // sqrt(64)
    sum += out.p[j];
  }
  out.lse = std::log(sum);
  for (int64_t j = 0; j < visible; ++j) {
    out.p[j] /= sum;
    for (int64_t i = 0; i < kDim; ++i) out.o[i] += out.p[j] * v[at(tokens, j, head, i)];
  }
  return out;
}

std::vector<double> wide(const Tensor& tensor) {
  const std::vector<float> values = to_float(tensor);
  return {values.begin(), values.end()};
}

void check_forward(const char* name, bool causal, int64_t tokens) {
  const Task forward = task(name, tokens);
  const auto inputs = *make_inputs(forward, 11, 0);
  const Expected expected = *reference(forward, inputs);
  const std::vector<double> q = wide(inputs[0]), k = wide(inputs[1]), v = wide(inputs[2]);
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t row = 0; row < tokens; ++row) {
      const Row want = naive_row(q, k, v, tokens, head, row, causal);
      EXPECT_NEAR(expected[1][head * tokens + row], want.lse, 1e-4);
      for (int64_t i = 0; i < kDim; ++i)
        EXPECT_NEAR(expected[0][at(tokens, row, head, i)], want.o[i], 1e-4);
    }
  }
}

TEST(AttentionForward, AgreesWithANaiveLoop) {
  check_forward("mha_with_lse_d64", false, 150);
}
TEST(AttentionForward, AgreesWithANaiveLoopWhenCausal) {
  check_forward("mha_with_lse_d64_causal", true, 150);
}

TEST(AttentionForward, OfZeroScoresIsTheMean) {
  const Task forward = task("mha_with_lse_d64", 4);
  auto inputs = *make_inputs(forward, 1, 0);
  std::fill(inputs[0].bytes.begin(), inputs[0].bytes.end(), std::byte{0});
  const Expected expected = *reference(forward, inputs);
  const std::vector<float> v = to_float(inputs[2]);
  EXPECT_NEAR(expected[1][0], std::log(4.0), 1e-6);
  EXPECT_NEAR(expected[0][at(4, 2, 1, 5)],
              (v[at(4, 0, 1, 5)] + v[at(4, 1, 1, 5)] + v[at(4, 2, 1, 5)] + v[at(4, 3, 1, 5)]) / 4,
              1e-5);
}

// The loss is the sum of o times do, so its derivative by an element of q, k or v is what the
// backward pass returns. Central differences of the naive forward in float64 with a step of 1e-5
// are good to about 1e-8; what remains is that the sum of dO times O uses o rounded to bfloat16
// (2^-9 relative).
void check_backward(const char* name, bool causal) {
  constexpr int64_t kTokens = 6;
  const Task backward = task(name, kTokens);
  const auto inputs = *make_inputs(backward, 13, 0);
  const Expected expected = *reference(backward, inputs);
  std::vector<double> qkv[3] = {wide(inputs[0]), wide(inputs[1]), wide(inputs[2])};
  const std::vector<double> grad = wide(inputs[4]);
  const auto loss = [&] {
    double sum = 0;
    for (int64_t head = 0; head < kHeads; ++head) {
      for (int64_t row = 0; row < kTokens; ++row) {
        const Row out = naive_row(qkv[0], qkv[1], qkv[2], kTokens, head, row, causal);
        for (int64_t i = 0; i < kDim; ++i) sum += out.o[i] * grad[at(kTokens, row, head, i)];
      }
    }
    return sum;
  };
  for (int tensor = 0; tensor < 3; ++tensor) {
    for (int64_t index = 3; index < kTokens * kHeads * kDim; index += 37) {
      double& x = qkv[tensor][index];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = loss();
      x = before - step;
      const double below = loss();
      x = before;
      EXPECT_NEAR(expected[tensor][index], (above - below) / (2 * step), 0.03)
          << "tensor " << tensor << " at " << index;
    }
  }
}

TEST(AttentionBackward, AgreesWithCentralDifferences) {
  check_backward("mha_bwd_d64", false);
}
TEST(AttentionBackward, AgreesWithCentralDifferencesWhenCausal) {
  check_backward("mha_bwd_d64_causal", true);
}

// Blocks of queries must add up: more tokens than one block, against the formula on the stored
// L.
TEST(AttentionBackward, AddsUpBlocksOfQueries) {
  constexpr int64_t kTokens = 200;
  const Task backward = task("mha_bwd_d64_causal", kTokens);
  const auto inputs = *make_inputs(backward, 17, 0);
  const Expected expected = *reference(backward, inputs);
  const std::vector<double> q = wide(inputs[0]), k = wide(inputs[1]), grad = wide(inputs[4]),
                            lse = wide(inputs[5]);
  const int64_t head = 1, key = 40;
  std::vector<double> dv(kDim);
  for (int64_t row = key; row < kTokens; ++row) {
    double dot = 0;
    for (int64_t i = 0; i < kDim; ++i)
      dot += q[at(kTokens, row, head, i)] * k[at(kTokens, key, head, i)];
    const double p = std::exp(dot / 8.0 - lse[head * kTokens + row]);
    for (int64_t i = 0; i < kDim; ++i) dv[i] += p * grad[at(kTokens, row, head, i)];
  }
  for (int64_t i = 0; i < kDim; ++i)
    EXPECT_NEAR(expected[2][at(kTokens, key, head, i)], dv[i], 1e-3);
}

// End-aligned causal attention, by hand: with two more queries than keys the first two see nothing,
// the third sees key 0 only. With two keys more than queries the first query sees three keys.
TEST(AttentionForward, AlignsQueriesWithTheEndOfTheKeys) {
  const auto lengths = [](int64_t queries, int64_t keys) {
    return *Catalogue::open("problems")
                ->task("mha_with_lse_qk_d64_causal", "",
                       {{"B", 1}, {"H", 1}, {"Sq", queries}, {"Sk", keys}});
  };
  const Task more_queries = lengths(5, 3);
  auto inputs = *make_inputs(more_queries, 5, 0);
  const std::vector<float> v = to_float(inputs[2]);
  const Expected expected = *reference(more_queries, inputs);
  const Mask mask = *mask_of(more_queries, more_queries.definition.outputs[1]);
  EXPECT_EQ(mask, (Mask{1, 1, 0, 0, 0}));
  EXPECT_TRUE(
      check_finite(more_queries, more_queries.definition.outputs[1], expected[1], mask).ok());
  EXPECT_FALSE(
      check_finite(more_queries, more_queries.definition.outputs[1], expected[1], {}).ok());
  for (int64_t i = 0; i < kDim; ++i) {
    EXPECT_EQ(expected[0][i], 0.0f);
    EXPECT_EQ(expected[0][kDim + i], 0.0f);
    EXPECT_FLOAT_EQ(expected[0][2 * kDim + i], v[i]);
  }
  const Task more_keys = lengths(2, 4);
  inputs = *make_inputs(more_keys, 5, 0);
  std::fill(inputs[0].bytes.begin(), inputs[0].bytes.end(), std::byte{0});
  EXPECT_NEAR((*reference(more_keys, inputs))[1][0], std::log(3.0), 1e-6);
  EXPECT_EQ(floating_point_operations(more_queries), 4.0 * (1 + 2 + 3) * kDim);
  EXPECT_EQ(floating_point_operations(more_keys), 4.0 * (3 + 4) * kDim);
}

TEST(Attention, InFloat64AgreesWithFloat32) {
  for (const char* name : {"mha_with_lse_d64_causal", "mha_bwd_d64"}) {
    const Task small = task(name, 140);
    const auto inputs = *make_inputs(small, 19, 0);
    const Expected narrow = *reference(small, inputs),
                   wide = *reference(small, inputs, Sums::Float64);
    for (size_t output = 0; output < narrow.size(); ++output) {
      for (size_t i = 0; i < narrow[output].size(); i += 11)
        EXPECT_NEAR(narrow[output][i], wide[output][i], 1e-3 * (1 + std::abs(wide[output][i])));
    }
  }
}

TEST(Attention, RefusesWhatDoesNotFitInMemory) {
  const Task huge = task("mha_with_lse_d64", int64_t{1} << 25);
  const Result<Expected> refused = reference(huge, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(format(refused.error()).find("GiB"), std::string::npos);
}

TEST(Attention, CountsVisiblePairs) {
  EXPECT_EQ(floating_point_operations(task("mha_with_lse_d64", 4)), 4.0 * 16 * kHeads * kDim);
  EXPECT_EQ(floating_point_operations(task("mha_bwd_d64_causal", 4)), 10.0 * 10 * kHeads * kDim);
}

}  // namespace
}  // namespace weft::problems
