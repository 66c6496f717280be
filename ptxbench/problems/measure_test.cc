// SPDX-License-Identifier: Apache-2.0

// Expected sizes are those of the formats: rounding to b fraction bits errs by 2^-(b+1) / sqrt(3)
// of a value of mantissa 1 in the root mean square, about 0.7 of that over all mantissas.
#include "ptxbench/problems/measure.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/model.h"
#include "ptxbench/problems/tolerance.h"

namespace weft::problems {
namespace {

double worst(const std::vector<MeasuredError>& errors, const std::string& output,
             const std::string& precision) {
  double largest = 0;
  for (const MeasuredError& error : errors) {
    if (error.output == output && error.precision == precision)
      largest = std::max(largest, error.relative_norm);
  }
  return largest;
}

// bfloat16 outputs: 2^-8 / sqrt(3) * 0.7 = 1.6e-3, an element by 2^-8 at most. e4m3 operands: 2^-4
// / sqrt(3) * 0.7 times sqrt(2) for the two of them, 3.6e-2.
TEST(Measure, ProductsErrByTheRoundingOfTheirFormats) {
  const Task task =
      *Catalogue::open("problems")->task("gemm_n128_k2048", "", {{"M", 16}, {"N", 32}, {"K", 512}});
  const auto errors = *measure(task, 1);
  for (const char* precision : {"fp32", "tf32", "bf16"}) {
    EXPECT_GT(worst(errors, "C", precision), 8e-4);
    EXPECT_LT(worst(errors, "C", precision), 2.5e-3);
  }
  EXPECT_GT(worst(errors, "C", "fp8"), 2.5e-2);
  EXPECT_LT(worst(errors, "C", "fp8"), 5e-2);
  for (const MeasuredError& error : errors) {
    EXPECT_EQ(error.good, error.precision != "fp8" && error.precision != "f16 sums");
    EXPECT_EQ(error.refused, !error.good) << error.precision << ", " << error.implementation;
    if (!error.good) continue;
    EXPECT_LE(error.relative, 0x1.01p-8);
    EXPECT_GT(error.relative, 0x1p-9);
  }
}

TEST(Measure, GoodAttentionStaysFarBelowTheTolerances) {
  const auto catalogue = Catalogue::open("problems");
  for (const char* name : {"mha_with_lse_d64_causal", "mha_bwd_d64"}) {
    const Task task = *catalogue->task(name, "", {{"B", 1}, {"H", 1}, {"S", 96}});
    const auto measured = measure(task, 1);
    ASSERT_TRUE(measured.ok()) << format(measured.error());
    for (const MeasuredError& error : *measured) {
      EXPECT_FALSE(error.good && error.refused) << error.output << error.implementation;
      const bool lse = error.output == "LSE";
      double least = 0, most = 1;
      if (error.good) most = 6e-3;
      if (lse && error.precision == "fp32") most = 1e-5;
      if (error.precision == "fp8") least = lse ? 1e-4 : 1e-2;
      EXPECT_GE(error.relative_norm, least) << error.output << error.precision;
      EXPECT_LE(error.relative_norm, most) << error.output << error.precision;
    }
  }
}

// Every limit in the definitions is one that was measured.
TEST(Measure, IsWhereEveryToleranceComesFrom) {
  const auto catalogue = Catalogue::open("problems");
  for (const std::string& name : catalogue->names()) {
    const Definition definition = *catalogue->definition(name);
    for (const TensorSpec& output : definition.outputs) {
      const Tolerance tolerance = *tolerance_of(definition, output);
      EXPECT_TRUE(tolerance.reason.starts_with("measured: ")) << name << " " << output.name;
      EXPECT_EQ(tolerance.layers.contains("norm_limit"),
                tolerance.kind == Tolerance::Kind::RelativeNorm);
    }
  }
}

// 1 + 2^-24 sixteen times: in order every addend is lost. A tensor core adds 1 and fifteen of them
// exactly, 1 + 15 * 2^-24, and cuts that off to a float32: 1 + 7 * 2^-23. So it does with the last.
TEST(Model, TensorCoresAddSixteenAtOnce) {
  std::vector<float> a(17, 0x1p-24f), b(17, 1.0f);
  a[0] = 1;
  float in_order = 0, split = 0, core = 0;
  model_product(Order::InOrder, 1, 1, 17, {a.data(), 17, 1}, {b.data(), 1, 1}, &in_order);
  model_product(Order::SplitK, 1, 1, 17, {a.data(), 17, 1}, {b.data(), 1, 1}, &split);
  model_product(Order::TensorCore, 1, 1, 17, {a.data(), 17, 1}, {b.data(), 1, 1}, &core);
  EXPECT_EQ(in_order, 1.0f);
  EXPECT_GT(split, 1.0f);
  EXPECT_EQ(core, 1.0f + 7 * 0x1p-23f);
  EXPECT_EQ(rounded(std::vector<float>{1.0f + 0x1p-11f}, Operands::Tf32)[0], 1.0f);
  EXPECT_EQ(rounded(std::vector<float>{1.0f + 0x1p-11f, 1.0f}, Operands::Fp32)[0], 1.0f + 0x1p-11f);
}

// 1 + 2^-14 is cut off at 13 fraction bits; float16 keeps 10 and rounds to nearest even.
TEST(Model, CoarserSumsLoseWhatTheirBitsDoNotHold) {
  const float a[2] = {1, 0x1.8p-11f}, ones[2] = {1, 1}, small[2] = {1, 0x1p-14f};
  float fp8 = 0, half = 0;
  model_product(Order::Fp8Core, 1, 1, 2, {small, 2, 1}, {ones, 1, 1}, &fp8);
  model_product(Order::HalfSums, 1, 1, 2, {a, 2, 1}, {ones, 1, 1}, &half);
  EXPECT_EQ(fp8, 1.0f);
  EXPECT_EQ(half, 1.0f + 0x1p-10f);
  // Powers of two scale e4m3 into its range without a change: 1.625 has three fraction bits.
  EXPECT_EQ(rounded(std::vector<float>{100.0f, 1.625f, 1.6875f}, Operands::Fp8)[1], 1.625f);
  EXPECT_NE(rounded(std::vector<float>{100.0f, 1.625f, 1.6875f}, Operands::Fp8)[2], 1.6875f);
}

}  // namespace
}  // namespace weft::problems
