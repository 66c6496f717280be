// SPDX-License-Identifier: Apache-2.0

// Two ways to the same numbers, as in norm.cc: loops over histories for fp32 on the CPU, padded
// tensor operations elsewhere.
#include "lattice/blocks/attention.h"

#include "lattice/blocks/attention_loops.h"
#include "lattice/blocks/norm.h"
#include "lattice/blocks/parts.h"

namespace weft::lattice {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Angles [longest, head_width / 2]: position * 10000^(-2 i / head_width).
at::Tensor angles(int64_t longest, int64_t head_width) {
  const at::Tensor i = at::arange(head_width / 2, at::kDouble);
  const at::Tensor frequency = (i * (-2.0 / static_cast<double>(head_width)) * std::log(1e4)).exp();
  return at::arange(longest, at::kDouble).unsqueeze(1) * frequency;
}

struct FusedAttention : torch::autograd::Function<FusedAttention> {
  struct Call {
    at::Tensor cosine, sine;
    AttentionShape shape;
    const int64_t* offsets;
    int64_t rows;

    Call(const Segments& segments, int64_t heads, const at::Tensor& q, const at::Tensor& k) {
      const int64_t head_width = q.size(0) / heads;
      const at::Tensor angle = angles(segments.longest(), head_width);
      cosine = angle.cos().to(at::kFloat);
      sine = angle.sin().to(at::kFloat);
      shape = {.heads = heads,
               .head_width = head_width,
               .epsilon = static_cast<float>(kNormEpsilon),
               .cosine = cosine.data_ptr<float>(),
               .sine = sine.data_ptr<float>(),
               .gain_q = q.data_ptr<float>(),
               .gain_k = k.data_ptr<float>()};
      offsets = segments.offsets.data_ptr<int64_t>();
      rows = segments.rows();
    }
  };

  static at::Tensor forward(AutogradContext* context, const at::Tensor& qkv, const at::Tensor& q,
                            const at::Tensor& k, const at::Tensor& offsets, int64_t heads) {
    const at::Tensor in = qkv.contiguous();
    const Call call({offsets}, heads, q, k);
    const int64_t width = call.shape.width();
    at::Tensor out = at::empty({in.size(0), width}, in.options());
    const float* from = in.data_ptr<float>();
    float* to = out.data_ptr<float>();
    in_parts(call.rows, [&](int64_t, int64_t begin, int64_t end) {
      AttentionScratch scratch;
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = call.offsets[row], length = call.offsets[row + 1] - first;
        if (length == 0) continue;
        attention_forward(call.shape, length, from + first * 3 * width, to + first * width,
                          scratch);
      }
    });
    context->save_for_backward({in, q, k});
    context->saved_data["offsets"] = offsets;
    context->saved_data["heads"] = heads;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor offsets = context->saved_data["offsets"].toTensor();
    const Call call({offsets}, context->saved_data["heads"].toInt(), saved[1], saved[2]);
    const int64_t width = call.shape.width();
    const at::Tensor dout = gradients[0].contiguous();
    // Each part has sums of its own.
    at::Tensor dqkv = at::empty_like(saved[0]);
    at::Tensor sums = at::zeros({2, kParts, width}, dqkv.options());
    const float *from = saved[0].data_ptr<float>(), *d = dout.data_ptr<float>();
    float *to = dqkv.data_ptr<float>(), *sum = sums.data_ptr<float>();
    in_parts(call.rows, [&](int64_t part, int64_t begin, int64_t end) {
      AttentionScratch scratch;
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = call.offsets[row], length = call.offsets[row + 1] - first;
        if (length == 0) continue;
        attention_backward(call.shape, length, from + first * 3 * width, d + first * width,
                           to + first * 3 * width, sum + part * width,
                           sum + (kParts + part) * width, scratch);
      }
    });
    const at::Tensor total = sums.sum(1);
    return {dqkv, total[0], total[1], at::Tensor(), at::Tensor()};
  }
};

// x [tokens, heads, head_width]
at::Tensor rotate(const at::Tensor& x, const at::Tensor& position) {
  const int64_t width = x.size(2);
  const int64_t longest = position.size(0) == 0 ? 0 : position.max().item<int64_t>() + 1;
  const at::Tensor angle = angles(longest, width).index_select(0, position).unsqueeze(1);
  const at::Tensor cosine = angle.cos().to(x.options()), sine = angle.sin().to(x.options());
  const std::vector<at::Tensor> half = x.split(width / 2, 2);
  return at::cat({half[0] * cosine - half[1] * sine, half[0] * sine + half[1] * cosine}, 2);
}

at::Tensor plain_attention(const at::Tensor& qkv, const AttentionGains& gains, int64_t heads,
                           const Segments& segments) {
  const int64_t tokens = qkv.size(0), width = qkv.size(1) / 3, head_width = width / heads;
  const int64_t rows = segments.rows(), longest = segments.longest();
  const std::vector<at::Tensor> parts = qkv.split(width, 1);
  const at::Tensor position = segments.position_in_row();
  const auto normed = [&](const at::Tensor& x, const at::Tensor& gain) {
    const at::Tensor split = x.reshape({tokens, heads, head_width});
    const at::Tensor norm = split * (split.square().mean(-1, true) + kNormEpsilon).rsqrt();
    return rotate(norm * gain.view({heads, head_width}), position).flatten(1);
  };
  // [rows, heads, longest, head_width]
  const auto padded = [&](const at::Tensor& x) {
    return pad(x, segments).view({rows, longest, heads, head_width}).transpose(1, 2);
  };
  const at::Tensor q = padded(normed(parts[0], gains.q)), k = padded(normed(parts[1], gains.k));
  const at::Tensor inside = at::arange(longest, at::kLong)
                                .unsqueeze(0)
                                .lt(segments.lengths().unsqueeze(1))
                                .to(qkv.device())
                                .view({rows, 1, 1, longest});
  const at::Tensor scores =
      at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(head_width));
  const at::Tensor weight = scores.masked_fill(inside.logical_not(), -1e30).softmax(-1);
  const at::Tensor mixed = at::matmul(weight, padded(parts[2]));
  return unpad(mixed.transpose(1, 2).reshape({rows, longest, width}), segments);
}

}  // namespace

at::Tensor attention(const at::Tensor& qkv, const AttentionGains& gains, int64_t heads,
                     const Segments& segments, Pass& pass) {
  const at::Tensor lengths = segments.lengths();
  const int64_t width = qkv.size(1) / 3;
  pass.count(4.0 * static_cast<double>(width) * lengths.mul(lengths).sum().item<double>());
  if (qkv.size(0) == 0) return qkv.slice(1, 0, width);
  if (qkv.is_cpu() && qkv.scalar_type() == at::kFloat)
    return FusedAttention::apply(qkv, gains.q, gains.k, segments.offsets, heads);
  return plain_attention(qkv, gains, heads, segments);
}

}  // namespace weft::lattice
