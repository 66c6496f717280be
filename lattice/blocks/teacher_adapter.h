// SPDX-License-Identifier: Apache-2.0

// The student's adapter (ExFM): what a teacher said a while ago, turned into what is true now. Of
// each task an affine map of the teacher's logit, which starts as the identity and learns from
// fresh labels; its answer is a second target of the distillation head. It is not served.
#pragma once

#include "lattice/blocks/parameters.h"

namespace weft::lattice {

class TeacherAdapter {
 public:
  TeacherAdapter(const Scope& scope, int64_t tasks)
      : scale_(scope.constant("scale", {tasks}, 1)),
        offset_(scope.constant("offset", {tasks}, 0)) {}
  // logits [rows, tasks] of the teacher -> the same shape
  at::Tensor operator()(const at::Tensor& logits) const { return logits * scale_ + offset_; }

 private:
  at::Tensor scale_, offset_;
};

}  // namespace weft::lattice
