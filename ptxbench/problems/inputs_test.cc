// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/inputs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"

namespace weft::problems {
namespace {

Task task(const char* name, Overrides overrides) {
  return *Catalogue::open("problems")->task(name, "", std::move(overrides));
}

TEST(Inputs, AreTheSameForASeedAndFreshForATrial) {
  const Task gemm = task("gemm_n128_k2048", {{"M", 8}, {"K", 64}});
  const auto first = *make_inputs(gemm, 7, 0);
  EXPECT_EQ(first[0].bytes, (*make_inputs(gemm, 7, 0))[0].bytes);
  EXPECT_NE(first[0].bytes, (*make_inputs(gemm, 7, 1))[0].bytes);
  EXPECT_NE(first[0].bytes, (*make_inputs(gemm, 8, 0))[0].bytes);
}

TEST(Inputs, AlternateDistributionsBetweenTrials) {
  const Task gemm = task("gemm_n128_k2048", {{"M", 64}, {"K", 64}});
  const auto largest = [&](unsigned trial) {
    float value = 0;
    for (const float x : to_float((*make_inputs(gemm, 7, trial))[0]))
      value = std::max(value, std::abs(x));
    return value;
  };
  EXPECT_GT(largest(0), 2.5f);  // normal: 4096 draws reach past 2.5
  EXPECT_LE(largest(1), 1.0f);  // uniform
}

// L is the logarithm of the sum of exponentials of the scaled scores; recomputed here in float64.
TEST(Inputs, OfTheBackwardPassAgreeWithEachOther) {
  const Task backward = task("mha_bwd_d64_causal", {{"B", 1}, {"H", 2}, {"S", 20}});
  const auto inputs = *make_inputs(backward, 3, 0);
  const std::vector<float> q = to_float(inputs[0]), k = to_float(inputs[1]),
                           v = to_float(inputs[2]), o = to_float(inputs[3]),
                           lse = to_float(inputs[5]);
  for (int64_t row = 0; row < 40; ++row) {
    double sum = 0, first = 0;
    for (int64_t key = row / 20 * 20; key <= row; ++key) {
      double dot = 0;
      for (int64_t i = 0; i < 64; ++i) dot += double{q[row * 64 + i]} * k[key * 64 + i];
      sum += std::exp(dot / 8);
      first += std::exp(dot / 8) * v[key * 64];
    }
    EXPECT_NEAR(lse[row], std::log(sum), 1e-5 * (1 + std::abs(lse[row])));
    EXPECT_NEAR(o[row * 64], first / sum, 1e-4 + std::abs(first / sum) / 256);
  }
}

}  // namespace
}  // namespace weft::problems
