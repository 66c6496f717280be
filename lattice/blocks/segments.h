// SPDX-License-Identifier: Apache-2.0

// Sequences of different lengths, laid end to end: row i owns tokens offsets[i] ... offsets[i + 1].
// Nothing is padded, so nothing is computed for padding, and an empty history is just an empty
// segment.
#pragma once

#include "lattice/blocks/tensors.h"

namespace weft::lattice {

struct Segments {
  at::Tensor offsets;  // int64 [rows + 1], on the CPU

  int64_t rows() const { return offsets.size(0) - 1; }
  int64_t tokens() const { return offsets.data_ptr<int64_t>()[rows()]; }
  int64_t longest() const;
  at::Tensor lengths() const { return offsets.diff(); }
  at::Tensor row_of_token() const;     // int64 [tokens]
  at::Tensor position_in_row() const;  // int64 [tokens], 0 for the first of its row
};

// tokens [tokens, width] -> [rows, longest, width], zero behind the end of each; and back.
at::Tensor pad(const at::Tensor& tokens, const Segments& segments);
at::Tensor unpad(const at::Tensor& padded, const Segments& segments);
// The mean of each segment, zero where it is empty: [rows, width].
at::Tensor segment_mean(const at::Tensor& tokens, const Segments& segments);

}  // namespace weft::lattice
