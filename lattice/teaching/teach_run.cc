// SPDX-License-Identifier: Apache-2.0

// Rows are read by time over all splits, so where a start goes on is a number of batches: earlier
// ones are gathered again and skipped.
#include "lattice/teaching/teach_run.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fingerprint.h"
#include "base/text_file.h"
#include "lattice/data/reader.h"
#include "lattice/distillation/open_store.h"
#include "lattice/distillation/pair_columns.h"
#include "lattice/teaching/teacher_writer.h"
#include "lattice/training/batch_rows.h"
#include "lattice/training/train_run.h"

namespace weft::lattice {
namespace {

constexpr const char* kProgress = "progress.json";
constexpr uint64_t kBatchesBetweenSaves = 64;
constexpr double kSecond = 1e6;
constexpr double kMostBuckets = 64;  // by default: each costs memory

// What was done so far, over all starts.
struct Counts {
  uint64_t batches = 0, rows = 0, taught = 0, without_pair = 0, before_teacher = 0, after_until = 0;
  // Look-ups before writing, and their hits by age.
  std::array<uint64_t, kLookUps> looked_up{};
  std::array<uint64_t, StoreUse::kAges> ages{};

  void add(const StoreUse& use) {
    for (size_t i = 0; i < looked_up.size(); ++i) looked_up[i] += use.looked_up[i];
    for (size_t i = 0; i < ages.size(); ++i) ages[i] += use.ages[i];
  }
};

Json to_json(const Counts& c) {
  return {{"batches", c.batches},
          {"rows", c.rows},
          {"taught", c.taught},
          {"without_pair", c.without_pair},
          {"before_teacher", c.before_teacher},
          {"after_until", c.after_until},
          {"looked_up", c.looked_up},
          {"ages", c.ages}};
}

Result<Counts> read_counts(const std::string& path) {
  if (!std::filesystem::exists(path)) return Counts{};
  const Json json = TRY(read_json(path));
  try {
    return Counts{.batches = json.at("batches"),
                  .rows = json.at("rows"),
                  .taught = json.at("taught"),
                  .without_pair = json.at("without_pair"),
                  .before_teacher = json.at("before_teacher"),
                  .after_until = json.at("after_until"),
                  .looked_up = json.at("looked_up"),
                  .ages = json.at("ages")};
  } catch (const Json::exception& damaged) {
    return Error(Diagnostic{
        .message = std::string("the progress of a teacher is damaged: ") + damaged.what(),
        .hint = "remove it: the teacher starts over, with the same entries",
        .file = path});
  }
}

Result<const Json*> choose(const Json& trained, const TeachConfiguration& c) {
  std::string names;
  for (const Json& model : trained["models"]) {
    const std::string name = model["name"];
    names += (names.empty() ? "" : ", ") + name;
    if (name != c.model && !(c.model.empty() && trained["models"].size() == 1)) continue;
    if (model["parts"].size() != 1)
      return Error("a teacher is one merged model: " + name + " has a part for each portfolio",
                   "train it with portfolios: merged");
    if (!model.value("teacher", Json()).is_null())
      return Error("a teacher has no teacher itself: " + name, "choose a model without one");
    return &model;
  }
  return Error(c.model.empty() ? "teach needs to know which model: there are several"
                               : "the training has no model named " + c.model,
               "model: NAME; it has " + names);
}

Result<ShardSet> open_data(const TeachConfiguration& c, const std::string& data) {
  std::vector<std::string> splits = c.splits;
  if (splits.empty())
    for (const ShardIndex::Split& one : TRY(ShardIndex::read(data)).splits)
      splits.push_back(one.name);
  return ShardSet::open(data, splits);
}

std::string data_of(const TeachConfiguration& c, const Json& trained) {
  return c.data.empty() ? trained["data"].get<std::string>() : c.data;
}

class TeachRun {
 public:
  TeachRun(const TeachConfiguration& c, RunFolder& run, const TeachHooks& hooks)
      : c_(c), run_(run), hooks_(hooks) {}

  Result<Json> work();

 private:
  Result<StoreLimits> limits(const ShardSet& set) const;
  TaughtBatch of_pairs(const Batch& batch, const PairColumns& pairs, std::vector<uint32_t>& rows);
  Result<Done> save(TeacherWriter& writer, const TeacherStore& store);
  Counts total(const TeacherStore& store) const {
    Counts all = counts_;
    all.add(store.use());
    return all;
  }

  const TeachConfiguration& c_;
  RunFolder& run_;
  const TeachHooks& hooks_;
  int64_t trained_until_ = 0;
  Counts counts_;  // look-ups: of earlier starts only
};

Result<StoreLimits> TeachRun::limits(const ShardSet& set) const {
  StoreLimits limits = c_.limits;
  const auto range = set.time_range();
  if (!range)
    return Error("the data has no times: a teacher's entries need their moment",
                 "name the column time in the data's section and ingest again");
  if (limits.retention_seconds == 0)
    limits.retention_seconds = static_cast<double>(range->second - range->first) / kSecond +
                               c_.delay_seconds + limits.lifetime_seconds;
  if (limits.bucket_seconds == 0)
    limits.bucket_seconds =
        std::max(limits.lifetime_seconds / 6, limits.retention_seconds / kMostBuckets);
  return limits;
}

// The rows that are taught, with pairs and times; the teacher's answers are missing yet.
TaughtBatch TeachRun::of_pairs(const Batch& batch, const PairColumns& pairs,
                               std::vector<uint32_t>& rows) {
  TaughtBatch taught;
  for (uint32_t row = 0; row < batch.rows; ++row) {
    const std::optional<Pair> pair = pairs.pair(batch, row);
    if (batch.time[row] > c_.until)
      ++counts_.after_until;
    else if (batch.time[row] < trained_until_)
      ++counts_.before_teacher;
    else if (!pair)
      ++counts_.without_pair;
    else {
      rows.push_back(row);
      taught.pairs.push_back(*pair);
      taught.seen_at.push_back(batch.time[row]);
      taught.computed_at.push_back(batch.time[row] +
                                   static_cast<int64_t>(c_.delay_seconds * kSecond));
    }
  }
  return taught;
}

Result<Done> TeachRun::save(TeacherWriter& writer, const TeacherStore& store) {
  TRY(writer.drain());
  return write_file(run_.file(kProgress), to_text(to_json(total(store))));
}

Result<Json> TeachRun::work() {
  const Json trained = TRY(finished_summary(c_.models, "train"));
  const Json& model = *TRY(choose(trained, c_));
  const Json& part = model["parts"][0];
  const std::string data = data_of(c_, trained);
  const ShardSet set = TRY(open_data(c_, data));
  Learner learner = TRY(load_part(c_.models, trained, model, part, set.index()));
  const PairColumns pairs = TRY(PairColumns::create(set.index(), c_.user, c_.item));
  const Json until = trained.value("trained_until", Json());
  if (until.is_null())
    return Error("nobody knows how new the data are that the teacher learned from: " + c_.models,
                 "train it on data with times");
  trained_until_ = until;
  const std::string name = model["name"];
  const std::string weights = c_.models + "/" + part["file"].get<std::string>();
  const std::string print = TRY(fingerprint(weights));
  constexpr char kMark = ':';  // after the size
  constexpr size_t kDigits = 12;
  const TeacherDescription teacher = {
      .version = c_.version.empty() ? name + "@" + print.substr(print.find(kMark) + 1, kDigits)
                                    : c_.version,
      .width = learner.embedding_width(),
      .tasks = part["tasks"],
      .format = c_.format,
      .pairs = pairs.what(),
      .trained_until = trained_until_};
  const std::string address = c_.store.empty() ? run_.file("store") : c_.store;
  const StoreLimits kept = TRY(limits(set));
  const auto store = TRY(open_store(address, teacher, kept));
  counts_ = TRY(read_counts(run_.file(kProgress)));

  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const uint64_t rows_before = counts_.rows;
  TeacherWriter writer(*store);
  BatchStream stream(
      set, {.batch_rows = c_.batch_rows, .order = RowOrder::ByTime, .workers = hooks_.workers});
  Batch batch;
  for (uint64_t skipped = 0; skipped < counts_.batches; ++skipped)
    if (!stream.next(batch)) break;
  hooks_.progress(name, counts_.rows);
  while (stream.next(batch)) {
    std::vector<uint32_t> rows;
    TaughtBatch taught = of_pairs(batch, pairs, rows);
    if (!rows.empty()) {
      Teaching said = TRY(learner.teach(take_rows(batch, rows)));
      taught.embeddings = std::move(said.embeddings);
      taught.logits = std::move(said.logits);
      TRY(writer.put(std::move(taught)));
    }
    ++counts_.batches;
    counts_.rows += batch.rows;
    counts_.taught += rows.size();
    hooks_.progress(name, batch.rows);
    const bool stop = hooks_.stop != nullptr && hooks_.stop->load();
    if (!stop && counts_.batches % kBatchesBetweenSaves != 0) continue;
    TRY(save(writer, *store));
    TRY(run_.metric(
        {{"rows", counts_.rows},
         {"taught", counts_.taught},
         {"rows_per_second", static_cast<double>(counts_.rows - rows_before) / seconds()}}));
    if (stop) return Error("stopped; the teacher goes on from here", "give the same command again");
  }
  TRY(save(writer, *store));
  const double took = seconds();
  const Counts all = total(*store);
  StoreUse use{.written = all.taught, .looked_up = all.looked_up, .ages = all.ages};
  const Json contents = TRY(store->contents());
  const Json summary = {
      {"teacher", to_json(teacher)},
      {"store", address},
      {"data", data},
      {"rows", all.rows},
      {"taught", all.taught},
      {"without_pair", all.without_pair},
      {"before_teacher", all.before_teacher},
      {"after_until", all.after_until},
      {"seconds", took},
      {"rows_per_second",
       all.rows == rows_before ? Json() : Json(static_cast<double>(all.rows - rows_before) / took)},
      {"use", to_json(use, store->limits().lifetime_seconds)},
      {"store_bytes", contents.value("bytes", Json())}};
  TRY(run_.finish(summary));
  return summary;
}

}  // namespace

Result<uint64_t> rows_to_teach(const TeachConfiguration& c) {
  const Json trained = TRY(finished_summary(c.models, "train"));
  return TRY(open_data(c, data_of(c, trained))).rows();
}

Result<Json> teach(const TeachConfiguration& configuration, RunFolder& run,
                   const TeachHooks& hooks) {
  return TeachRun(configuration, run, hooks).work();
}

}  // namespace weft::lattice
