// SPDX-License-Identifier: Apache-2.0

// The only file of training that sees tensors. Forward and backward are LibTorch's; the loss and
// its slopes, and both optimisers, are plain loops over the tensors' memory.
#include "lattice/learning/learner.h"

#include <optional>

#include <fmt/format.h>

#include "base/invariant.h"
#include "lattice/blocks/teacher_adapter.h"
#include "lattice/networks/network.h"

namespace weft::lattice {
namespace {

std::span<float> values(at::Tensor& tensor) {
  INVARIANT(tensor.is_contiguous());
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

std::vector<uint64_t> shape(const at::Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

bool all_finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float one) { return std::isfinite(one); });
}

BatchView view_of(const Batch& batch) {
  return {.rows = batch.rows,
          .categorical = batch.categorical,
          .dense = batch.dense,
          .dense_present = batch.dense_present,
          .domain = batch.domain,
          .sequence_offsets = batch.sequence_offsets,
          .sequence = batch.sequence,
          .sequence_age = batch.sequence_age,
          .teacher = batch.teacher,
          .teacher_hit = batch.teacher_hit};
}

NetworkInputs inputs_of(const ShardIndex& schema, const LearnerOptions& options) {
  NetworkInputs inputs;
  for (const ShardIndex::Table& table : schema.tables)
    inputs.categorical.push_back({table.name, static_cast<int64_t>(table.rows)});
  const size_t columns = schema.dense.size();
  inputs.dense_columns = static_cast<int64_t>(columns);
  const size_t groups = std::min<size_t>(columns, std::max<uint64_t>(1, options.dense_tokens));
  for (size_t g = 0; g < groups; ++g) {
    DenseGroup group{.name = "dense" + std::to_string(g)};
    for (size_t c = g * columns / groups; c < (g + 1) * columns / groups; ++c)
      group.columns.push_back(static_cast<int64_t>(c));
    inputs.dense_groups.push_back(std::move(group));
  }
  for (const ShardIndex::Sequence& one : schema.sequences)
    inputs.sequence.columns.push_back({one.name, one.table});
  inputs.sequence.length = static_cast<int64_t>(std::max<uint64_t>(1, schema.sequence_length));
  for (size_t j = 0; j < options.tasks.size(); ++j)
    inputs.tasks.push_back({options.tasks[j].name, j, options.tasks[j].base_rates});
  if (!schema.domains.empty()) inputs.domains.clear();
  for (size_t d = 0; d < schema.domains.size(); ++d)
    inputs.domains.push_back(
        {schema.domains[d], options.domain_groups.empty() ? 0 : options.domain_groups[d]});
  inputs.teacher.width = options.student.width;
  inputs.teacher.gradient_scale = options.student.gradient_scale;
  for (const auto& [task, column] : options.student.distilled)
    inputs.teacher.distilled.push_back(task);
  return inputs;
}

}  // namespace

LossFunction loss_of(Objective objective, std::vector<size_t> labels) {
  return [objective = std::move(objective), labels = std::move(labels)](
             std::span<const float> logits, const Batch& batch, std::span<float> gradient) {
    const size_t columns = batch.rows == 0 ? 0 : batch.label.size() / batch.rows;
    std::vector<float> label;
    std::vector<uint8_t> known;
    for (uint64_t row = 0; row < batch.rows; ++row)
      for (const size_t column : labels) {
        label.push_back(batch.label[row * columns + column]);
        known.push_back(batch.label_known[row * columns + column]);
      }
    return objective.evaluate(logits,
                              {.rows = batch.rows,
                               .label = label,
                               .known = known,
                               .window = batch.window,
                               .domain = batch.domain},
                              gradient);
  };
}

struct Learner::Body {
  ShardIndex schema;
  LearnerOptions options;
  std::unique_ptr<Network> network;
  std::vector<at::Tensor> first, second;  // moments of the dense parameters, in their order
  at::Tensor accumulator;                 // of the tables, one number a row
  uint64_t steps = 0;
  std::optional<TeacherAdapter> adapter;

  Result<at::Tensor> forward(const Batch& batch, Pass& pass) const {
    const TensorBatch tensors =
        TRY(make_batch(view_of(batch), network->inputs(), network->tables()));
    at::Tensor logits = network->forward(tensors, pass);
    if (!adapter || pass.serving) return logits;
    const at::Tensor adapted = (*adapter)(teacher_logits(batch)).unsqueeze(2);
    return at::cat({logits, at::constant_pad_nd(adapted, {0, logits.size(2) - 1})}, 1);
  }
  // [rows, distilled tasks]
  at::Tensor teacher_logits(const Batch& batch) const {
    const std::vector<StudentShape::Distilled>& tasks = options.student.distilled;
    const size_t width = batch.teacher_logit.size() / batch.rows;
    at::Tensor logits = at::empty(
        {static_cast<int64_t>(batch.rows), static_cast<int64_t>(tasks.size())}, at::kFloat);
    float* to = logits.data_ptr<float>();
    for (uint64_t row = 0; row < batch.rows; ++row)
      for (const auto& [task, column] : tasks) {
        INVARIANT(column < width);
        *to++ = batch.teacher_logit[row * width + column];
      }
    return logits;
  }
  Error not_finite(const Batch& batch, const at::Tensor& logits) const;
};

// Looks for the cause where a person would: in the values of a row, then in its embeddings, then in
// the weights.
Error Learner::Body::not_finite(const Batch& batch, const at::Tensor& logits) const {
  const auto row_name = [&](uint64_t row) {
    return batch.id.empty() ? fmt::format("row {} of the batch", row)
                            : fmt::format("the row with id {}", batch.id[row]);
  };
  const std::string at = fmt::format(" at step {}", steps + 1);
  const size_t dense = schema.dense.size();
  for (uint64_t row = 0; row < batch.rows; ++row)
    for (size_t c = 0; c < dense; ++c)
      if (!std::isfinite(batch.dense[row * dense + c]))
        return Error(fmt::format("a value is not a finite number: feature {} of {}{}",
                                 schema.dense[c], row_name(row), at),
                     "mend the data, or bound the column with from and to, then ingest again");
  const at::Tensor flat = logits.detach().reshape({static_cast<int64_t>(batch.rows), -1});
  const at::Tensor good = flat.isfinite().all(1);
  uint64_t bad = 0;
  while (bad < batch.rows && good[static_cast<int64_t>(bad)].item<bool>()) ++bad;
  const std::string where = bad < batch.rows ? row_name(bad) : "no single row";
  const at::Tensor& weight = network->tables().weight();
  for (size_t t = 0; bad < batch.rows && t < schema.tables.size(); ++t) {
    const int64_t id = batch.categorical[t * batch.rows + bad];
    if (id != 0 && !weight[network->tables().first(t) + id].isfinite().all().item<bool>())
      return Error(fmt::format("an embedding is not finite: feature {} with table row {}, {}{}",
                               schema.tables[t].name, id, where, at),
                   "lower table_learning_rate");
  }
  for (const Parameters::Named& one : network->parameters().all())
    if (!one.value.isfinite().all().item<bool>())
      return Error(fmt::format("a weight is not finite: {}, seen at {}{}", one.name, where, at),
                   "lower learning_rate, or go back to an earlier checkpoint");
  return Error(fmt::format("the loss or its gradient is not finite: {}{}", where, at),
               "lower learning_rate, or look at this row's values");
}

Learner::Learner(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

Result<Learner> Learner::create(const ShardIndex& schema, const YamlDocument& document,
                                const YamlNode& network, const LearnerOptions& options) {
  auto body = std::make_unique<Body>();
  body->schema = schema;
  body->options = options;
  body->network = TRY(make_network(document, network,
                                   {.inputs = inputs_of(schema, options), .seed = options.seed}));
  if (options.student.adapter && !options.student.distilled.empty())
    body->adapter.emplace(Scope(body->network->parameters(), "adapter"),
                          static_cast<int64_t>(options.student.distilled.size()));
  for (const Parameters::Named& one : body->network->parameters().all()) {
    body->first.push_back(at::zeros(one.value.sizes(), at::kFloat));
    body->second.push_back(at::zeros(one.value.sizes(), at::kFloat));
  }
  body->accumulator = at::zeros({body->network->tables().weight().size(0)}, at::kFloat);
  return Learner(std::move(body));
}

Result<Loss> Learner::step(const Batch& batch, const LossFunction& loss) {
  Body& body = *body_;
  Network& network = *body.network;
  Pass pass;
  const at::Tensor logits = TRY(body.forward(batch, pass));
  at::Tensor plain = logits.detach().contiguous();
  at::Tensor slopes = at::zeros_like(plain);
  Loss result = loss(values(plain), batch, values(slopes));
  if (!std::isfinite(result.value) || !all_finite(values(plain)))
    return body.not_finite(batch, logits);
  for (const Parameters::Named& one : network.parameters().all())
    at::Tensor(one.value).mutable_grad().reset();
  logits.backward(slopes);

  std::vector<at::Tensor> kept;  // contiguous gradients, alive until the step is made
  std::vector<at::Tensor> rows;
  for (const Lookup& lookup : pass.lookups) {
    if (!lookup.values.grad().defined()) continue;
    kept.push_back(lookup.gradient().contiguous());
    rows.push_back(lookup.rows.reshape({-1}).contiguous());
    if (!all_finite(values(kept.back()))) return body.not_finite(batch, logits);
  }
  const size_t lookups = kept.size();
  std::vector<DenseParameter> dense;
  const std::vector<Parameters::Named>& all = network.parameters().all();
  for (size_t i = 0; i < all.size(); ++i) {
    at::Tensor value = all[i].value.detach();
    std::span<const float> gradient;
    if (all[i].value.grad().defined()) {
      kept.push_back(all[i].value.grad().contiguous());
      gradient = values(kept.back());
    }
    dense.push_back({values(value), gradient, values(body.first[i]), values(body.second[i])});
  }
  if (!std::isfinite(adam_step(body.options.dense, body.steps + 1, dense)))
    return body.not_finite(batch, logits);
  ++body.steps;
  at::Tensor weight = network.tables().weight();
  const double rate = body.options.table_learning_rate * schedule(body.options.dense, body.steps);
  for (size_t i = 0; i < lookups; ++i)
    adagrad_rows_step(
        rate, body.options.table_epsilon, static_cast<size_t>(weight.size(1)), values(weight),
        values(body.accumulator),
        {{rows[i].data_ptr<int64_t>(), static_cast<size_t>(rows[i].numel())}, values(kept[i])});
  return result;
}

Result<std::vector<float>> Learner::logits(const Batch& batch) {
  const at::NoGradGuard still;
  Pass pass;
  pass.serving = true;
  at::Tensor logits = TRY(body_->forward(batch, pass)).contiguous();
  const std::span<float> numbers = values(logits);
  return std::vector<float>(numbers.begin(), numbers.end());
}

Result<Teaching> Learner::teach(const Batch& batch) {
  const at::NoGradGuard still;
  Pass pass;
  pass.serving = pass.wants_backbone = true;
  const at::Tensor all = TRY(body_->forward(batch, pass));
  at::Tensor logits = served_logits(*body_->network, all).contiguous();
  at::Tensor embeddings = pass.backbone.contiguous();
  const std::span<float> numbers = values(logits), wide = values(embeddings);
  return Teaching{{wide.begin(), wide.end()}, {numbers.begin(), numbers.end()}};
}

uint32_t Learner::embedding_width() const {
  return static_cast<uint32_t>(backbone_width(*body_->network));
}

std::vector<StateTensor> Learner::state() {
  std::vector<StateTensor> all;
  const auto add = [&](const std::string& name, at::Tensor tensor, bool served) {
    all.push_back({name, shape(tensor), values(tensor), served});
  };
  const std::vector<Parameters::Named>& dense = body_->network->parameters().all();
  for (size_t i = 0; i < dense.size(); ++i) {
    add(dense[i].name, dense[i].value.detach(), true);
    add("first." + dense[i].name, body_->first[i], false);
    add("second." + dense[i].name, body_->second[i], false);
  }
  add("tables", body_->network->tables().weight(), true);
  add("accumulator", body_->accumulator, false);
  return all;
}

uint64_t Learner::steps() const {
  return body_->steps;
}
void Learner::set_steps(uint64_t steps) {
  body_->steps = steps;
}
uint64_t Learner::dense_parameters() const {
  return lattice::dense_parameters(*body_->network);
}
uint64_t Learner::table_parameters() const {
  return lattice::table_parameters(*body_->network);
}
double Learner::flops_per_sample() const {
  return lattice::flops_per_sample(*body_->network);
}
size_t Learner::tasks() const {
  return body_->options.tasks.size();
}

size_t Learner::windows() const {
  size_t most = 1;
  for (const LearnedTask& task : body_->options.tasks)
    most = std::max(most, task.base_rates.size());
  return most;
}

}  // namespace weft::lattice
