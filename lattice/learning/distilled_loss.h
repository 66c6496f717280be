// SPDX-License-Identifier: Apache-2.0

// The loss of a student: that of its tasks on the heads that are served, and that of its teacher's
// labels on the distillation heads beside them.
#pragma once

#include "lattice/learning/learner.h"
#include "lattice/objectives/distillation.h"

namespace weft::lattice {

// `served` sees the served logits alone, and so do sums of a validation. `labels[i]` is the label
// column of the batch for distilled task i.
LossFunction distilled_loss(LossFunction served, const DistillationOptions& options,
                            const StudentShape& shape, size_t tasks, size_t windows,
                            std::vector<size_t> labels);

}  // namespace weft::lattice
