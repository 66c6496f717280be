// SPDX-License-Identifier: Apache-2.0

// Attention forward and backward, one head a piece of parallel work, kRows queries at a time so
// that the block of scores stays in cache. Tensors may lie in any order of the four axes: every
// head is gathered into a dense (tokens, head_dim) matrix first.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/floats.h"
#include "base/parallel.h"
#include "ptxbench/problems/reference.h"

namespace weft::problems {
namespace {

constexpr int64_t kRows = 128;
using Matrix = std::vector<float>;

// Where head (b, h) lies in a tensor: element (token, d) is at base + token * token_stride + d *
// d_stride.
struct Layout {
  int64_t batch_stride = 0, head_stride = 0, token_stride = 0, d_stride = 0;
};

struct Attention {
  int64_t batch, heads, tokens, d;
  float scale;
  bool causal;

  // Keys that queries first ... last see: 0 ... columns - 1.
  int64_t columns(int64_t last) const { return causal ? last + 1 : tokens; }
};

Attention attention_of(const Task& task) {
  const int64_t d = task.axis("head_dim");
  return {task.axis("batch"),
          task.axis("num_heads"),
          task.axis("seq_len"),
          d,
          1.0f / std::sqrt(static_cast<float>(d)),
          task.definition.tag("causal") == "true"};
}

Result<Layout> layout_of(const Task& task, const TensorSpec& spec) {
  Layout layout;
  int64_t stride = 1;
  for (size_t i = spec.shape.size(); i-- > 0;) {
    const std::string& axis = spec.shape[i];
    if (axis == "batch")
      layout.batch_stride = stride;
    else if (axis == "num_heads")
      layout.head_stride = stride;
    else if (axis == "seq_len")
      layout.token_stride = stride;
    else if (axis == "head_dim")
      layout.d_stride = stride;
    else
      return Error(
          fmt::format("attention tensor has an unknown axis: \"{}\" ({})", axis, spec.name),
          "axes are batch, seq_len, num_heads, head_dim");
    stride *= task.axis(axis);
  }
  return layout;
}

Result<std::vector<Layout>> layouts_of(const Task& task, const std::vector<TensorSpec>& specs) {
  std::vector<Layout> layouts;
  for (const TensorSpec& spec : specs) layouts.push_back(TRY(layout_of(task, spec)));
  return layouts;
}

float element(const Tensor& tensor, int64_t index) {
  if (tensor.dtype == DType::Float32) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + index * 4, sizeof value);
    return value;
  }
  return bf16_to_float(reinterpret_cast<const uint16_t*>(tensor.bytes.data())[index]);
}

// The head as (tokens, width); width is 1 for lse and delta.
Matrix gather(const Tensor& tensor, const Layout& layout, int64_t tokens, int64_t width, int64_t b,
              int64_t h) {
  Matrix matrix(static_cast<size_t>(tokens * width));
  const int64_t base = b * layout.batch_stride + h * layout.head_stride;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      matrix[t * width + i] = element(tensor, base + t * layout.token_stride + i * layout.d_stride);
    }
  }
  return matrix;
}

void scatter(const Matrix& matrix, const Layout& layout, int64_t tokens, int64_t width, int64_t b,
             int64_t h, std::vector<float>& target) {
  const int64_t base = b * layout.batch_stride + h * layout.head_stride;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      target[base + t * layout.token_stride + i * layout.d_stride] = matrix[t * width + i];
    }
  }
}

// c (m, n) = alpha * op(a) op(b) + beta * c, all dense and row-major.
void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
             const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
             int64_t ldc) {
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
              transpose_b ? CblasTrans : CblasNoTrans, static_cast<blasint>(m),
              static_cast<blasint>(n), static_cast<blasint>(k), alpha, a, static_cast<blasint>(lda),
              b, static_cast<blasint>(ldb), beta, c, static_cast<blasint>(ldc));
}

// o and lse of queries first ... first + rows - 1.
void forward_rows(const Attention& at, const Matrix& q, const Matrix& k, const Matrix& v,
                  int64_t first, int64_t rows, Matrix& scores, Matrix& o, Matrix& lse) {
  const int64_t width = at.columns(first + rows - 1);
  product(false, true, rows, width, at.d, at.scale, &q[first * at.d], at.d, k.data(), at.d, 0,
          scores.data(), width);
  for (int64_t r = 0; r < rows; ++r) {
    float* row = &scores[r * width];
    const int64_t visible = at.columns(first + r);
    const float largest = *std::max_element(row, row + visible);
    double sum = 0;
    for (int64_t j = 0; j < visible; ++j) {
      row[j] = std::exp(row[j] - largest);
      sum += row[j];
    }
    const float inverse = static_cast<float>(1.0 / sum);
    for (int64_t j = 0; j < visible; ++j) row[j] *= inverse;
    std::fill(row + visible, row + width, 0.0f);
    lse[first + r] = static_cast<float>(largest + std::log(sum));
  }
  product(false, false, rows, at.d, width, 1, scores.data(), width, v.data(), at.d, 0,
          &o[first * at.d], at.d);
}

struct HeadGradients {
  Matrix dq, dk, dv;
};

HeadGradients backward_head(const Attention& at, const Matrix& q, const Matrix& k, const Matrix& v,
                            const Matrix& grad, const Matrix& lse, const Matrix& delta) {
  const size_t size = static_cast<size_t>(at.tokens * at.d);
  HeadGradients out{Matrix(size), Matrix(size), Matrix(size)};
  Matrix p(static_cast<size_t>(kRows * at.tokens)), ds(p.size());
  for (int64_t first = 0; first < at.tokens; first += kRows) {
    const int64_t rows = std::min(kRows, at.tokens - first);
    const int64_t width = at.columns(first + rows - 1);
    const float* q_rows = &q[first * at.d];
    const float* grad_rows = &grad[first * at.d];
    product(false, true, rows, width, at.d, at.scale, q_rows, at.d, k.data(), at.d, 0, p.data(),
            width);
    product(false, true, rows, width, at.d, 1, grad_rows, at.d, v.data(), at.d, 0, ds.data(),
            width);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t visible = at.columns(first + r);
      float* p_row = &p[r * width];
      float* ds_row = &ds[r * width];
      for (int64_t j = 0; j < visible; ++j) {
        p_row[j] = std::exp(p_row[j] - lse[first + r]);
        ds_row[j] = p_row[j] * (ds_row[j] - delta[first + r]);
      }
      std::fill(p_row + visible, p_row + width, 0.0f);
      std::fill(ds_row + visible, ds_row + width, 0.0f);
    }
    product(false, false, rows, at.d, width, at.scale, ds.data(), width, k.data(), at.d, 0,
            &out.dq[first * at.d], at.d);
    product(true, false, width, at.d, rows, at.scale, ds.data(), width, q_rows, at.d, 1,
            out.dk.data(), at.d);
    product(true, false, width, at.d, rows, 1, p.data(), width, grad_rows, at.d, 1, out.dv.data(),
            at.d);
  }
  return out;
}

// Forward over all heads with given layouts; `o` and `lse` in the layouts of outputs 0 and 1.
void forward_all(const Attention& at, const std::vector<Tensor>& qkv, const std::vector<Layout>& in,
                 const Layout& o_layout, const Layout& lse_layout, std::vector<float>& o,
                 std::vector<float>& lse) {
  openblas_set_num_threads(1);  // heads are the parallel work
  each_in_parallel(at.batch * at.heads, [&](int64_t piece) {
    const int64_t b = piece / at.heads, h = piece % at.heads;
    const Matrix q = gather(qkv[0], in[0], at.tokens, at.d, b, h);
    const Matrix k = gather(qkv[1], in[1], at.tokens, at.d, b, h);
    const Matrix v = gather(qkv[2], in[2], at.tokens, at.d, b, h);
    Matrix scores(static_cast<size_t>(kRows * at.tokens));
    Matrix head_o(q.size()), head_lse(static_cast<size_t>(at.tokens));
    for (int64_t first = 0; first < at.tokens; first += kRows) {
      forward_rows(at, q, k, v, first, std::min(kRows, at.tokens - first), scores, head_o,
                   head_lse);
    }
    scatter(head_o, o_layout, at.tokens, at.d, b, h, o);
    scatter(head_lse, lse_layout, at.tokens, 1, b, h, lse);
  });
}

size_t elements(const Attention& at, int64_t width) {
  return static_cast<size_t>(at.batch * at.heads * at.tokens * width);
}

}  // namespace

Result<Expected> attention_forward(const Task& task, const std::vector<Tensor>& inputs) {
  const Attention at = attention_of(task);
  const std::vector<Layout> in = TRY(layouts_of(task, task.definition.inputs));
  const std::vector<Layout> out = TRY(layouts_of(task, task.definition.outputs));
  Expected expected{std::vector<float>(elements(at, at.d)), std::vector<float>(elements(at, 1))};
  forward_all(at, inputs, in, out[0], out[1], expected[0], expected[1]);
  return expected;
}

// Inputs q, k, v, o, do, lse, delta.
Result<Expected> attention_backward(const Task& task, const std::vector<Tensor>& inputs) {
  const Attention at = attention_of(task);
  const std::vector<Layout> in = TRY(layouts_of(task, task.definition.inputs));
  const std::vector<Layout> out = TRY(layouts_of(task, task.definition.outputs));
  Expected expected(3, std::vector<float>(elements(at, at.d)));
  openblas_set_num_threads(1);
  each_in_parallel(at.batch * at.heads, [&](int64_t piece) {
    const int64_t b = piece / at.heads, h = piece % at.heads;
    const auto matrix = [&](size_t i, int64_t width) {
      return gather(inputs[i], in[i], at.tokens, width, b, h);
    };
    const HeadGradients gradients =
        backward_head(at, matrix(0, at.d), matrix(1, at.d), matrix(2, at.d), matrix(4, at.d),
                      matrix(5, 1), matrix(6, 1));
    scatter(gradients.dq, out[0], at.tokens, at.d, b, h, expected[0]);
    scatter(gradients.dk, out[1], at.tokens, at.d, b, h, expected[1]);
    scatter(gradients.dv, out[2], at.tokens, at.d, b, h, expected[2]);
  });
  return expected;
}

Result<Done> derive_attention(const Task& task, std::vector<Tensor>& inputs) {
  const Attention at = attention_of(task);
  const std::vector<Layout> in = TRY(layouts_of(task, task.definition.inputs));
  std::vector<float> o(elements(at, at.d)), lse(elements(at, 1)), delta(elements(at, 1));
  forward_all(at, inputs, in, in[3], in[5], o, lse);
  auto* rounded = reinterpret_cast<uint16_t*>(inputs[3].bytes.data());
  for (size_t i = 0; i < o.size(); ++i) rounded[i] = float_to_bf16(o[i]);
  each_in_parallel(at.batch * at.heads, [&](int64_t piece) {
    const int64_t b = piece / at.heads, h = piece % at.heads;
    const Matrix head_o = gather(inputs[3], in[3], at.tokens, at.d, b, h);
    const Matrix grad = gather(inputs[4], in[4], at.tokens, at.d, b, h);
    Matrix sums(static_cast<size_t>(at.tokens));
    for (int64_t t = 0; t < at.tokens; ++t) {
      double sum = 0;
      for (int64_t i = 0; i < at.d; ++i) sum += double{head_o[t * at.d + i]} * grad[t * at.d + i];
      sums[t] = static_cast<float>(sum);
    }
    scatter(sums, in[6], at.tokens, 1, b, h, delta);
  });
  std::memcpy(inputs[5].bytes.data(), lse.data(), lse.size() * sizeof(float));
  std::memcpy(inputs[6].bytes.data(), delta.data(), delta.size() * sizeof(float));
  return Done{};
}

}  // namespace weft::problems
