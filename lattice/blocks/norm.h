// SPDX-License-Identifier: Apache-2.0

// RMSNorm and SwishRMSNorm over the last dimension:
//   r = gain * x / sqrt(mean(x^2) + epsilon)      SwishRMSNorm: r * sigmoid(r)
//
// Unlike a layer norm nothing is subtracted, so nothing cancels in low precision, and a zero vector
// stays zero. The plain one is for residual streams, the swish takes the place of norm and
// activation inside MLPs. fp32 on the CPU runs as one loop each way (norm_loops.h).
#pragma once

#include "lattice/blocks/parameters.h"

namespace weft::lattice {

constexpr double kNormEpsilon = 1e-6;

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain);
at::Tensor swish_rms_norm(const at::Tensor& x, const at::Tensor& gain);

class RmsNorm {
 public:
  RmsNorm(const Scope& scope, int64_t width) : gain_(scope.constant("gain", {width}, 1)) {}
  at::Tensor operator()(const at::Tensor& x) const { return rms_norm(x, gain_); }

 private:
  at::Tensor gain_;
};

class SwishRmsNorm {
 public:
  SwishRmsNorm(const Scope& scope, int64_t width) : gain_(scope.constant("gain", {width}, 1)) {}
  at::Tensor operator()(const at::Tensor& x) const { return swish_rms_norm(x, gain_); }

 private:
  at::Tensor gain_;
};

}  // namespace weft::lattice
