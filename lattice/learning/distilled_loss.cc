// SPDX-License-Identifier: Apache-2.0

// Logits of a row are [tasks | distillation heads | adapters] x windows; of the latter two the
// first window's place is used.
#include "lattice/learning/distilled_loss.h"

#include "base/invariant.h"

namespace weft::lattice {
namespace {

// Slots [first, first + count) of each row.
std::vector<float> slots(std::span<const float> logits, size_t rows, size_t slots_of_row,
                         size_t first, size_t count, size_t windows) {
  std::vector<float> values;
  values.reserve(rows * count);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < count; ++i)
      values.push_back(logits[(row * slots_of_row + first + i) * windows]);
  return values;
}

// The longest window's label is what the teacher's served head speaks of.
bool last_window(const Batch& batch, size_t windows, size_t row) {
  return windows == 1 || batch.window.empty() || batch.window[row] + size_t{1} == windows;
}

}  // namespace

LossFunction distilled_loss(LossFunction served, const DistillationOptions& options,
                            const StudentShape& shape, size_t tasks, size_t windows,
                            std::vector<size_t> labels) {
  return [served = std::move(served), options, shape, tasks, windows, labels = std::move(labels)](
             std::span<const float> logits, const Batch& batch, std::span<float> gradient) {
    const size_t rows = batch.rows, distilled = shape.distilled.size(),
                 served_size = tasks * windows;
    const size_t all = tasks + distilled * (options.adapter ? 2 : 1);
    if (logits.size() == rows * served_size) return served(logits, batch, gradient);
    INVARIANT(logits.size() == rows * all * windows && gradient.size() == logits.size());
    std::vector<float> own, own_gradient(rows * served_size);
    own.reserve(rows * served_size);
    for (size_t row = 0; row < rows; ++row) {
      const auto from = logits.begin() + static_cast<std::ptrdiff_t>(row * all * windows);
      own.insert(own.end(), from, from + static_cast<std::ptrdiff_t>(served_size));
    }
    Loss loss = served(own, batch, own_gradient);

    const size_t teacher = rows == 0 ? 0 : batch.teacher_logit.size() / rows;
    const size_t columns = rows == 0 ? 0 : batch.label.size() / rows;
    std::vector<float> teacher_logit, label;
    std::vector<uint8_t> known;
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < distilled; ++i) {
        teacher_logit.push_back(batch.teacher_logit[row * teacher + shape.distilled[i].column]);
        label.push_back(batch.label[row * columns + labels[i]]);
        known.push_back(batch.label_known[row * columns + labels[i]] != 0 &&
                        last_window(batch, windows, row));
      }
    const std::vector<float> student = slots(logits, rows, all, tasks, distilled, windows);
    const std::vector<float> adapted =
        options.adapter ? slots(logits, rows, all, tasks + distilled, distilled, windows)
                        : std::vector<float>();
    std::vector<float> student_gradient(student.size()), adapted_gradient(adapted.size());
    loss.value += distillation_loss(options,
                                    {.rows = rows,
                                     .tasks = distilled,
                                     .logit = teacher_logit,
                                     .hit = batch.teacher_hit,
                                     .label = label,
                                     .known = known},
                                    student, adapted, student_gradient, adapted_gradient);
    std::fill(gradient.begin(), gradient.end(), 0.0f);
    for (size_t row = 0; row < rows; ++row) {
      const size_t at = row * all * windows;
      std::copy_n(own_gradient.begin() + static_cast<std::ptrdiff_t>(row * served_size),
                  served_size, gradient.begin() + static_cast<std::ptrdiff_t>(at));
      for (size_t i = 0; i < distilled; ++i) {
        gradient[at + (tasks + i) * windows] = student_gradient[row * distilled + i];
        if (options.adapter)
          gradient[at + (tasks + distilled + i) * windows] = adapted_gradient[row * distilled + i];
      }
    }
    return loss;
  };
}

}  // namespace weft::lattice
