// SPDX-License-Identifier: Apache-2.0

// Ids are moved into rows of the common table while they are copied.
#include "lattice/networks/batch.h"

#include <fmt/format.h>

namespace weft::lattice {
namespace {

Result<at::Tensor> table_rows(std::span<const int32_t> ids, uint64_t count,
                              const std::vector<std::pair<std::string, size_t>>& columns,
                              const NetworkInputs& inputs, const EmbeddingTable& tables) {
  const size_t width = columns.size();
  at::Tensor rows =
      at::empty({static_cast<int64_t>(count), static_cast<int64_t>(width)}, at::kLong);
  int64_t* to = rows.data_ptr<int64_t>();
  for (size_t c = 0; c < width; ++c) {
    const auto& [name, table] = columns[c];
    const int64_t first = tables.first(table), size = inputs.categorical[table].table_rows;
    for (size_t i = 0; i < count; ++i) {
      const int64_t id = ids[c * count + i];
      if (id < 0 || id >= size)
        return Error(fmt::format("id outside its table: column {}, id {}, rows {}", name, id, size),
                     "the data was made with another vocabulary: make the network from its index");
      to[i * width + c] = id == 0 ? 0 : first + id;
    }
  }
  return rows;
}

Result<Done> expect_size(const char* what, size_t size, size_t expected) {
  if (size == expected) return Done{};
  return Error(
      fmt::format("a batch of another shape: {} has {} values instead of {}", what, size, expected),
      "the data does not have the columns that the network was made for");
}

at::Tensor copy(std::span<const float> values, at::IntArrayRef shape) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

Result<at::Tensor> teacher_rows(const BatchView& batch, int64_t width) {
  TRY(expect_size("teacher", batch.teacher.size(), static_cast<size_t>(width) * batch.rows));
  TRY(expect_size("teacher_hit", batch.teacher_hit.size(), batch.rows));
  const auto rows = static_cast<int64_t>(batch.rows);
  at::Tensor hit = at::empty({rows, 1}, at::kFloat);
  std::copy(batch.teacher_hit.begin(), batch.teacher_hit.end(), hit.data_ptr<float>());
  return at::cat({copy(batch.teacher, {rows, width}), hit}, 1);
}

Result<Done> read_labels(const BatchView& batch, const NetworkInputs& inputs, TensorBatch& made) {
  const auto rows = static_cast<int64_t>(batch.rows);
  const size_t tasks = inputs.tasks.size(), labels = batch.label.size() / batch.rows;
  TRY(expect_size("label", batch.label.size(), labels * batch.rows));
  TRY(expect_size("label_known", batch.label_known.size(), batch.label.size()));
  if (!batch.window.empty()) TRY(expect_size("window", batch.window.size(), batch.rows));
  const auto width = static_cast<int64_t>(tasks);
  made.label = at::zeros({rows, width}, at::kFloat);
  made.known = at::zeros({rows, width}, at::kFloat);
  made.window = at::zeros({rows, width}, at::kLong);
  float *label = made.label.data_ptr<float>(), *known = made.known.data_ptr<float>();
  int64_t* window = made.window.data_ptr<int64_t>();
  const int64_t* domain = made.domain.data_ptr<int64_t>();
  for (size_t t = 0; t < tasks; ++t) {
    const TaskInput& task = inputs.tasks[t];
    if (task.label >= labels)
      return Error(fmt::format("a batch of another shape: no label column {} of task {}",
                               task.label, task.name));
    for (size_t i = 0; i < batch.rows; ++i) {
      const size_t from = i * labels + task.label, to = i * tasks + t;
      if (batch.label_known[from] == 0 || !inputs.owns(static_cast<size_t>(domain[i]), t)) continue;
      label[to] = batch.label[from];
      known[to] = 1;
      if (task.windows() == 1 || batch.window.empty()) continue;
      if (batch.window[i] >= task.windows())
        return Error(fmt::format("window beyond the task's: task {}, window {}, windows {}",
                                 task.name, batch.window[i], task.windows()));
      window[to] = batch.window[i];
    }
  }
  return Done{};
}

}  // namespace

int64_t NetworkInputs::groups() const {
  int64_t largest = 0;
  for (const DomainInput& domain : domains) largest = std::max(largest, domain.group);
  return largest + 1;
}

Result<TensorBatch> make_batch(const BatchView& batch, const NetworkInputs& inputs,
                               const EmbeddingTable& tables) {
  TensorBatch made;
  const auto rows = static_cast<int64_t>(batch.rows);
  std::vector<std::pair<std::string, size_t>> columns;
  for (size_t c = 0; c < inputs.categorical.size(); ++c)
    columns.emplace_back(inputs.categorical[c].name, c);
  TRY(expect_size("categorical", batch.categorical.size(), columns.size() * batch.rows));
  made.categorical = TRY(table_rows(batch.categorical, batch.rows, columns, inputs, tables));

  const size_t dense = static_cast<size_t>(inputs.dense_columns) * batch.rows;
  TRY(expect_size("dense", batch.dense.size(), dense));
  TRY(expect_size("dense_present", batch.dense_present.size(), dense));
  made.dense = copy(batch.dense, {rows, inputs.dense_columns});
  made.present = at::empty({rows, inputs.dense_columns}, at::kFloat);
  std::copy(batch.dense_present.begin(), batch.dense_present.end(), made.present.data_ptr<float>());

  made.domain = at::zeros({rows}, at::kLong);
  made.group = at::zeros({rows}, at::kLong);
  int64_t *domain = made.domain.data_ptr<int64_t>(), *group = made.group.data_ptr<int64_t>();
  if (!batch.domain.empty()) TRY(expect_size("domain", batch.domain.size(), batch.rows));
  for (size_t i = 0; i < batch.rows; ++i) {
    const int64_t value = batch.domain.empty() ? 0 : batch.domain[i];
    if (value < 0 || value >= static_cast<int64_t>(inputs.domains.size()))
      return Error(
          fmt::format("no such domain: number {}, domains {}", value, inputs.domains.size()));
    domain[i] = value;
    group[i] = inputs.domains[static_cast<size_t>(value)].group;
  }

  columns.clear();
  for (const SequenceColumn& column : inputs.sequence.columns)
    columns.emplace_back(column.name, column.table);
  made.history.offsets = at::zeros({rows + 1}, at::kLong);
  if (!columns.empty()) {
    TRY(expect_size("sequence_offsets", batch.sequence_offsets.size(), batch.rows + 1));
    const size_t events = batch.sequence_age.size();
    TRY(expect_size("sequence", batch.sequence.size(), columns.size() * events));
    int64_t* offsets = made.history.offsets.data_ptr<int64_t>();
    std::copy(batch.sequence_offsets.begin(), batch.sequence_offsets.end(), offsets);
    if (offsets[0] != 0 || !std::is_sorted(offsets, offsets + rows + 1) ||
        offsets[rows] != static_cast<int64_t>(events))
      return Error("sequence_offsets do not divide the events of the batch");
    made.events = TRY(table_rows(batch.sequence, events, columns, inputs, tables));
    made.age = copy(batch.sequence_age, {static_cast<int64_t>(events)});
  }
  if (inputs.teacher.width > 0) made.teacher = TRY(teacher_rows(batch, inputs.teacher.width));
  if (!batch.label.empty()) TRY(read_labels(batch, inputs, made));
  return made;
}

TensorBatch TensorBatch::to(at::Device device) const {
  TensorBatch moved = *this;
  for (at::Tensor* tensor :
       {&moved.categorical, &moved.dense, &moved.present, &moved.domain, &moved.group,
        &moved.events, &moved.age, &moved.teacher, &moved.label, &moved.known, &moved.window})
    if (tensor->defined()) *tensor = tensor->to(device);
  return moved;
}

TensorBatch TensorBatch::to(at::ScalarType type) const {
  TensorBatch moved = *this;
  for (at::Tensor* tensor :
       {&moved.dense, &moved.present, &moved.age, &moved.teacher, &moved.label, &moved.known})
    if (tensor->defined()) *tensor = tensor->to(type);
  return moved;
}

}  // namespace weft::lattice
