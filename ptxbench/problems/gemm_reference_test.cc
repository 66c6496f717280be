// SPDX-License-Identifier: Apache-2.0

// Against hand arithmetic and an independent float64 triple loop.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "base/floats.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

Task task(int64_t m, int64_t n, int64_t k) {
  return *Catalogue::open("problems")->task("gemm_n128_k2048", "", {{"M", m}, {"N", n}, {"K", k}});
}

TEST(GemmReference, MultipliesByTheTransposeOfB) {
  const Task small = task(1, 8, 8);
  std::vector<Tensor> inputs = {Tensor("A", DType::BFloat16, {1, 8}),
                                Tensor("B", DType::BFloat16, {8, 8})};
  auto* a = reinterpret_cast<uint16_t*>(inputs[0].bytes.data());
  auto* b = reinterpret_cast<uint16_t*>(inputs[1].bytes.data());
  a[0] = float_to_bf16(2);
  a[1] = float_to_bf16(3);
  b[1 * 8 + 0] = float_to_bf16(5);   // B[1][0]
  b[1 * 8 + 1] = float_to_bf16(-1);  // B[1][1]
  const Expected expected = *reference(small, inputs);
  EXPECT_EQ(expected[0][1], 2 * 5 - 3 * 1);
  EXPECT_EQ(expected[0][0], 0);
}

TEST(GemmReference, AgreesWithANaiveLoopInFloat64) {
  const Task odd = task(33, 40, 72);
  const auto inputs = *make_inputs(odd, 5, 0);
  const std::vector<float> a = to_float(inputs[0]), b = to_float(inputs[1]);
  const Expected expected = *reference(odd, inputs);
  for (int64_t i = 0; i < 33; ++i) {
    for (int64_t j = 0; j < 40; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < 72; ++l) sum += double{a[i * 72 + l]} * b[j * 72 + l];
      EXPECT_NEAR(expected[0][i * 40 + j], sum, 1e-4);
    }
  }
}

TEST(GemmReference, CountsTwoOperationsAMultiplyAdd) {
  EXPECT_EQ(floating_point_operations(task(2, 8, 16)), 2.0 * 2 * 8 * 16);
}

}  // namespace
}  // namespace weft::problems
