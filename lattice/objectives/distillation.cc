// SPDX-License-Identifier: Apache-2.0

#include "lattice/objectives/distillation.h"

#include <algorithm>
#include <vector>

#include "base/invariant.h"
#include "lattice/objectives/binary.h"

namespace weft::lattice {

double smoothed_label(const DistillationOptions& options, double logit) {
  const double label = std::clamp(options.label_scale * sigmoid(logit), 0.0, 1.0);
  return (1 - options.smoothing) * label + options.smoothing / 2;
}

double distillation_loss(const DistillationOptions& options, const TeacherTargets& targets,
                         std::span<const float> student, std::span<const float> adapted,
                         std::span<float> student_gradient, std::span<float> adapted_gradient) {
  const size_t tasks = targets.tasks;
  INVARIANT(student.size() == targets.rows * tasks && student_gradient.size() == student.size());
  INVARIANT(adapted.size() == (options.adapter ? student.size() : 0) &&
            adapted_gradient.size() == adapted.size());
  std::fill(student_gradient.begin(), student_gradient.end(), 0.0f);
  std::fill(adapted_gradient.begin(), adapted_gradient.end(), 0.0f);
  uint64_t hits = 0;
  std::vector<uint64_t> known(tasks);
  for (uint64_t row = 0; row < targets.rows; ++row) {
    if (targets.hit[row] == 0) continue;
    ++hits;
    for (size_t j = 0; j < tasks; ++j) known[j] += targets.known[row * tasks + j] != 0;
  }
  if (hits == 0) return 0;
  const double share = options.weight / static_cast<double>(hits) / (options.adapter ? 2 : 1);
  double value = 0;
  for (size_t i = 0; i < student.size(); ++i) {
    const uint64_t row = i / tasks;
    const size_t j = i % tasks;
    if (targets.hit[row] == 0) continue;
    const double mine = sigmoid(student[i]), target = smoothed_label(options, targets.logit[i]);
    value += share * cross_entropy(student[i], target);
    double slope = share * (mine - target);
    if (options.adapter) {
      const double second = sigmoid(adapted[i]);
      value += share * cross_entropy(student[i], second);
      slope += share * (mine - second);
      if (targets.known[i] != 0) {
        const double one = options.weight / static_cast<double>(known[j]);
        value += one * cross_entropy(adapted[i], targets.label[i]);
        adapted_gradient[i] = static_cast<float>(one * (second - targets.label[i]));
      }
    }
    student_gradient[i] = static_cast<float>(slope);
  }
  return value;
}

}  // namespace weft::lattice
