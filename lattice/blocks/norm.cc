// SPDX-License-Identifier: Apache-2.0

// Two ways to the same numbers: loops for fp32 on the CPU, tensor operations elsewhere (another
// device, float64 of the derivative checks). The tests compare them.
#include "lattice/blocks/norm.h"

#include "lattice/blocks/norm_loops.h"
#include "lattice/blocks/parts.h"

namespace weft::lattice {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct FusedNorm : torch::autograd::Function<FusedNorm> {
  static NormShape shape(const at::Tensor& x, int64_t activation) {
    const int64_t width = x.size(-1);
    return {.rows = width == 0 ? 0 : x.numel() / width,
            .width = width,
            .epsilon = static_cast<float>(kNormEpsilon),
            .activation = static_cast<Activation>(activation)};
  }
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain,
                            int64_t activation) {
    const at::Tensor in = x.contiguous();
    const NormShape all = shape(in, activation);
    at::Tensor y = at::empty_like(in), inverse = at::empty({all.rows}, in.options());
    const float *from = in.data_ptr<float>(), *gains = gain.data_ptr<float>();
    float *to = y.data_ptr<float>(), *kept = inverse.data_ptr<float>();
    in_parts(all.rows, [&](int64_t, int64_t begin, int64_t end) {
      NormShape part = all;
      part.rows = end - begin;
      norm_forward(part, from + begin * all.width, gains, to + begin * all.width, kept + begin);
    });
    context->save_for_backward({in, gain, inverse});
    context->saved_data["activation"] = activation;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &gain = saved[1], &inverse = saved[2];
    const NormShape all = shape(x, context->saved_data["activation"].toInt());
    const at::Tensor dy = gradients[0].contiguous();
    // Each part has sums of its own.
    at::Tensor dx = at::empty_like(x), sums = at::zeros({kParts, all.width}, x.options());
    const float *from = x.data_ptr<float>(), *gains = gain.data_ptr<float>();
    const float *kept = inverse.data_ptr<float>(), *in = dy.data_ptr<float>();
    float *to = dx.data_ptr<float>(), *sum = sums.data_ptr<float>();
    in_parts(all.rows, [&](int64_t part, int64_t begin, int64_t end) {
      NormShape run = all;
      run.rows = end - begin;
      norm_backward(run, from + begin * all.width, gains, kept + begin, in + begin * all.width,
                    to + begin * all.width, sum + part * all.width);
    });
    return {dx, sums.sum(0), at::Tensor()};
  }
};

at::Tensor plain_norm(const at::Tensor& x, const at::Tensor& gain) {
  return x * (x.square().mean(-1, true) + kNormEpsilon).rsqrt() * gain;
}

bool fused(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat;
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain) {
  if (fused(x)) return FusedNorm::apply(x, gain, static_cast<int64_t>(Activation::None));
  return plain_norm(x, gain);
}

at::Tensor swish_rms_norm(const at::Tensor& x, const at::Tensor& gain) {
  if (fused(x)) return FusedNorm::apply(x, gain, static_cast<int64_t>(Activation::Swish));
  return at::silu(plain_norm(x, gain));
}

}  // namespace weft::lattice
