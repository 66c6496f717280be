// SPDX-License-Identifier: Apache-2.0

#include "lattice/selection/importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/mix.h"
#include "lattice/training/batch_rows.h"
#include "lattice/training/batch_source.h"

namespace weft::lattice {
namespace {

// Where each row takes the feature from: a shuffle inside each domain.
std::vector<uint32_t> shuffle_by_domain(const Batch& rows, uint64_t seed) {
  std::map<int32_t, std::vector<uint32_t>> by_domain;
  for (uint32_t row = 0; row < rows.rows; ++row)
    by_domain[rows.domain.empty() ? 0 : rows.domain[row]].push_back(row);
  std::vector<uint32_t> from(rows.rows);
  for (const auto& [domain, members] : by_domain) {
    std::vector<uint32_t> dealt = members;
    for (size_t i = dealt.size(); i > 1; --i)
      std::swap(dealt[i - 1], dealt[mix(mix(seed, static_cast<uint64_t>(domain)), i) % i]);
    for (size_t i = 0; i < members.size(); ++i) from[members[i]] = dealt[i];
  }
  return from;
}

Batch permuted(const Batch& rows, const InputFeature& feature, uint64_t seed) {
  Batch changed = rows;
  const std::vector<uint32_t> from = shuffle_by_domain(rows, seed);
  if (feature.kind == InputKind::History) {
    const Batch dealt = take_rows(rows, from);
    changed.sequence_offsets = dealt.sequence_offsets;
    changed.sequence = dealt.sequence;
    changed.sequence_age = dealt.sequence_age;
    return changed;
  }
  const size_t dense = rows.dense.size() / rows.rows;
  for (size_t row = 0; row < rows.rows; ++row) {
    if (feature.kind == InputKind::Table) {
      changed.categorical[feature.column * rows.rows + row] =
          rows.categorical[feature.column * rows.rows + from[row]];
      continue;
    }
    changed.dense[row * dense + feature.column] = rows.dense[from[row] * dense + feature.column];
    changed.dense_present[row * dense + feature.column] =
        rows.dense_present[from[row] * dense + feature.column];
  }
  return changed;
}

Result<std::vector<double>> losses(Learner& learner, const LossFunction& loss, const Batch& rows,
                                   uint64_t batch_rows) {
  std::vector<TaskSums> sums;
  std::vector<float> gradient;
  for (uint64_t first = 0; first < rows.rows; first += batch_rows) {
    std::vector<uint32_t> part(std::min(batch_rows, rows.rows - first));
    std::iota(part.begin(), part.end(), static_cast<uint32_t>(first));
    const Batch batch = take_rows(rows, part);
    const std::vector<float> logits = TRY(learner.logits(batch));
    gradient.resize(logits.size());
    const Loss one = loss(logits, batch, gradient);
    sums.resize(one.tasks.size());
    for (size_t j = 0; j < sums.size(); ++j) sums[j].add(one.tasks[j]);
  }
  std::vector<double> means;
  for (const TaskSums& one : sums)
    means.push_back(one.rows == 0 ? 0 : one.loss / static_cast<double>(one.rows));
  return means;
}

bool selected(const std::vector<Choice>& choices, const std::string& name) {
  return std::any_of(choices.begin(), choices.end(),
                     [&](const Choice& one) { return one.selected && one.name == name; });
}

}  // namespace

std::vector<InputFeature> input_features(const ShardIndex& schema) {
  std::vector<InputFeature> features;
  for (size_t i = 0; i < schema.tables.size(); ++i)
    features.push_back({schema.tables[i].name, InputKind::Table, i});
  for (size_t i = 0; i < schema.dense.size(); ++i)
    features.push_back({schema.dense[i], InputKind::Dense, i});
  if (!schema.sequences.empty()) features.push_back({"history", InputKind::History, 0});
  return features;
}

Result<std::vector<MeasuredImportance>> permutation_importance(Learner& learner,
                                                               const LossFunction& loss,
                                                               const Batch& rows,
                                                               const ShardIndex& schema,
                                                               const ImportanceOptions& options) {
  const std::vector<double> intact = TRY(losses(learner, loss, rows, options.batch_rows));
  std::vector<MeasuredImportance> measured;
  const std::vector<InputFeature> features = input_features(schema);
  for (size_t f = 0; f < features.size(); ++f) {
    options.progress(features[f].name);
    const size_t tasks = intact.size();
    std::vector<double> sum(tasks), square(tasks);
    for (uint64_t repeat = 0; repeat < options.repeats; ++repeat) {
      const Batch changed = permuted(rows, features[f], mix(options.seed, repeat));
      const std::vector<double> worse = TRY(losses(learner, loss, changed, options.batch_rows));
      for (size_t j = 0; j < tasks; ++j) {
        sum[j] += worse[j] - intact[j];
        square[j] += (worse[j] - intact[j]) * (worse[j] - intact[j]);
      }
    }
    MeasuredImportance one{.feature = {features[f].name, {}}};
    const auto count = static_cast<double>(options.repeats);
    for (size_t j = 0; j < tasks; ++j) {
      const double mean = sum[j] / count;
      one.feature.by_task.push_back(mean);
      const double variance =
          count < 2 ? 0 : std::max(0.0, square[j] - count * mean * mean) / (count - 1);
      one.deviation.push_back(std::sqrt(variance / count));
    }
    measured.push_back(std::move(one));
  }
  return measured;
}

ShardIndex keep_features(const ShardIndex& schema, const std::vector<Choice>& choices) {
  ShardIndex kept = schema;
  std::erase_if(kept.tables, [&](const auto& one) { return !selected(choices, one.name); });
  std::erase_if(kept.dense, [&](const auto& one) { return !selected(choices, one); });
  if (!selected(choices, "history")) kept.sequences.clear();
  return kept;
}

Batch keep_features(const Batch& rows, const ShardIndex& schema,
                    const std::vector<Choice>& choices) {
  Batch kept = rows;
  kept.categorical.clear();
  kept.dense.clear();
  kept.dense_present.clear();
  for (size_t t = 0; t < schema.tables.size(); ++t)
    if (selected(choices, schema.tables[t].name))
      kept.categorical.insert(
          kept.categorical.end(),
          rows.categorical.begin() + static_cast<std::ptrdiff_t>(t * rows.rows),
          rows.categorical.begin() + static_cast<std::ptrdiff_t>((t + 1) * rows.rows));
  std::vector<size_t> columns;
  for (size_t c = 0; c < schema.dense.size(); ++c)
    if (selected(choices, schema.dense[c])) columns.push_back(c);
  for (uint64_t row = 0; row < rows.rows; ++row)
    for (const size_t c : columns) {
      kept.dense.push_back(rows.dense[row * schema.dense.size() + c]);
      kept.dense_present.push_back(rows.dense_present[row * schema.dense.size() + c]);
    }
  return kept;
}

}  // namespace weft::lattice
