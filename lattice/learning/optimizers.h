// SPDX-License-Identifier: Apache-2.0

// The two optimisers of a training, on plain memory in fp32. Sums run in one fixed order, so the
// same gradients give the same bits whatever the number of threads.
//
// Adam (Kingma and Ba 2015) moves all dense parameters, with bias correction, warm-up and gradients
// clipped by their norm. Row-wise Adagrad (one accumulator a row) moves only those rows of a table
// that a batch has seen; the rest of the table is neither read nor written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::lattice {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;     // decoupled: value -= rate * decay * value
  uint64_t warm_up_steps = 0;  // the rate grows linearly over them
  double clip_norm = 1;        // of all dense gradients together; 0: no clipping
  // The rate falls linearly to this share of itself at `total_steps` (0: it stays).
  double end_share = 1;
  uint64_t total_steps = 0;
};

// The factor on a learning rate at a step (counted from 1).
double schedule(const AdamOptions& options, uint64_t step);

struct DenseParameter {
  std::span<float> value;
  std::span<const float> gradient;  // empty: the batch did not reach it, so it stays as it is
  std::span<float> first, second;   // moments, kept with the checkpoint
};

// `step` counts from 1. Returns the norm of the gradients before clipping; when that is no finite
// number, nothing has moved.
double adam_step(const AdamOptions& options, uint64_t step, std::span<DenseParameter> parameters);

struct TableGradient {
  std::span<const int64_t> rows;  // may repeat
  std::span<const float> values;  // [rows, width]
};

// Gradients of one row are summed in their order before its accumulator grows by their mean square.
void adagrad_rows_step(double learning_rate, double epsilon, size_t width, std::span<float> table,
                       std::span<float> accumulator, const TableGradient& gradient);

}  // namespace weft::lattice
