// SPDX-License-Identifier: Apache-2.0

// Against hand arithmetic, an independent naive float64 loop, and central differences of that loop.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

constexpr int64_t kHeads = 2, kDim = 64;

Task task(const char* name, int64_t tokens) {
  return *Catalogue::open("problems")
              ->task(name, "", {{"batch", 1}, {"num_heads", kHeads}, {"seq_len", tokens}});
}

int64_t at(int64_t token, int64_t head, int64_t i) {
  return (token * kHeads + head) * kDim + i;
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
    for (int64_t i = 0; i < kDim; ++i) dot += q[at(row, head, i)] * k[at(j, head, i)];
    out.p[j] = std::exp(dot / 8.0);  // sqrt(64)
    sum += out.p[j];
  }
  out.lse = std::log(sum);
  for (int64_t j = 0; j < visible; ++j) {
    out.p[j] /= sum;
    for (int64_t i = 0; i < kDim; ++i) out.o[i] += out.p[j] * v[at(j, head, i)];
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
        EXPECT_NEAR(expected[0][at(row, head, i)], want.o[i], 1e-4);
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
  EXPECT_NEAR(expected[0][at(2, 1, 5)],
              (v[at(0, 1, 5)] + v[at(1, 1, 5)] + v[at(2, 1, 5)] + v[at(3, 1, 5)]) / 4, 1e-5);
}

// The loss is the sum of o times do, so its derivative by an element of q, k or v is what the
// backward pass returns. Central differences of the naive forward in float64 with a step of 1e-5
// are good to about 1e-8; what remains is that delta comes from o rounded to bfloat16 (2^-9
// relative).
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
        for (int64_t i = 0; i < kDim; ++i) sum += out.o[i] * grad[at(row, head, i)];
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

// Blocks of queries must add up: more tokens than one block, against the formula on stored lse and
// delta.
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
    for (int64_t i = 0; i < kDim; ++i) dot += q[at(row, head, i)] * k[at(key, head, i)];
    const double p = std::exp(dot / 8.0 - lse[head * kTokens + row]);
    for (int64_t i = 0; i < kDim; ++i) dv[i] += p * grad[at(row, head, i)];
  }
  for (int64_t i = 0; i < kDim; ++i) EXPECT_NEAR(expected[2][at(key, head, i)], dv[i], 1e-3);
}

TEST(Attention, CountsVisiblePairs) {
  EXPECT_EQ(floating_point_operations(task("mha_with_lse_d64", 4)), 4.0 * 16 * kHeads * kDim);
  EXPECT_EQ(floating_point_operations(task("mha_bwd_d64_causal", 4)), 10.0 * 10 * kHeads * kDim);
}

}  // namespace
}  // namespace weft::problems
