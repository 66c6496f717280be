// SPDX-License-Identifier: Apache-2.0

// Models of what kernels compute: products whose operands are rounded to a precision class and
// whose sums run in an order of hardware or of a program, and attention made of them. References
// use them in place of exact products when a tolerance is measured.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ptxbench/problems/attention_head.h"

namespace weft::problems {

enum class Operands : uint8_t { Fp32, Tf32, Bf16, Fp8 };

enum class Order : uint8_t {
  InOrder,     // one fused multiply-add after the other
  SplitK,      // four parts of the summed axis, added at the end
  TensorCore,  // 16 products at a time, aligned with the largest and cut off below its 24th bit
  Fp8Core,     // 32 products at a time, cut off below the 13th fraction bit: Hopper on FP8
  HalfSums,    // as TensorCore, but what is carried on is rounded to float16
};

struct Model {
  Operands operands = Operands::Fp32;
  Order order = Order::InOrder;
  bool sums_rounded = false;  // the softmax's denominator adds probabilities as rounded
};

// Values as operands of the class. fp8 takes one scale for all: the largest power of two that the
// values allow, so that values of fp8 stay as they are.
std::vector<float> rounded(std::span<const float> values, Operands operands);

// Element (i, j) is data[i * row + j * column].
struct View {
  const float* data;
  int64_t row, column;
};

// c (m, n, dense) += a (m, k) * b (k, n)
void model_product(Order order, int64_t m, int64_t n, int64_t k, View a, View b, float* c);

// attend() past tiles of keys: the maximum so far, the sum and the output scaled alike.
void attend_as(const Model& model, const AttentionHead<float>& head, float* o, float* lse);

HeadGradients<float> attend_backward_as(const Model& model, const AttentionHead<float>& head,
                                        const float* grad, const float* lse, const float* delta);

// Exactly where there is no model.
template <typename Real>
void attend_with(const Model* model, const AttentionHead<Real>& head, Real* o, Real* lse) {
  if constexpr (std::is_same_v<Real, float>) {
    if (model != nullptr) return attend_as(*model, head, o, lse);
  }
  attend(head, o, lse);
}

}  // namespace weft::problems
