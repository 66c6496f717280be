// SPDX-License-Identifier: Apache-2.0

// Expected values are hand arithmetic; division follows Python's rounding down.
#include "ptxbench/problems/expression.h"

#include <string>

#include <gtest/gtest.h>

namespace weft::problems {
namespace {

const Axes kAxes = {{"K", 512}, {"M", 300}};

TEST(Expression, EvaluatesWithPythonPrecedence) {
  const std::pair<const char*, int64_t> cases[] = {
      {"1 + 2 * 3", 7},     {"(1 + 2) * 3", 9},      {"7 - 2 - 1", 4},       {"-7 // 2", -4},
      {"-7 % 3", 2},        {"ceil_div(M, 128)", 3}, {"K % 8 == 0", 1},      {"M % 8 == 0", 0},
      {"K / 128", 4},       {"min(K, M)", 300},      {"M > 1 and K > 1", 1}, {"M < 1 or K == 1", 0},
      {"max(M, K)*2", 1024}};
  for (const auto& [text, value] : cases) {
    const Result<int64_t> result = evaluate(text, kAxes);
    ASSERT_TRUE(result.ok()) << text;
    EXPECT_EQ(*result, value) << text;
  }
}

TEST(Expression, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "1 +", "Q", "1 / 0", "M M", "9223372036854775807 + 1", "(1",
                           "ceil_div(1)", "12ab", "99999999999999999999"}) {
    EXPECT_FALSE(evaluate(text, kAxes).ok()) << text;
  }
  EXPECT_FALSE(evaluate(std::string(100000, '('), kAxes).ok());
  std::string minuses(100000, '-');
  minuses.push_back('1');
  EXPECT_FALSE(evaluate(minuses, kAxes).ok());
}

TEST(Expression, SuggestsAxes) {
  const Result<int64_t> result = evaluate("m + 1", kAxes);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(format(result.error()).find("M"), std::string::npos);
}

}  // namespace
}  // namespace weft::problems
