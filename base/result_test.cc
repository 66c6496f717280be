// SPDX-License-Identifier: Apache-2.0

#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace weft {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error("odd: " + std::to_string(value), "give an even number");
  return value / 2;
}

Result<std::string> quarter(int value) {
  const int first = TRY(half(value));
  return std::to_string(TRY(half(first)));
}

TEST(Result, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), "3");
  EXPECT_EQ(quarter(6).error().message(), "odd: 3");
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> owned = *std::move(result);
  EXPECT_EQ(*owned, 5);
}

TEST(ResultDeathTest, StopsWhenTheValueOfAnErrorIsTaken) {
  EXPECT_DEATH((void)half(1).value(), "INVARIANT\\(ok\\(\\)\\) does not hold");
}

TEST(Error, FormatsEveryDiagnostic) {
  Error error("first");
  error.diagnostics.push_back({.message = "second", .hint = "do that"});
  EXPECT_EQ(format(error), "error: first\nerror: second\n  hint: do that");
}

TEST(Diagnostic, PutsTheCaretUnderTheColumnAlsoAfterTabs) {
  const Diagnostic diagnostic{.message = "unknown modifier",
                              .hint = "see the table",
                              .file = "kernel.ptx",
                              .position = {.line = 7, .column = 4},
                              .source_line = "\tadd.x32 %r1;"};
  EXPECT_EQ(format(diagnostic),
            "kernel.ptx:7:4: error: unknown modifier\n"
            "  \tadd.x32 %r1;\n"
            "  \t  ^\n"
            "  hint: see the table");
}

}  // namespace
}  // namespace weft
