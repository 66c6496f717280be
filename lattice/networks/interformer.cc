// SPDX-License-Identifier: Apache-2.0

// The matrix of a row is added to the identity, so that a fresh network leaves events as they are.
#include "lattice/networks/interformer.h"

#include "lattice/networks/options.h"

namespace weft::lattice {

Result<InterformerOptions> read_interformer(Fields& fields) {
  InterformerOptions options;
  TRY(read_size(fields, "width", options.width));
  TRY(read_size(fields, "layers", options.layers));
  TRY(read_size(fields, "heads", options.heads));
  TRY(read_size(fields, "feed", options.feed));
  TRY(read_size(fields, "queries", options.queries));
  TRY(read_size(fields, "recent", options.recent));
  TRY(read_size(fields, "summary_tokens", options.summary_tokens));
  TRY(read_size(fields, "mixtures", options.mixtures));
  TRY(read_size(fields, "fm_tokens", options.fm_tokens));
  TRY(read_size(fields, "linear_tokens", options.linear_tokens));
  TRY(read_sizes(fields, "fm_hidden", options.fm_hidden));
  TRY(read_sizes(fields, "head", options.head));
  if (options.width % (2 * options.heads) != 0)
    return fields.error("heads", "does not divide the width into heads of an even width");
  return options;
}

at::Tensor personal_product(const at::Tensor& events, const at::Tensor& matrices,
                            const Segments& segments, Pass& pass) {
  pass.count(2.0 * static_cast<double>(events.numel() * events.size(1)));
  if (events.size(0) == 0) return events;
  return unpad(at::bmm(pad(events, segments), matrices), segments);
}

Interformer::Summaries Interformer::make_summaries(const Scope& scope,
                                                   const InterformerOptions& options,
                                                   int64_t tokens) {
  Summaries made;
  made.mix.emplace(scope.in("mix"), tokens, options.summary_tokens);
  made.gate.emplace(scope.in("gate"), options.width, options.width);
  if (features_.has_events()) {
    const int64_t recent = std::min(options.recent, inputs().sequence.length);
    made.events.emplace(scope.in("events"), SummaryShape{.policy = SequencePolicy::Summary,
                                                         .width = options.width,
                                                         .length = inputs().sequence.length,
                                                         .heads = options.heads,
                                                         .queries = options.queries,
                                                         .recent = recent});
  }
  return made;
}

Interformer::Interformer(const MakeNetwork& make, const InterformerOptions& options)
    : Network(make.inputs, options.width, make.seed, make.type),
      features_({parameters(), "features"}, make.inputs, options.width),
      token_norm_({parameters(), "token_norm"}, options.width) {
  const bool events = features_.has_events();
  const int64_t recent = std::min(options.recent, make.inputs.sequence.length);
  const int64_t from_events = events ? options.queries + recent : 0;
  int64_t tokens = features_.tokens();
  for (int64_t l = 0; l < options.layers; ++l) {
    const Scope scope(parameters(), "layer" + std::to_string(l));
    Layer& layer = layers_.emplace_back();
    const FusionShape shape{.tokens = tokens + from_events,
                            .width = options.width,
                            .mixtures = options.mixtures,
                            .fm_tokens = options.fm_tokens,
                            .linear_tokens = options.linear_tokens,
                            .hidden = options.fm_hidden};
    layer.interaction.emplace(scope.in("interaction"), shape);
    if (events) {
      layer.summaries = make_summaries(scope.in("summaries"), options, tokens);
      layer.personal.emplace(scope.in("personal"), options.summary_tokens * options.width,
                             options.width * options.width,
                             1 / std::sqrt(static_cast<double>(options.width)));
      layer.transformer.emplace(scope.in("transformer"),
                                TransformerShape{.width = options.width,
                                                 .heads = options.heads,
                                                 .hidden = options.feed * options.width});
    }
    tokens = shape.out();
  }
  last_ = make_summaries({parameters(), "last"}, options, tokens);
  heads_.emplace(Scope(parameters(), "heads"),
                 heads_shape(make.inputs, (options.summary_tokens + from_events) * options.width,
                             options.head));
}

at::Tensor Interformer::summarize(const Summaries& summaries, const at::Tensor& tokens,
                                  Pass& pass) const {
  const at::Tensor mixed = (*summaries.mix)(tokens, pass);
  return mixed + mixed * (*summaries.gate)(mixed, pass);
}

at::Tensor Interformer::forward(const TensorBatch& batch, Pass& pass) const {
  const FeatureTokens features = features_(batch, tables(), pass);
  at::Tensor tokens = token_norm_(features.rows), events = features.events;
  const int64_t rows = batch.rows(), width = tables().width();
  for (const Layer& layer : layers_) {
    at::Tensor input = tokens;
    if (layer.transformer) {
      const at::Tensor summary = summarize(layer.summaries, tokens, pass).flatten(1);
      input = at::cat({tokens, (*layer.summaries.events)(events, batch.history, pass)}, 1);
      const at::Tensor matrices = (*layer.personal)(summary, pass).view({rows, width, width});
      const at::Tensor personal = events + personal_product(events, matrices, batch.history, pass);
      events = (*layer.transformer)(personal, batch.history, {personal.size(0)}, pass);
    }
    tokens = (*layer.interaction)(input, {rows}, pass);
  }
  at::Tensor joined = summarize(last_, tokens, pass);
  if (last_.events) joined = at::cat({joined, (*last_.events)(events, batch.history, pass)}, 1);
  return (*heads_)(joined.flatten(1), pass);
}

}  // namespace weft::lattice
