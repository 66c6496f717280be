// SPDX-License-Identifier: Apache-2.0

// Where things stand on the page, by hand arithmetic: plots are 620 wide and begin at 300.
#include "lattice/evaluation/comparison_page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weft::lattice {
namespace {

Json slice(double ne, double low, double high) {
  return {{"task", "click"},
          {"domain", nullptr},
          {"window_seconds", nullptr},
          {"served", true},
          {"ne", {{"value", ne}, {"low", low}, {"high", high}}},
          {"auc", {{"value", nullptr}}}};
}

Json model(const std::string& name, double flops, const Json& line) {
  return {{"name", name}, {"flops_per_impression", flops}, {"slices", {line}}};
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// From 0.5 to 1.0: 0.75 is half way, 300 + 310; 0.6 a fifth, 300 + 124; 0.9 four fifths, 300 + 496.
TEST(ComparisonPage, MarksStandWhereTheirValuesAre) {
  const std::string page = comparison_page(
      {{"models",
        {model("one", 1000, slice(0.75, 0.5, 1.0)), model("two", 10, slice(0.6, 0.6, 0.9))}},
       {"differences", Json::array()}});
  EXPECT_NE(page.find("<circle cx=\"610.0\""), std::string::npos) << page;
  EXPECT_NE(page.find("<circle cx=\"424.0\""), std::string::npos) << page;
  EXPECT_NE(page.find("x1=\"424.0\" x2=\"796.0\""), std::string::npos) << page;
  // log10 of FLOPs from 1 to 3: the ends of the axis.
  EXPECT_NE(page.find("<circle cx=\"920.0\""), std::string::npos) << page;
  EXPECT_NE(page.find("<circle cx=\"300.0\""), std::string::npos) << page;
}

TEST(ComparisonPage, WhatWasNotMeasuredIsSaid) {
  const std::string page = comparison_page(
      {{"models", {model("one", 1000, slice(0.75, 0.5, 1.0))}}, {"differences", Json::array()}});
  EXPECT_NE(page.find("AUC (higher is better)</h2>\n<p>Nothing was measured.</p>"),
            std::string::npos)
      << page;
}

TEST(ComparisonPage, DifferencesHaveTheirOriginAndTheBestPossibleItsLine) {
  const Json line = slice(-0.1, -0.3, 0.1);
  const std::string page = comparison_page(
      {{"models", {model("one", 10, slice(0.9, 0.9, 0.9)), model("two", 10, slice(0.8, 0.8, 0.8))}},
       {"differences", {{{"model", "two"}, {"slices", {line}}}}},
       {"best_possible",
        {{{"task", "click"}, {"domain", nullptr}, {"window", "ever"}, {"ne", 0.7}}}}});
  // From -0.3 to 0.1, zero is at three quarters: 300 + 465.
  EXPECT_NE(page.find("x1=\"765.0\" x2=\"765.0\""), std::string::npos) << page;
  EXPECT_EQ(count(page, "stroke-dasharray"), 2u);
}

TEST(ComparisonPage, NamesAreText) {
  const std::string page = comparison_page(
      {{"models", {model("<script>", 10, slice(0.9, 0.9, 0.9))}}, {"differences", Json::array()}});
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
}

}  // namespace
}  // namespace weft::lattice
