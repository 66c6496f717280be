// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/tolerance.h"

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"

namespace weft::problems {
namespace {

// A backward definition whose tolerance of dQ is what the tag says.
Definition backward_with(const std::string& tag) {
  Definition definition = *Catalogue::open("problems")->definition("mha_bwd_d64");
  std::erase_if(definition.tags, [](const std::string& one) {
    return one.starts_with("tolerance") || one.starts_with("errors.");
  });
  definition.tags.push_back("tolerance.dQ:" + tag);
  return definition;
}

TEST(Tolerance, LaysLayersOverEachOther) {
  Definition backward = backward_with("relative_norm");
  const TensorSpec output = backward.outputs[0];
  EXPECT_EQ(tolerance_of(backward, output)->norm_limit, 2e-2);
  EXPECT_EQ(tolerance_of(backward, output)->origin(),
            "norm_limit 0.02 (operation), row_norm_limit 0.1 (global)");
  backward = backward_with("relative_norm norm_limit=0.013");
  backward.tags.push_back("tolerance_origin.dQ:measured");
  EXPECT_EQ(tolerance_of(backward, output)->norm_limit, 0.013);
  EXPECT_EQ(tolerance_of(backward, output)->origin(),
            "norm_limit 0.013 (definition), row_norm_limit 0.1 (global); measured");
}

TEST(Tolerance, RefusesWhatNobodyWouldRead) {
  for (const char* tag :
       {"relative_norm norm=1", "relative_norm norm_limit=x", "relative_norm norm_limit=-1",
        "relative_norm norm_limit", "close_enough"}) {
    const Definition backward = backward_with(tag);
    EXPECT_FALSE(tolerance_of(backward, backward.outputs[0]).ok()) << tag;
  }
}

// Borders are geometric means: of 2e-3 and 5e-2 it is 1e-2.
TEST(PrecisionClass, IsTheNearestThatTheErrorsTellApart) {
  Definition definition = backward_with("relative_norm");
  const TensorSpec output = definition.outputs[0];
  EXPECT_EQ(precision_class(definition, output, 1e-3), std::nullopt);
  definition.tags.push_back("errors.dQ:fp32=1.7e-3 tf32=1.7e-3 bf16=2e-3 fp8=5e-2");
  EXPECT_EQ(precision_class(definition, output, 9e-3), "fp32/tf32/bf16");
  EXPECT_EQ(precision_class(definition, output, 1.2e-2), "fp8");
  EXPECT_EQ(precision_class(definition, output, 1.0), std::nullopt);
  definition.tags.back() = "errors.dQ:fp32=1e-3 bf16=1.2e-3";
  EXPECT_EQ(precision_class(definition, output, 1e-3), std::nullopt);
}

}  // namespace
}  // namespace weft::problems
