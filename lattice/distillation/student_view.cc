// SPDX-License-Identifier: Apache-2.0

#include "lattice/distillation/student_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mix.h"

namespace weft::lattice {

Json to_json(const StudentUse& use, double lifetime_seconds) {
  Json json = {{"rows", use.rows}, {"without_pair", use.without_pair}, {"hits", use.hits}};
  json["hit_rate"] =
      use.rows == 0 ? Json() : Json(static_cast<double>(use.hits) / static_cast<double>(use.rows));
  if (use.cut != 0) json["cut"] = use.cut;
  for (size_t i = 1; i < kLookUps; ++i) json[word_of(static_cast<LookUp>(i))] = use.looked_up[i];
  json["ages"] = Json::array();
  for (size_t i = 0; i < StoreUse::kAges; ++i)
    json["ages"].push_back({{"up_to_seconds", lifetime_seconds * static_cast<double>(i + 1) /
                                                  static_cast<double>(StoreUse::kAges)},
                            {"hits", use.ages[i]}});
  return json;
}

Result<StudentView> StudentView::create(std::shared_ptr<TeacherStore> store,
                                        const ShardIndex& schema,
                                        const StudentViewOptions& options) {
  PairColumns pairs = TRY(PairColumns::create(schema, options.user, options.item));
  const TeacherDescription& teacher = store->description();
  std::string what;
  const auto differ = [&](const char* name, const auto& there, const auto& wanted) {
    if (!(there == wanted))
      what +=
          fmt::format("{}{} {} there, {} wanted", what.empty() ? "" : "; ", name, there, wanted);
  };
  if (!options.version.empty()) differ("version", teacher.version, options.version);
  if (options.width != 0) differ("width", teacher.width, options.width);
  differ("pairs", teacher.pairs, pairs.what());
  if (!what.empty())
    return Error("the store is not the one of this student's teacher: " + what,
                 "name the store that its teacher writes, or train the student again");
  if (std::find(schema.row_columns.begin(), schema.row_columns.end(), "time") ==
      schema.row_columns.end())
    return Error("the data has no times: a teacher's store cannot be asked without the event's",
                 "name the column time in the data's section and ingest again");
  return StudentView(std::move(store), std::move(pairs), options);
}

Result<size_t> task_of(const TeacherDescription& teacher, const std::string& name) {
  const std::vector<std::string>& tasks = teacher.tasks;
  const auto found = std::find(tasks.begin(), tasks.end(), name);
  if (found != tasks.end()) return static_cast<size_t>(found - tasks.begin());
  return Error("the teacher has no task named " + name,
               fmt::format("it has {}", fmt::join(tasks, ", ")));
}

double StudentView::lifetime_seconds() const {
  const double own = store_->limits().lifetime_seconds;
  return options_.lifetime_seconds == 0 ? own : std::min(own, options_.lifetime_seconds);
}

bool StudentView::kept(const Pair& pair, int64_t as_of, int64_t computed_at) const {
  if (static_cast<double>(as_of - computed_at) > lifetime_seconds() * 1e6) return false;
  if (options_.dropped_share == 0) return true;
  const uint64_t draw = mix(mix(pair.user, pair.item), static_cast<uint64_t>(as_of));
  return static_cast<double>(draw >> 11) * 0x1p-53 >= options_.dropped_share;
}

Result<Done> StudentView::attach(Batch& batch) {
  const size_t width = teacher().width, tasks = teacher().tasks.size();
  batch.teacher.assign(batch.rows * width, 0);
  batch.teacher_logit.assign(batch.rows * tasks, 0);
  batch.teacher_hit.assign(batch.rows, 0);
  if (batch.time.size() != batch.rows) return Error("the rows have no times to ask a store with");
  std::vector<Pair> pairs;
  std::vector<int64_t> as_of;
  std::vector<size_t> rows;
  for (size_t row = 0; row < batch.rows; ++row) {
    const std::optional<Pair> pair = pairs_.pair(batch, row);
    if (!pair) continue;
    pairs.push_back(*pair);
    as_of.push_back(batch.time[row]);
    rows.push_back(row);
  }
  use_.rows += batch.rows;
  use_.without_pair += batch.rows - rows.size();
  const TeacherAnswers answers = TRY(store_->look_up(pairs, as_of));
  const auto clip = static_cast<float>(options_.clip);
  const double lifetime = lifetime_seconds() * 1e6;
  for (size_t i = 0; i < rows.size(); ++i) {
    ++use_.looked_up[static_cast<size_t>(answers.results[i])];
    if (answers.results[i] != LookUp::Hit) continue;
    if (!kept(pairs[i], as_of[i], answers.computed_at[i])) {
      ++use_.cut;
      continue;
    }
    ++use_.hits;
    const double age = static_cast<double>(as_of[i] - answers.computed_at[i]) / lifetime;
    ++use_.ages[std::min(StoreUse::kAges - 1, static_cast<size_t>(age * StoreUse::kAges))];
    batch.teacher_hit[rows[i]] = 1;
    for (size_t c = 0; c < width; ++c)
      batch.teacher[rows[i] * width + c] =
          std::clamp(answers.embeddings[i * width + c], -clip, clip);
    std::copy_n(&answers.logits[i * tasks], tasks, &batch.teacher_logit[rows[i] * tasks]);
  }
  return Done{};
}

}  // namespace weft::lattice
