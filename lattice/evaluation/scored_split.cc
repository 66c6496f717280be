// SPDX-License-Identifier: Apache-2.0

#include "lattice/evaluation/scored_split.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/safetensors.h"
#include "lattice/metrics/quality_report.h"
#include "lattice/training/batch_rows.h"

namespace weft::lattice {
namespace {

template <typename T>
TensorView view(const char* type, const std::vector<T>& values) {
  return {type,
          {values.size()},
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
}

template <typename T>
Result<Done> fill(const Safetensors& file, const std::string& name, std::vector<T>& values) {
  const TensorView found = TRY(file.tensor(name));
  values.resize(found.bytes.size() / sizeof(T));
  std::copy_n(found.bytes.data(), found.bytes.size(), reinterpret_cast<char*>(values.data()));
  return Done{};
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<Done> ScoredSplit::write(const std::string& path) const {
  return write_safetensors(
      path,
      {{"logits", view("F32", logits)},
       {"label", view("F32", label)},
       {"known", view("U8", known)},
       {"window", view("U8", window)},
       {"domain", view("I32", domain)},
       {"group", view("U64", group)}},
      {{"tasks", std::to_string(tasks)}, {"windows", std::to_string(windows)}});
}

Result<ScoredSplit> ScoredSplit::read(const std::string& path) {
  const Safetensors file = TRY(Safetensors::open(path));
  ScoredSplit split;
  const auto number = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
  };
  split.tasks = number("tasks");
  split.windows = number("windows");
  if (split.tasks == 0 || split.windows == 0)
    return Error(Diagnostic{.message = "the file holds no predictions",
                            .hint = "run lattice evaluate again",
                            .file = path});
  TRY(fill(file, "logits", split.logits));
  TRY(fill(file, "label", split.label));
  TRY(fill(file, "known", split.known));
  TRY(fill(file, "window", split.window));
  TRY(fill(file, "domain", split.domain));
  TRY(fill(file, "group", split.group));
  split.rows = split.label.size() / split.tasks;
  return split;
}

Result<ScoredSplit> score(const std::vector<ServedModel>& models, const BatchSource& source,
                          const ShardIndex& schema, const ScoringOptions& options) {
  ScoredSplit split;
  split.tasks = schema.labels.size();
  split.windows = std::max<size_t>(1, schema.windows.size());
  const Batches next =
      source.pass({.batch_rows = options.batch_rows, .order = RowOrder::AsWritten});
  Batch batch;
  while (next(batch)) {
    const size_t before = split.rows * split.tasks;
    split.logits.resize((before + batch.rows * split.tasks) * split.windows);
    split.known.resize(before + batch.rows * split.tasks);
    for (const ServedModel& model : models) {
      std::vector<uint32_t> rows;
      for (uint32_t row = 0; row < batch.rows; ++row)
        if (model.domain < 0 || batch.domain[row] == model.domain) rows.push_back(row);
      if (rows.empty()) continue;
      const std::vector<float> logits = rows.size() == batch.rows
                                            ? TRY(model.learner->logits(batch))
                                            : TRY(model.learner->logits(take_rows(batch, rows)));
      const size_t heads = model.learner->windows();
      for (size_t i = 0; i < rows.size(); ++i)
        for (size_t j = 0; j < model.tasks.size(); ++j) {
          const size_t in_batch = rows[i] * split.tasks + model.tasks[j];
          split.known[before + in_batch] = batch.label_known[in_batch];
          const size_t from = (i * model.tasks.size() + j) * heads;
          std::copy_n(&logits[from], heads, &split.logits[(before + in_batch) * split.windows]);
        }
    }
    append(split.label, batch.label);
    append(split.window, batch.window);
    append(split.domain, batch.domain);
    if (options.group_table >= 0)
      for (uint64_t row = 0; row < batch.rows; ++row)
        split.group.push_back(static_cast<uint64_t>(
            batch.categorical[static_cast<size_t>(options.group_table) * batch.rows + row]));
    split.rows += batch.rows;
  }
  return split;
}

std::vector<SliceKey> slices(const ShardIndex& schema) {
  const size_t windows = std::max<size_t>(1, schema.windows.size());
  std::vector<SliceKey> keys;
  // Beside a single domain, all domains together say nothing more.
  const int32_t first = schema.domains.size() == 1 ? 0 : -1;
  for (size_t task = 0; task < schema.labels.size(); ++task)
    for (int32_t domain = first; domain < static_cast<int32_t>(schema.domains.size()); ++domain)
      for (size_t window = 0; window < (schema.labels[task].windowed ? windows : 1); ++window)
        keys.push_back({task, domain, window});
  return keys;
}

Quality quality_of(const ScoredSplit& split, const SliceKey& key, const ShardIndex& schema,
                   std::optional<double> background) {
  std::vector<float> logit, label;
  std::vector<uint64_t> group;
  const bool windowed = schema.labels[key.task].windowed && !split.window.empty();
  for (uint64_t row = 0; row < split.rows; ++row) {
    const size_t at = row * split.tasks + key.task;
    if (split.known[at] == 0) continue;
    if (key.domain >= 0 && split.domain[row] != key.domain) continue;
    if (windowed && split.window[row] != key.window) continue;
    logit.push_back(split.logits[at * split.windows + key.window]);
    label.push_back(split.label[at]);
    if (!split.group.empty()) group.push_back(split.group[row]);
  }
  return Quality({.logit = logit, .label = label, .group = group, .background = background});
}

Json report(const ScoredSplit& split, const ShardIndex& schema, const Resampling& how,
            const Rates* training) {
  Json lines = Json::array();
  for (const SliceKey& key : slices(schema)) {
    const std::optional<double> background =
        training == nullptr ? std::nullopt : training->rate(key.domain, key.task, key.window);
    const Quality quality = quality_of(split, key, schema, background);
    Json line = {
        {"task", schema.labels[key.task].name},
        {"domain",
         key.domain < 0 ? Json(nullptr) : Json(schema.domains[static_cast<size_t>(key.domain)])},
        {"window_seconds",
         schema.labels[key.task].windowed ? Json(schema.windows[key.window]) : Json(nullptr)},
        {"served", !schema.labels[key.task].windowed || key.window + 1 == split.windows}};
    line.update(to_json(quality, quality.measure(), intervals(quality, how)));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace weft::lattice
