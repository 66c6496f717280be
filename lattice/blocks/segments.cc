// SPDX-License-Identifier: Apache-2.0

// The mean has a derivative of its own: made of scatters it would go token by token through
// LibTorch's slowest road.
#include "lattice/blocks/segments.h"

namespace weft::lattice {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor repeat_to_tokens(const at::Tensor& rows, const Segments& segments) {
  return rows.index_select(0, segments.row_of_token().to(rows.device()));
}

at::Tensor places(const Segments& segments) {
  return segments.row_of_token().mul_(segments.longest()).add_(segments.position_in_row());
}

struct SegmentMean : torch::autograd::Function<SegmentMean> {
  static at::Tensor shares(const Segments& segments, const at::Tensor& like) {
    return segments.lengths().clamp_min(1).to(like.options()).reciprocal_().unsqueeze_(1);
  }
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tokens,
                            const at::Tensor& offsets) {
    const Segments segments{offsets};
    at::Tensor sum;
    if (tokens.is_cpu()) {
      sum = at::zeros({segments.rows(), tokens.size(1)}, tokens.options());
      const int64_t* offset = offsets.data_ptr<int64_t>();
      for (int64_t row = 0; row < segments.rows(); ++row)
        if (offset[row + 1] > offset[row]) {
          at::Tensor to = sum.select(0, row);
          at::sum_out(to, tokens.slice(0, offset[row], offset[row + 1]), 0);
        }
    } else {
      sum = pad(tokens, segments).sum(1);
    }
    context->saved_data["offsets"] = offsets;
    return sum.mul_(shares(segments, tokens));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Segments segments{context->saved_data["offsets"].toTensor()};
    const at::Tensor rows = gradients[0] * shares(segments, gradients[0]);
    return {repeat_to_tokens(rows, segments), at::Tensor()};
  }
};

struct Pad : torch::autograd::Function<Pad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tokens,
                            const at::Tensor& offsets) {
    const Segments segments{offsets};
    context->saved_data["offsets"] = offsets;
    const int64_t longest = segments.longest();
    at::Tensor padded = at::zeros({segments.rows() * longest, tokens.size(1)}, tokens.options());
    padded.index_copy_(0, places(segments).to(tokens.device()), tokens);
    return padded.view({segments.rows(), longest, tokens.size(1)});
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Segments segments{context->saved_data["offsets"].toTensor()};
    return {unpad(gradients[0], segments), at::Tensor()};
  }
};

struct Unpad : torch::autograd::Function<Unpad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& padded,
                            const at::Tensor& offsets) {
    const Segments segments{offsets};
    context->saved_data["offsets"] = offsets;
    return padded.reshape({-1, padded.size(-1)})
        .index_select(0, places(segments).to(padded.device()));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {pad(gradients[0], Segments{context->saved_data["offsets"].toTensor()}), at::Tensor()};
  }
};

}  // namespace

int64_t Segments::longest() const {
  return rows() == 0 ? 0 : lengths().max().item<int64_t>();
}

at::Tensor Segments::row_of_token() const {
  return at::repeat_interleave(at::arange(rows(), at::kLong), lengths());
}

at::Tensor Segments::position_in_row() const {
  return at::arange(tokens(), at::kLong).sub_(offsets.index_select(0, row_of_token()));
}

at::Tensor pad(const at::Tensor& tokens, const Segments& segments) {
  return Pad::apply(tokens, segments.offsets);
}

at::Tensor unpad(const at::Tensor& padded, const Segments& segments) {
  return Unpad::apply(padded, segments.offsets);
}

at::Tensor segment_mean(const at::Tensor& tokens, const Segments& segments) {
  return SegmentMean::apply(tokens, segments.offsets);
}

}  // namespace weft::lattice
