// SPDX-License-Identifier: Apache-2.0

// Lattice's network: a sequence side and a non-sequence side in turns, layer by layer.
//
//   events <- TB(events)
//   tokens <- DWFB([tokens | SeqToDense(events) | ECS(all earlier tokens)])
//   ECS.put(tokens)
//
// then a head per task on the tokens of the last layer. With more than one group of domains the
// feed forward of TB and the last matrix of DWFB are untied; rows are sorted by group on the way in
// and back on the way out.
#pragma once

#include "lattice/blocks/context_store.h"
#include "lattice/blocks/fusion_block.h"
#include "lattice/blocks/sequence_summary.h"
#include "lattice/blocks/transformer_block.h"
#include "lattice/networks/features.h"

namespace weft::lattice {

struct LatticeOptions {
  int64_t width = 64, layers = 3;
  int64_t heads = 2, feed = 4;  // feed: width of the feed-forward over width
  // Auto: every event for histories of up to 128, a summary for longer ones.
  enum class Sequence : uint8_t { Auto, All, Summary, Mean } sequence = Sequence::Auto;
  int64_t queries = 4, recent = 4;
  int64_t mixtures = 8, fm_tokens = 16, linear_tokens = 16;
  std::vector<int64_t> fm_hidden = {256};
  int64_t cross_tokens = 0, cross_rank = 32;
  int64_t context_tokens = 8;  // of ECS; 0: none
  bool untie = true;
  std::vector<int64_t> head = {128};
  bool offset = true;  // the calibrated offsets of the logits
};

Result<LatticeOptions> read_lattice(Fields& fields);

class LatticeNetwork final : public Network {
 public:
  LatticeNetwork(const MakeNetwork& make, const LatticeOptions& options);
  at::Tensor forward(const TensorBatch& batch, Pass& pass) const override;

 private:
  struct Layer {
    std::optional<TransformerBlock> transformer;
    std::optional<SequenceSummary> summary;
    std::optional<ContextReader> context;
    std::optional<FusionBlock> fusion;
  };
  at::Tensor forward_sorted(const TensorBatch& batch, const std::vector<int64_t>& sizes,
                            Pass& pass) const;

  int64_t groups_;
  Features features_;
  RmsNorm token_norm_;
  std::vector<Layer> layers_;
  std::optional<TaskHeads> heads_;
};

}  // namespace weft::lattice
