// SPDX-License-Identifier: Apache-2.0

// What goes along one forward pass beside the activations: how matrix products are computed, which
// rows belong together, and the count of the work, which each block adds to as it does it.
//
// What counts: two operations for each multiply-add of a matrix product, an attention score, a
// weighted sum or a table of interactions. Norms, activations, look-ups and sums of embeddings do
// not, as in the published counts that ours are compared with.
#pragma once

#include "lattice/blocks/embedding_table.h"

namespace weft::lattice {

enum class Precision : uint8_t { Full, Bf16 };

struct Pass {
  // Bf16: operands of matrix products are rounded to bf16, sums stay in fp32.
  Precision precision = Precision::Full;
  // The group of weights of each row, int64 [rows]; undefined where nothing is untied.
  at::Tensor group;
  double flops = 0;
  Lookups lookups;  // what was read of the embedding tables
  // Only what is served is computed: no distillation heads.
  bool serving = false;
  // What the heads read, [rows, numbers], is left here: a teacher's embedding.
  bool wants_backbone = false;
  at::Tensor backbone;

  void count(double operations) { flops += operations; }
};

}  // namespace weft::lattice
