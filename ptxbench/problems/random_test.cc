// SPDX-License-Identifier: Apache-2.0

// Known answers are those that the authors of Philox publish with Random123.
#include "ptxbench/problems/random.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace weft::problems {
namespace {

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Quad{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Quad{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

std::vector<float> made(Distribution distribution, size_t count, uint64_t seed = 1,
                        uint32_t stream = 0) {
  std::vector<float> values(count);
  fill(values, distribution, seed, stream, 0);
  return values;
}

TEST(Fill, DoesNotDependOnThePieces) {
  const std::vector<float> whole = made(Distribution::Spiky, 4096);
  std::vector<float> piece(1000);
  fill(piece, Distribution::Spiky, 1, 0, 2048);
  for (size_t i = 0; i < piece.size(); ++i) EXPECT_EQ(piece[i], whole[2048 + i]);
}

TEST(Fill, DiffersBySeedAndStream) {
  EXPECT_NE(made(Distribution::Normal, 64, 1), made(Distribution::Normal, 64, 2));
  EXPECT_NE(made(Distribution::Normal, 64, 1, 0), made(Distribution::Normal, 64, 1, 1));
}

// Bounds are four standard errors of the statistic at this count.
TEST(Fill, HasTheMomentsOfItsDistribution) {
  constexpr size_t kCount = 1 << 20;
  struct Case {
    Distribution distribution;
    double variance;
  };
  // Uniform on [-1, 1): 1/3. Spiky: 1 + 0.001 * 100.
  for (const Case& c : {Case{Distribution::Normal, 1},
                        {Distribution::Uniform, 1.0 / 3},
                        {Distribution::Spiky, 1.1}}) {
    double sum = 0, squares = 0;
    for (const float value : made(c.distribution, kCount)) {
      sum += value;
      squares += double{value} * value;
    }
    EXPECT_NEAR(sum / kCount, 0, 4 * std::sqrt(c.variance / kCount));
    EXPECT_NEAR(squares / kCount, c.variance, 0.03);
  }
}

TEST(Fill, MakesAboutOneSpikeInAThousand) {
  const std::vector<float> plain = made(Distribution::Normal, 1 << 20);
  const std::vector<float> spiky = made(Distribution::Spiky, 1 << 20);
  int spikes = 0;
  for (size_t i = 0; i < plain.size(); ++i) spikes += plain[i] != spiky[i];
  EXPECT_NEAR(spikes, 1049, 4 * 33);  // binomial: mean 1048.6, deviation 32.4
}

}  // namespace
}  // namespace weft::problems
