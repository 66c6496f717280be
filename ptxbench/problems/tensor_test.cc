// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/tensor.h"

#include <gtest/gtest.h>

#include <cstring>

namespace weft::problems {
namespace {

TEST(Tensor, DescribesItself) {
  const Tensor tensor("A", DType::BFloat16, {2, 3});
  EXPECT_EQ(tensor.bytes.size(), 12u);
  EXPECT_EQ(describe(tensor.dtype, tensor.shape), "bfloat16[2, 3]");
}

// 1 and -2 as IEEE binary16, bfloat16 and int32.
TEST(Tensor, WidensEveryKindOfElement) {
  const auto widened = [](DType dtype, auto one, auto minus_two) {
    Tensor tensor("A", dtype, {2});
    std::memcpy(tensor.bytes.data(), &one, sizeof one);
    std::memcpy(tensor.bytes.data() + sizeof one, &minus_two, sizeof minus_two);
    return to_float(tensor);
  };
  const std::vector<float> expected = {1, -2};
  EXPECT_EQ(widened(DType::Float16, uint16_t{0x3c00}, uint16_t{0xc000}), expected);
  EXPECT_EQ(widened(DType::BFloat16, uint16_t{0x3f80}, uint16_t{0xc000}), expected);
  EXPECT_EQ(widened(DType::Float32, 1.0f, -2.0f), expected);
  EXPECT_EQ(widened(DType::Int32, int32_t{1}, int32_t{-2}), expected);
}

TEST(Tensor, KnowsItsTypesByName) {
  EXPECT_EQ(dtype_named("bfloat16"), DType::BFloat16);
  EXPECT_EQ(dtype_named("bfloat"), std::nullopt);
  EXPECT_EQ(name(DType::Float32), "float32");
}

}  // namespace
}  // namespace weft::problems
