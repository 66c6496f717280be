// SPDX-License-Identifier: Apache-2.0

// An event whose columns are all padding is still an event: its time gap says something.
#include "lattice/blocks/event_tokens.h"

namespace weft::lattice {

at::Tensor gap_bucket(const at::Tensor& age_seconds) {
  // In float64: in fp32 2^24 seconds and one more are the same number.
  return age_seconds.to(at::kDouble)
      .clamp_min(0)
      .add_(1)
      .log2_()
      .floor_()
      .clamp_max_(kGapBuckets - 1)
      .to(at::kLong);
}

at::Tensor EventTokens::operator()(const at::Tensor& values, const at::Tensor& age,
                                   Pass& pass) const {
  const at::Tensor gap = at::one_hot(gap_bucket(age), kGapBuckets).to(values.scalar_type());
  return map_(at::cat({values.flatten(1), gap}, 1), pass);
}

}  // namespace weft::lattice
