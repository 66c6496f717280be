// SPDX-License-Identifier: Apache-2.0

// What a student's distillation heads minimize beside the tasks' own loss: of each task a binary
// cross-entropy against the teacher's label, over the rows for which the teacher's store had one.
//
//   y_j = (1 - smoothing) clip(label_scale sigmoid(z_j), 0, 1) + smoothing / 2
//   L   = weight / hits * sum over hits, tasks j of BCE(s_j, y_j)
//
// With an adapter a_j of the teacher's logit there are two targets, each with half the weight: y_j,
// and sigmoid(a_j), which is held still there. The adapter learns from the row's own label:
//
//   + weight / known hits of j * sum over them of BCE(a_j, label_j)
#pragma once

#include <cstdint>
#include <span>

namespace weft::lattice {

struct DistillationOptions {
  double weight = 1;
  double label_scale = 1;
  double smoothing = 0.02;
  bool adapter = false;
};

// Spans of [rows, tasks] but for `hit` [rows]; `tasks` are those that are distilled.
struct TeacherTargets {
  uint64_t rows = 0;
  size_t tasks = 0;
  std::span<const float> logit;    // the teacher's
  std::span<const uint8_t> hit;    // 0: nothing of the row counts
  std::span<const float> label;    // the row's own, for the adapter
  std::span<const uint8_t> known;  // 0: the label means nothing
};

// The teacher's label as a target.
double smoothed_label(const DistillationOptions& options, double logit);

// `student` and `adapted` (empty without an adapter) are logits [rows, tasks]; their gradients are
// overwritten, with exact zeros on misses.
double distillation_loss(const DistillationOptions& options, const TeacherTargets& targets,
                         std::span<const float> student, std::span<const float> adapted,
                         std::span<float> student_gradient, std::span<float> adapted_gradient);

}  // namespace weft::lattice
