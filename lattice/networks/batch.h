// SPDX-License-Identifier: Apache-2.0

// A batch as the reader has it (plain arrays, any owner) and as networks take it (tensors). Making
// tensors checks every id against its table and every domain against the list, because a wrong one
// would silently read another table's rows.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "lattice/blocks/embedding_table.h"
#include "lattice/blocks/segments.h"
#include "lattice/networks/inputs.h"

namespace weft::lattice {

// The names, shapes and types of the reader's Batch. Empty spans: the data has no such column.
struct BatchView {
  uint64_t rows = 0;
  std::span<const int32_t> categorical;  // [columns, rows]
  std::span<const float> dense;          // [rows, columns]
  std::span<const uint8_t> dense_present;
  std::span<const float> label;  // [rows, labels]
  std::span<const uint8_t> label_known;
  std::span<const int32_t> domain;            // [rows]
  std::span<const uint8_t> window;            // [rows]
  std::span<const int64_t> sequence_offsets;  // [rows + 1]
  std::span<const int32_t> sequence;          // [columns, events]
  std::span<const float> sequence_age;        // [events], seconds
  std::span<const float> teacher;             // [rows, width of the teacher]; zeros on a miss
  std::span<const uint8_t> teacher_hit;       // [rows]
};

struct TensorBatch {
  at::Tensor categorical;  // int64 [rows, columns], rows of the embedding table
  at::Tensor dense;        // [rows, columns]
  at::Tensor present;      // the same, 1 where the value is known
  at::Tensor domain;       // int64 [rows]
  at::Tensor group;        // int64 [rows], the domain's group of weights
  Segments history;        // whose events are whose
  at::Tensor events;       // int64 [events, columns], rows of the embedding table
  at::Tensor age;          // [events]
  at::Tensor teacher;      // [rows, width + 1]: a teacher's embedding, then 1 on a hit
  at::Tensor label;        // [rows, tasks]
  at::Tensor known;        // [rows, tasks], 1 where the label counts: known, and the domain owns it
  at::Tensor window;       // int64 [rows, tasks], which of the task's logits the row trains

  int64_t rows() const { return domain.size(0); }
  TensorBatch to(at::Device device) const;  // offsets stay on the CPU
  TensorBatch to(at::ScalarType type) const;
};

// Copies the batch. The label may be missing (serving): then label, known and window are undefined.
Result<TensorBatch> make_batch(const BatchView& batch, const NetworkInputs& inputs,
                               const EmbeddingTable& tables);

}  // namespace weft::lattice
