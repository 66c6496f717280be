// SPDX-License-Identifier: Apache-2.0

// Expected values by hand; that functions commute is shown by their references.
#include "ptxbench/judge/rotation.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

TEST(Rotation, MovesElementsForwardAlongTheAxis) {
  EXPECT_EQ(rotated("abcdef", {3, 2}, 0, 1), "efabcd");
  EXPECT_EQ(rotated("abcdef", {3, 2}, 1, 1), "badcfe");
  EXPECT_EQ(rotated("abcdef", {2, 3}, 1, 2), "bcaefd");
  EXPECT_EQ(rotated("abcdef", {2, 3}, 1, 3), "abcdef");
}

// Two bytes an element: [1, 3] of them.
TEST(Rotation, KeepsElementsWhole) {
  EXPECT_EQ(rotated("AaBbCc", {1, 3}, 1, 1), "CcAaBb");
}

std::string turned(const void* bytes, size_t size, const std::vector<int64_t>& shape,
                   const RotationAxis& axis, size_t tensor) {
  const std::string text(static_cast<const char*>(bytes), size);
  return axis.positions[tensor] < 0 ? text : rotated(text, shape, axis.positions[tensor], 1);
}

// What rotation_axes() promises, by the references: rotated inputs give rotated outputs.
void expect_to_commute(const problems::Task& task) {
  const std::vector<problems::Tensor> inputs = *problems::make_inputs(task, 1, 0);
  const problems::Expected before = *problems::reference(task, inputs);
  const std::vector<RotationAxis> axes = rotation_axes(task);
  EXPECT_FALSE(axes.empty());
  for (const RotationAxis& axis : axes) {
    std::vector<problems::Tensor> moved = inputs;
    for (size_t i = 0; i < moved.size(); ++i) {
      std::vector<std::byte>& bytes = moved[i].bytes;
      const std::string text = turned(bytes.data(), bytes.size(), moved[i].shape, axis, i);
      std::memcpy(bytes.data(), text.data(), text.size());
    }
    const problems::Expected after = *problems::reference(task, moved);
    for (size_t i = 0; i < before.size(); ++i) {
      const std::vector<int64_t> shape = task.shape(task.definition.outputs[i]);
      std::vector<float> want(before[i].size());
      const std::string text = turned(before[i].data(), before[i].size() * sizeof(float), shape,
                                      axis, inputs.size() + i);
      std::memcpy(want.data(), text.data(), text.size());
      EXPECT_NE(want, before[i]) << axis.name;
      for (size_t e = 0; e < want.size(); ++e)
        EXPECT_NEAR(after[i][e], want[e], 1e-4 * (1 + std::abs(want[e]))) << axis.name;
    }
  }
}

TEST(Rotation, CommutesWithTheFunctionsOfTheFamilies) {
  const auto catalogue = problems::Catalogue::open("problems");
  const auto task = [&](const char* name, problems::Overrides axes) {
    return *catalogue->task(name, "", std::move(axes));
  };
  expect_to_commute(task("gemm_n128_k2048", {{"M", 8}, {"N", 8}, {"K", 64}}));
  expect_to_commute(task("mha_with_lse_d64_causal", {{"B", 2}, {"H", 3}, {"S", 8}}));
  expect_to_commute(task("mha_bwd_d64", {{"B", 2}, {"H", 3}, {"S", 8}}));
  expect_to_commute(task("fp8_mha_with_lse_d64", {{"B", 2}, {"H", 3}, {"L", 8}}));
  expect_to_commute(task("fp8_gemm_nt_1d2d_n4096_k7168",
                         {{"m", 8}, {"n", 128}, {"num_nblock", 1}, {"k", 128}, {"num_kblock", 1}}));
  expect_to_commute(task("gdn_decode_qk4_v8_d128_k_last", {{"batch_size", 3}}));
}

}  // namespace
}  // namespace weft::judge
