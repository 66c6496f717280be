// SPDX-License-Identifier: Apache-2.0

// Attention of a server: sequences of different lengths packed behind each other, keys and values
// dense ("ragged") or scattered over pages of a cache, several query heads to a key head (GQA) or
// one latent key for all heads (MLA). Log-sum-exp has base 2. Every head of every sequence is a
// piece of parallel work: its rows are gathered and given to attend().
#include <cmath>
#include <string_view>

#include "base/parallel.h"
#include "ptxbench/problems/attention_head.h"
#include "ptxbench/problems/family.h"
#include "ptxbench/problems/product.h"

namespace weft::problems {
namespace {

// Rows of one sequence: queries first ... first + count - 1, keys by their row in the cache.
struct Sequence {
  int64_t first, count;
  std::vector<int64_t> keys;
};

std::vector<int64_t> integers(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (const double value : elements<double>(tensor, 0, tensor.count()))
    values.push_back(static_cast<int64_t>(value));
  return values;
}

std::vector<int64_t> integers_named(std::string_view name, const std::vector<Tensor>& inputs) {
  for (const Tensor& tensor : inputs)
    if (tensor.name == name) return integers(tensor);
  return {};
}

// Without query offsets: one query a sequence. Without indices: keys lie behind each other; else
// these name pages of `page` rows, of which the last of a sequence may be filled in part.
std::vector<Sequence> sequences_of(const std::vector<Tensor>& inputs, int64_t page) {
  const std::vector<int64_t> key_offsets = integers_named("kv_indptr", inputs);
  const std::vector<int64_t> query_offsets = integers_named("qo_indptr", inputs);
  const std::vector<int64_t> pages = integers_named("kv_indices", inputs);
  const std::vector<int64_t> filled = integers_named("kv_last_page_len", inputs);
  std::vector<Sequence> sequences;
  for (size_t s = 0; s + 1 < key_offsets.size(); ++s) {
    Sequence one{static_cast<int64_t>(s), 1, {}};
    if (!query_offsets.empty())
      one = {query_offsets[s], query_offsets[s + 1] - query_offsets[s], {}};
    for (int64_t k = key_offsets[s]; k < key_offsets[s + 1]; ++k) {
      const bool last = k + 1 == key_offsets[s + 1];
      const int64_t rows = last && !filled.empty() ? filled[s] : page;
      for (int64_t row = 0; row < rows; ++row)
        one.keys.push_back(pages.empty() ? k : pages[k] * page + row);
    }
    sequences.push_back(std::move(one));
  }
  return sequences;
}

// Row r of head h of a tensor (..., rows, heads, width), put at `column` of a matrix.
template <typename Real>
void gather(const Tensor& tensor, int64_t row, int64_t heads, int64_t head, Real* target) {
  const int64_t width = tensor.shape.back();
  const std::vector<Real> values = elements<Real>(tensor, (row * heads + head) * width, width);
  std::copy(values.begin(), values.end(), target);
}

// What a family's tensors mean. The key of a row is the parts behind each other, its value part 0
// of `values`.
struct Layout {
  std::vector<const Tensor*> queries, keys;  // parts of equal number
  const Tensor* values;
  int64_t query_heads, key_heads;
  bool causal;
  double scale;
};

template <typename Real>
void one_head(const Layout& layout, const Sequence& sequence, int64_t head, const Model* model,
              Expected& out) {
  const int64_t key_head = head / (layout.query_heads / layout.key_heads);
  int64_t dim = 0;
  for (const Tensor* part : layout.keys) dim += part->shape.back();
  const int64_t value_dim = layout.values->shape.back();
  const auto keys = static_cast<int64_t>(sequence.keys.size());
  std::vector<Real> q(static_cast<size_t>(sequence.count * dim)),
      k(static_cast<size_t>(keys * dim)), v(static_cast<size_t>(keys * value_dim));
  int64_t column = 0;
  for (size_t part = 0; part < layout.keys.size(); ++part) {
    for (int64_t i = 0; i < sequence.count; ++i)
      gather(*layout.queries[part], sequence.first + i, layout.query_heads, head,
             &q[i * dim + column]);
    for (int64_t i = 0; i < keys; ++i)
      gather(*layout.keys[part], sequence.keys[i], layout.key_heads, key_head,
             &k[i * dim + column]);
    column += layout.keys[part]->shape.back();
  }
  for (int64_t i = 0; i < keys; ++i)
    gather(*layout.values, sequence.keys[i], layout.key_heads, key_head, &v[i * value_dim]);
  std::vector<Real> o(static_cast<size_t>(sequence.count * value_dim)),
      lse(static_cast<size_t>(sequence.count));
  attend_with<Real>(model,
                    {sequence.count, keys, dim, value_dim, static_cast<Real>(layout.scale),
                     layout.causal, q.data(), k.data(), v.data()},
                    o.data(), lse.data());
  for (int64_t i = 0; i < sequence.count; ++i) {
    const int64_t row = (sequence.first + i) * layout.query_heads + head;
    for (int64_t e = 0; e < value_dim; ++e)
      out[0][row * value_dim + e] = static_cast<float>(o[i * value_dim + e]);
    out[1][row] = static_cast<float>(lse[i] / std::log(Real{2}));
  }
}

Expected attention(const Task& task, const Layout& layout, const std::vector<Sequence>& sequences,
                   const Arithmetic& how) {
  Expected out;
  for (const TensorSpec& spec : task.definition.outputs)
    out.emplace_back(static_cast<size_t>(element_count(task.shape(spec))));
  set_product_workers(1);
  const auto pieces = static_cast<int64_t>(sequences.size()) * layout.query_heads;
  each_in_parallel(pieces, [&](int64_t piece) {
    const Sequence& sequence = sequences[piece / layout.query_heads];
    const int64_t head = piece % layout.query_heads;
    if (how.sums == Sums::Float64)
      one_head<double>(layout, sequence, head, nullptr, out);
    else
      one_head<float>(layout, sequence, head, how.model, out);
  });
  return out;
}

double scalar(const Tensor& tensor) {
  return elements<double>(tensor, 0, 1).front();
}

}  // namespace

// q, k_cache, v_cache, [qo_indptr,] kv_indptr, kv_indices, [kv_last_page_len,] sm_scale
Expected gqa_paged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  const bool prefill = inputs[3].name == "qo_indptr";
  const Layout layout{{&inputs[0]},       {&inputs[1]}, &inputs[2],           inputs[0].shape[1],
                      inputs[1].shape[2], prefill,      scalar(inputs.back())};
  return attention(task, layout, sequences_of(inputs, inputs[1].shape[1]), how);
}

// q, k, v, qo_indptr, kv_indptr, sm_scale
Expected gqa_ragged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  const Layout layout{{&inputs[0]},       {&inputs[1]}, &inputs[2],       inputs[0].shape[1],
                      inputs[1].shape[1], true,         scalar(inputs[5])};
  return attention(task, layout, sequences_of(inputs, 1), how);
}

// q_nope, q_pe, ckv_cache, kpe_cache, [qo_indptr,] kv_indptr, kv_indices, sm_scale
Expected mla_paged(const Task& task, const std::vector<Tensor>& inputs, const Arithmetic& how) {
  const bool prefill = inputs[4].name == "qo_indptr";
  const Layout layout{{&inputs[0], &inputs[1]},
                      {&inputs[2], &inputs[3]},
                      &inputs[2],
                      inputs[0].shape[1],
                      1,
                      prefill,
                      scalar(inputs.back())};
  return attention(task, layout, sequences_of(inputs, inputs[2].shape[1]), how);
}

}  // namespace weft::problems
