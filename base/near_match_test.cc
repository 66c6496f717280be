// SPDX-License-Identifier: Apache-2.0

#include "base/near_match.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(NearMatch, PutsTheSmallestEditFirst) {
  const auto near =
      near_matches("gemm_n7168_k512", {"gemm_n128_k2048", "gemm_n7168_k5120", "mha_bwd_d64"});
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near.front(), "gemm_n7168_k5120");
}

TEST(NearMatch, ListsAllWhenNothingIsNear) {
  EXPECT_EQ(suggestion("zzzzzz", {"M", "N"}, "axes"), "axes: M, N");
}

TEST(NearMatch, AcceptsTheBeginningOfAWord) {
  EXPECT_EQ(near_matches("mha_w", {"mha_bwd_d64", "mha_with_lse_d128_causal"}).front(),
            "mha_with_lse_d128_causal");
}

}  // namespace
}  // namespace weft
