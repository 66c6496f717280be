// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/problems/model.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/floats.h"
#include "base/parallel.h"

namespace weft::problems {
namespace {

constexpr int64_t kParts = 4;
constexpr int64_t kTile = 64;  // keys that the running softmax takes at a time

// How a tensor core adds: so many products at once, so many bits below the leading one kept.
struct Core {
  int64_t group;
  int bits;
};
constexpr Core kCore{16, 24}, kFp8Core{32, 13};

float to_tf32(float value) {
  // Nearest even at 10 fraction bits: 13 bits go.
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

float in_order(int64_t first, int64_t last, const float* a, int64_t step_a, const float* b,
               int64_t step_b, float sum) {
  for (int64_t i = first; i < last; ++i) sum = std::fma(a[i * step_a], b[i * step_b], sum);
  return sum;
}

// Exact products and the sum so far, each cut off at a common place. The result is cut off too.
float aligned_sum(const double* products, int64_t count, float sum, int bits) {
  double largest = std::abs(static_cast<double>(sum));
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(products[i]));
  if (largest == 0) return sum;
  const double unit = std::ldexp(1.0, std::ilogb(largest) - bits);
  const double per_unit = 1 / unit;
  double total = std::trunc(static_cast<double>(sum) * per_unit);
  for (int64_t i = 0; i < count; ++i) total += std::trunc(products[i] * per_unit);
  const double exact = total * unit;
  const auto nearest = static_cast<float>(exact);
  return std::abs(static_cast<double>(nearest)) > std::abs(exact) ? std::nextafter(nearest, 0.0f)
                                                                  : nearest;
}

float tensor_core(Core core, bool half, int64_t k, const float* a, int64_t step_a, const float* b,
                  int64_t step_b, float sum) {
  double products[kFp8Core.group];
  for (int64_t first = 0; first < k; first += core.group) {
    const int64_t count = std::min(core.group, k - first);
    for (int64_t i = 0; i < count; ++i)
      products[i] = double{a[(first + i) * step_a]} * double{b[(first + i) * step_b]};
    sum = aligned_sum(products, count, sum, core.bits);
    if (half) sum = f16_to_float(float_to_f16(sum));
  }
  return sum;
}

float summed(Order order, int64_t k, const float* a, int64_t step_a, const float* b, int64_t step_b,
             float sum) {
  switch (order) {
    case Order::InOrder:
      return in_order(0, k, a, step_a, b, step_b, sum);
    case Order::SplitK:
      for (int64_t part = 0; part < kParts; ++part)
        sum += in_order(k * part / kParts, k * (part + 1) / kParts, a, step_a, b, step_b, 0);
      return sum;
    case Order::TensorCore:
      return tensor_core(kCore, false, k, a, step_a, b, step_b, sum);
    case Order::Fp8Core:
      return tensor_core(kFp8Core, false, k, a, step_a, b, step_b, sum);
    case Order::HalfSums:
      return tensor_core(kCore, true, k, a, step_a, b, step_b, sum);
  }
  return sum;
}

// A head with its operands rounded to the class.
struct RoundedHead {
  RoundedHead(const Model& model, const AttentionHead<float>& head)
      : q(rounded({head.q, static_cast<size_t>(head.queries * head.dim)}, model.operands)),
        k(rounded({head.k, static_cast<size_t>(head.keys * head.dim)}, model.operands)),
        v(rounded({head.v, static_cast<size_t>(head.keys * head.value_dim)}, model.operands)) {}

  std::vector<float> q, k, v;
};

void running_softmax(const Model& model, const AttentionHead<float>& head, const RoundedHead& at,
                     int64_t query, float* o, float& lse) {
  const int64_t d = head.dim, dv = head.value_dim, visible = head.visible(query);
  float largest = -INFINITY, sum = 0;
  std::fill(o, o + dv, 0.0f);
  for (int64_t first = 0; first < visible; first += kTile) {
    const int64_t count = std::min(kTile, visible - first);
    std::vector<float> p(static_cast<size_t>(count));
    model_product(model.order, 1, count, d, {&at.q[query * d], d, 1}, {&at.k[first * d], 1, d},
                  p.data());
    float next = largest;
    for (float& score : p) {
      score *= head.scale;
      next = std::max(next, score);
    }
    const float correction = std::exp(largest - next);
    largest = next;
    for (float& score : p) score = std::exp(score - next);
    const std::vector<float> weights = rounded(p, model.operands);
    sum *= correction;
    for (const float weight : model.sums_rounded ? weights : p) sum += weight;
    for (int64_t i = 0; i < dv; ++i) o[i] *= correction;
    model_product(model.order, 1, dv, count, {weights.data(), count, 1}, {&at.v[first * dv], dv, 1},
                  o);
  }
  for (int64_t i = 0; i < dv; ++i) o[i] = sum > 0 ? o[i] / sum : 0;
  lse = sum > 0 ? largest + std::log(sum) : -INFINITY;
}

}  // namespace

std::vector<float> rounded(std::span<const float> values, Operands operands) {
  std::vector<float> out(values.begin(), values.end());
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  // 448 is the largest number of e4m3: 1.75 * 2^8.
  const float scale = largest > 0 ? std::exp2(std::floor(std::log2(448 / largest))) : 1;
  for (float& value : out) {
    switch (operands) {
      case Operands::Fp32:
        break;
      case Operands::Tf32:
        value = to_tf32(value);
        break;
      case Operands::Bf16:
        value = bf16_to_float(float_to_bf16(value));
        break;
      case Operands::Fp8:
        value = e4m3_to_float(float_to_e4m3(value * scale)) / scale;
        break;
    }
  }
  return out;
}

void model_product(Order order, int64_t m, int64_t n, int64_t k, View a, View b, float* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float& sum = c[i * n + j];
      sum = summed(order, k, a.data + i * a.row, a.column, b.data + j * b.column, b.row, sum);
    }
  }
}

void attend_as(const Model& model, const AttentionHead<float>& head, float* o, float* lse) {
  const RoundedHead at(model, head);
  each_in_parallel(head.queries, [&](int64_t query) {
    running_softmax(model, head, at, query, o + query * head.value_dim, lse[query]);
  });
}

HeadGradients<float> attend_backward_as(const Model& model, const AttentionHead<float>& head,
                                        const float* grad, const float* lse, const float* delta) {
  const int64_t rows = head.queries, columns = head.keys, d = head.dim, dv = head.value_dim;
  const RoundedHead at(model, head);
  const std::vector<float> g = rounded({grad, static_cast<size_t>(rows * dv)}, model.operands);
  std::vector<float> p(static_cast<size_t>(rows * columns)), ds(p.size());
  each_in_parallel(rows, [&](int64_t i) {
    float *p_row = &p[i * columns], *ds_row = &ds[i * columns];
    model_product(model.order, 1, columns, d, {&at.q[i * d], d, 1}, {at.k.data(), 1, d}, p_row);
    model_product(model.order, 1, columns, dv, {&g[i * dv], dv, 1}, {at.v.data(), 1, dv}, ds_row);
    for (int64_t j = 0; j < columns; ++j) {
      p_row[j] = j < head.visible(i) ? std::exp(p_row[j] * head.scale - lse[i]) : 0;
      ds_row[j] = p_row[j] * (ds_row[j] - delta[i]);
    }
  });
  p = rounded(p, model.operands);
  ds = rounded(ds, model.operands);
  HeadGradients<float> out{std::vector<float>(static_cast<size_t>(rows * d)),
                           std::vector<float>(static_cast<size_t>(columns * d)),
                           std::vector<float>(static_cast<size_t>(columns * dv))};
  each_in_parallel(rows, [&](int64_t i) {
    model_product(model.order, 1, d, columns, {&ds[i * columns], columns, 1}, {at.k.data(), d, 1},
                  &out.dq[i * d]);
  });
  each_in_parallel(columns, [&](int64_t j) {
    model_product(model.order, 1, d, rows, {&ds[j], 1, columns}, {at.q.data(), d, 1},
                  &out.dk[j * d]);
    model_product(model.order, 1, dv, rows, {&p[j], 1, columns}, {g.data(), dv, 1},
                  &out.dv[j * dv]);
  });
  for (float& value : out.dq) value *= head.scale;
  for (float& value : out.dk) value *= head.scale;
  return out;
}

}  // namespace weft::problems
