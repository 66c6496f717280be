// SPDX-License-Identifier: Apache-2.0

// One function for all products, so that precision, the library and the count of operations are in
// one place. The derivative is written out because it takes the same roads.
#include "lattice/blocks/linear.h"

#include "lattice/blocks/fp32_product.h"

namespace weft::lattice {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Turned: the operand is the transpose of the tensor as it lies.
enum class Lies : uint8_t { Straight, Turned };

bool plain(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
}

// c [m, n] = a b.
void multiply(const at::Tensor& a, Lies a_lies, const at::Tensor& b, Lies b_lies, at::Tensor& c) {
  const bool a_turned = a_lies == Lies::Turned, b_turned = b_lies == Lies::Turned;
  if (plain(a) && plain(b) && plain(c) &&
      fp32_product({.shape = {c.size(0), c.size(1), a.size(a_turned ? 0 : 1)},
                    .a = a.data_ptr<float>(),
                    .b = b.data_ptr<float>(),
                    .c = c.data_ptr<float>(),
                    .a_turned = a_turned,
                    .b_turned = b_turned}))
    return;
  at::mm_out(c, a_turned ? a.t() : a, b_turned ? b.t() : b);
}

struct Runs {
  std::vector<int64_t> size;
  // Calls with the group and the range of its rows, groups without rows left out.
  template <typename Each>
  void each(const Each& call) const {
    int64_t begin = 0;
    for (size_t g = 0; g < size.size(); begin += size[g++])
      if (size[g] > 0) call(static_cast<int64_t>(g), begin, begin + size[g]);
  }
};

// x [rows, in] in runs, weights [groups, in, out].
struct GroupedProduct : torch::autograd::Function<GroupedProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weights, const std::vector<int64_t>& size) {
    at::Tensor y = at::empty({x.size(0), weights.size(2)}, x.options());
    Runs{size}.each([&](int64_t g, int64_t begin, int64_t end) {
      at::Tensor to = y.slice(0, begin, end);
      multiply(x.slice(0, begin, end), Lies::Straight, weights[g], Lies::Straight, to);
    });
    context->save_for_backward({x, weights});
    context->saved_data["size"] = size;
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weights = saved[1];
    const at::Tensor dy = gradients[0].contiguous();
    const Runs runs{context->saved_data["size"].toIntVector()};
    const bool for_x = context->needs_input_grad(0);
    at::Tensor dx = for_x ? at::empty_like(x) : at::Tensor();
    at::Tensor dweights = at::empty_like(weights);
    for (size_t g = 0; g < runs.size.size(); ++g)
      if (runs.size[g] == 0) dweights[static_cast<int64_t>(g)].zero_();
    runs.each([&](int64_t g, int64_t begin, int64_t end) {
      const at::Tensor part = dy.slice(0, begin, end);
      at::Tensor sum = dweights[g];
      multiply(x.slice(0, begin, end), Lies::Turned, part, Lies::Straight, sum);
      if (!for_x) return;
      at::Tensor to = dx.slice(0, begin, end);
      multiply(part, Lies::Straight, weights[g], Lies::Turned, to);
    });
    return {dx, dweights, at::Tensor()};
  }
};

}  // namespace

at::Tensor grouped_product(const at::Tensor& x, const at::Tensor& weights,
                           const std::vector<int64_t>& size, Pass& pass) {
  pass.count(2.0 * static_cast<double>(x.size(0) * weights.size(1) * weights.size(2)));
  if (pass.precision == Precision::Bf16)
    return GroupedProduct::apply(x.to(at::kBFloat16).contiguous(), weights.to(at::kBFloat16), size)
        .to(x.scalar_type());
  return GroupedProduct::apply(x.contiguous(), weights, size);
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, Pass& pass) {
  std::vector<int64_t> shape = x.sizes().vec();
  const int64_t in = shape.back(), rows = in == 0 ? 0 : x.numel() / in;
  shape.back() = weight.size(1);
  return grouped_product(x.reshape({rows, in}), weight.unsqueeze(0), {rows}, pass).view(shape);
}

}  // namespace weft::lattice
