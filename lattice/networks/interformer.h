// SPDX-License-Identifier: Apache-2.0

// InterFormer (Zeng et al. 2024): the two sides of a layer work on the same input and exchange
// summaries.
//
//   X_sum = gate(mix of tokens), S_sum = summary of events
//   tokens <- interaction([tokens | S_sum])
//   events <- transformer(events (X_sum W_0))     a matrix of the row's own (PFFN)
//   logits <- heads([X_sum | S_sum])
#pragma once

#include <optional>

#include "lattice/blocks/fusion_block.h"
#include "lattice/blocks/sequence_summary.h"
#include "lattice/blocks/token_mix.h"
#include "lattice/blocks/transformer_block.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct InterformerOptions {
  int64_t width = 32, layers = 2, heads = 2, feed = 2;
  int64_t queries = 2, recent = 2, summary_tokens = 4;
  int64_t mixtures = 8, fm_tokens = 16, linear_tokens = 16;
  std::vector<int64_t> fm_hidden = {256};
  std::vector<int64_t> head = {64};
};

Result<InterformerOptions> read_interformer(Fields& fields);

// events [tokens, width] times the matrix of their row, matrices [rows, width, width].
at::Tensor personal_product(const at::Tensor& events, const at::Tensor& matrices,
                            const Segments& segments, Pass& pass);

class Interformer final : public Network {
 public:
  Interformer(const MakeNetwork& make, const InterformerOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  struct Summaries {
    std::optional<TokenMix> mix;
    std::optional<Linear> gate;
    std::optional<SequenceSummary> events;
  };
  struct Layer {
    Summaries summaries;
    std::optional<FusionBlock> interaction;
    std::optional<Linear> personal;
    std::optional<TransformerBlock> transformer;
  };
  Summaries make_summaries(const Scope& scope, const InterformerOptions& options, int64_t tokens);
  at::Tensor summarize(const Summaries& summaries, const at::Tensor& tokens, Pass& pass) const;

  Features features_;
  RmsNorm token_norm_;
  std::vector<Layer> layers_;
  Summaries last_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
