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

// delta is the row sum of do times the rounded o; recomputed here in float64 from the tensors.
TEST(Inputs, OfTheBackwardPassAgreeWithEachOther) {
  const Task backward =
      task("mha_bwd_d64_causal", {{"batch", 1}, {"num_heads", 2}, {"seq_len", 20}});
  const auto inputs = *make_inputs(backward, 3, 0);
  const std::vector<float> o = to_float(inputs[3]), grad = to_float(inputs[4]),
                           delta = to_float(inputs[6]);
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t t = 0; t < 20; ++t) {
      double sum = 0;
      for (int64_t i = 0; i < 64; ++i)
        sum += double{o[(t * 2 + head) * 64 + i]} * grad[(t * 2 + head) * 64 + i];
      EXPECT_NEAR(delta[head * 20 + t], sum, 1e-5 * (1 + std::abs(sum)));
    }
  }
}

}  // namespace
}  // namespace weft::problems
