// SPDX-License-Identifier: Apache-2.0

// Rows are sorted with everything that belongs to them but labels, which the loss reads in the
// caller's order.
#include "lattice/networks/lattice_network.h"

#include "lattice/networks/options.h"

namespace weft::lattice {
namespace {

constexpr int64_t kLongestForAll = 128;

TensorBatch sorted(const TensorBatch& batch, const GroupOrder& order) {
  TensorBatch made;
  for (const auto member : {&TensorBatch::categorical, &TensorBatch::dense, &TensorBatch::present,
                            &TensorBatch::domain, &TensorBatch::group})
    made.*member = (batch.*member).index_select(0, order.order);
  if (batch.teacher.defined()) made.teacher = batch.teacher.index_select(0, order.order);
  made.history = batch.history;
  if (!batch.events.defined() || batch.history.tokens() == 0) {
    made.events = batch.events;
    made.age = batch.age;
    return made;
  }
  // Events follow their rows.
  const at::Tensor rows = order.order.cpu();
  const int64_t* from = batch.history.offsets.data_ptr<int64_t>();
  made.history.offsets = at::zeros_like(batch.history.offsets);
  int64_t* to = made.history.offsets.data_ptr<int64_t>();
  at::Tensor places = at::empty({batch.history.tokens()}, at::kLong);
  int64_t *place = places.data_ptr<int64_t>(), next = 0;
  for (int64_t i = 0; i < batch.rows(); ++i) {
    const int64_t row = rows.data_ptr<int64_t>()[i];
    for (int64_t event = from[row]; event < from[row + 1]; ++event) place[next++] = event;
    to[i + 1] = next;
  }
  places = places.to(batch.events.device());
  made.events = batch.events.index_select(0, places);
  made.age = batch.age.index_select(0, places);
  return made;
}

SequencePolicy policy(const LatticeOptions& options, int64_t length) {
  switch (options.sequence) {
    case LatticeOptions::Sequence::All:
      return SequencePolicy::All;
    case LatticeOptions::Sequence::Summary:
      return SequencePolicy::Summary;
    case LatticeOptions::Sequence::Mean:
      return SequencePolicy::Mean;
    case LatticeOptions::Sequence::Auto:
      break;
  }
  return length > kLongestForAll ? SequencePolicy::Summary : SequencePolicy::All;
}

}  // namespace

Result<LatticeOptions> read_lattice(Fields& fields) {
  LatticeOptions options;
  TRY(read_size(fields, "width", options.width));
  TRY(read_size(fields, "layers", options.layers));
  TRY(read_size(fields, "heads", options.heads));
  TRY(read_size(fields, "feed", options.feed));
  TRY(fields.read_word("sequence", options.sequence, {"auto", "all", "summary", "mean"}));
  TRY(read_size(fields, "queries", options.queries));
  TRY(read_size(fields, "recent", options.recent));
  TRY(read_size(fields, "mixtures", options.mixtures));
  TRY(read_size(fields, "fm_tokens", options.fm_tokens));
  TRY(read_size(fields, "linear_tokens", options.linear_tokens));
  TRY(read_sizes(fields, "fm_hidden", options.fm_hidden));
  TRY(fields.read("cross_tokens", options.cross_tokens, 0, 1024));
  TRY(read_size(fields, "cross_rank", options.cross_rank));
  TRY(fields.read("context_tokens", options.context_tokens, 0, 1024));
  TRY(fields.read("untie", options.untie));
  TRY(read_sizes(fields, "head", options.head));
  TRY(fields.read("offset", options.offset));
  if (options.width % (2 * options.heads) != 0)
    return fields.error("heads", "does not divide the width into heads of an even width");
  return options;
}

LatticeNetwork::LatticeNetwork(const MakeNetwork& make, const LatticeOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      groups_(options.untie ? make.inputs.groups() : 1),
      features_({parameters(), "features"}, make.inputs, options.width),
      token_norm_({parameters(), "token_norm"}, options.width) {
  const int64_t length = make.inputs.sequence.length;
  int64_t tokens = features_.tokens(), stored = tokens;
  for (int64_t l = 0; l < options.layers; ++l) {
    const Scope scope(parameters(), "layer" + std::to_string(l));
    Layer& layer = layers_.emplace_back();
    FusionShape fusion{.tokens = tokens,
                       .width = options.width,
                       .mixtures = options.mixtures,
                       .fm_tokens = options.fm_tokens,
                       .linear_tokens = options.linear_tokens,
                       .hidden = options.fm_hidden,
                       .cross_tokens = options.cross_tokens,
                       .cross_rank = options.cross_rank,
                       .groups = groups_};
    if (features_.has_events()) {
      layer.transformer.emplace(scope.in("transformer"),
                                TransformerShape{.width = options.width,
                                                 .heads = options.heads,
                                                 .hidden = options.feed * options.width,
                                                 .groups = groups_});
      const SummaryShape summary{.policy = policy(options, length),
                                 .width = options.width,
                                 .length = length,
                                 .heads = options.heads,
                                 .queries = options.queries,
                                 .recent = std::min(options.recent, length)};
      layer.summary.emplace(scope.in("summary"), summary);
      fusion.tokens += summary.tokens();
    }
    // Before the second layer the store holds nothing but what the layer reads anyway.
    if (options.context_tokens > 0 && l > 0) {
      layer.context.emplace(scope.in("context"), stored, options.context_tokens);
      fusion.tokens += options.context_tokens;
    }
    layer.fusion.emplace(scope.in("fusion"), fusion);
    tokens = fusion.out();
    stored += tokens;
  }
  TaskHeadsShape heads = heads_shape(make.inputs, tokens * options.width, options.head);
  heads.offset = options.offset;
  heads_.emplace(Scope(parameters(), "heads"), heads);
}

at::Tensor LatticeNetwork::forward(const TensorBatch& batch, Pass& pass) const {
  if (groups_ == 1) return forward_sorted(batch, {batch.rows()}, pass);
  const GroupOrder order = order_by_group(batch.group, groups_);
  const at::Tensor logits = forward_sorted(sorted(batch, order), order.size, pass);
  if (pass.wants_backbone) pass.backbone = pass.backbone.index_select(0, order.place);
  return logits.index_select(0, order.place);
}

at::Tensor LatticeNetwork::forward_sorted(const TensorBatch& batch,
                                          const std::vector<int64_t>& sizes, Pass& pass) const {
  const FeatureTokens features = features_(batch, tables(), pass);
  const std::vector<int64_t> event_sizes = token_sizes(sizes, batch.history);
  at::Tensor tokens = token_norm_(features.rows), events = features.events;
  ContextStore store;
  store.put(tokens);
  for (const Layer& layer : layers_) {
    std::vector<at::Tensor> input = {tokens};
    if (layer.transformer) {
      events = (*layer.transformer)(events, batch.history, event_sizes, pass);
      input.push_back((*layer.summary)(events, batch.history, pass));
    }
    if (layer.context) input.push_back((*layer.context)(store, pass));
    tokens = (*layer.fusion)(at::cat(input, 1), sizes, pass);
    store.put(tokens);
  }
  return (*heads_)(tokens.flatten(1), pass);
}

}  // namespace weft::lattice
