// SPDX-License-Identifier: Apache-2.0

// The state of the loop (pass, batch, sums, best pass) goes into the checkpoint with the learner's;
// batches before the position are read again and skipped, which costs a gather each.
#include "lattice/training/trainer.h"

#include <chrono>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/mix.h"

namespace weft::lattice {
namespace {

double entropy(double rate) {
  return rate > 0 && rate < 1 ? -rate * std::log(rate) - (1 - rate) * std::log(1 - rate) : 0;
}

Json number(double value, bool defined) {
  return defined ? Json(value) : Json(nullptr);
}

// Null where the rows hold one class only: the background has no entropy, the ratio no meaning.
Json to_json(const std::vector<std::string>& names, const std::vector<TaskSums>& tasks) {
  Json lines = Json::object();
  for (size_t j = 0; j < tasks.size(); ++j) {
    const TaskSums& sums = tasks[j];
    const double rows = static_cast<double>(sums.rows), rate = sums.positives / rows;
    const bool both = sums.rows != 0 && entropy(rate) > 0;
    lines[names[j]] = {
        {"rows", sums.rows},
        {"positives", sums.positives},
        {"log_loss", number(sums.loss / rows, sums.rows != 0)},
        {"ne", number(sums.loss / rows / entropy(rate), both)},
        {"calibration", number(sums.predicted / sums.positives, sums.positives > 0)}};
  }
  return lines;
}

Json sums_to_json(const std::vector<TaskSums>& tasks) {
  Json list = Json::array();
  for (const TaskSums& one : tasks)
    list.push_back({one.rows, one.loss, one.positives, one.predicted});
  return list;
}

std::vector<TaskSums> sums_from_json(const Json& list) {
  std::vector<TaskSums> tasks;
  for (const Json& one : list)
    tasks.push_back(
        {one[0].get<uint64_t>(), one[1].get<double>(), one[2].get<double>(), one[3].get<double>()});
  return tasks;
}

void add(std::vector<TaskSums>& to, const std::vector<TaskSums>& more) {
  to.resize(more.size());
  for (size_t j = 0; j < more.size(); ++j) to[j].add(more[j]);
}

using Clock = std::chrono::steady_clock;

class Loop {
 public:
  Loop(Learner& learner, const Training& training) : learner_(learner), t_(training) {}

  Result<TrainingOutcome> run();

 private:
  Result<Done> restore();
  Result<Done> one_pass(bool& interrupted);
  Result<Done> end_pass();
  Result<Done> log();
  Result<Done> checkpoint();
  void remember();
  bool stopping() const { return t_.stop != nullptr && t_.stop->load(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  uint64_t total_rows() const { return t_.source->rows() * t_.options.passes; }

  Learner& learner_;
  const Training& t_;
  Clock::time_point start_ = Clock::now();

  uint64_t pass_ = 0, batch_ = 0;  // the next batch
  uint64_t rows_ = 0, rows_before_ = 0;
  std::vector<TaskSums> since_log_, of_pass_, of_last_pass_;
  uint64_t best_pass_ = 0, worse_passes_ = 0;
  double best_loss_ = -1;  // none yet
  std::vector<std::vector<float>> best_;
};

Result<Done> Loop::restore() {
  if (t_.run == nullptr) return Done{};
  std::string newest;
  uint64_t newest_steps = 0;
  for (const char* name : {"checkpoint_0.safetensors", "checkpoint_1.safetensors"}) {
    const std::string file = t_.prefix + name;
    if (!t_.run->has(file)) continue;
    TRY(load(t_.run->file(file), learner_, t_.identity, Keep::Everything));
    if (newest.empty() || learner_.steps() > newest_steps) {
      newest = file;
      newest_steps = learner_.steps();
    }
  }
  if (newest.empty()) return Done{};
  const Json at = TRY(load(t_.run->file(newest), learner_, t_.identity, Keep::Everything));
  pass_ = at["pass"];
  batch_ = at["batch"];
  rows_ = rows_before_ = at["rows"];
  of_pass_ = sums_from_json(at["sums"]);
  of_last_pass_ = sums_from_json(at["last_sums"]);
  best_pass_ = at["best_pass"];
  worse_passes_ = at["worse_passes"];
  best_loss_ = at["best_loss"];
  return t_.run->metric({{"resumed_at_step", learner_.steps()}});
}

Result<Done> Loop::checkpoint() {
  if (t_.run == nullptr) return Done{};
  // The other of the two than the one that holds the state before.
  static constexpr const char* kNames[] = {"checkpoint_0.safetensors", "checkpoint_1.safetensors"};
  uint64_t held[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const std::string file = t_.prefix + kNames[i];
    if (!t_.run->has(file)) continue;
    const Safetensors content = TRY(Safetensors::open(t_.run->file(file)));
    const auto steps = content.metadata().find("steps");
    held[i] =
        1 +
        (steps == content.metadata().end() ? 0 : std::strtoull(steps->second.c_str(), nullptr, 10));
  }
  const std::string file = t_.prefix + kNames[held[0] <= held[1] ? 0 : 1];
  TRY(save(t_.run->file(file), learner_, t_.identity,
           {{"pass", pass_},
            {"batch", batch_},
            {"rows", rows_},
            {"sums", sums_to_json(of_pass_)},
            {"last_sums", sums_to_json(of_last_pass_)},
            {"best_pass", best_pass_},
            {"worse_passes", worse_passes_},
            {"best_loss", best_loss_}},
           Keep::Everything));
  return t_.run->record(file);
}

Result<Done> Loop::log() {
  const TrainingProgress now = {.step = learner_.steps(),
                                .rows = rows_,
                                .rows_total = total_rows(),
                                .seconds = seconds(),
                                .tasks = since_log_};
  t_.progress(now);
  if (t_.run != nullptr && !since_log_.empty()) {
    const double speed = static_cast<double>(rows_ - rows_before_) / now.seconds;
    Json line = {{"step", now.step},
                 {"pass", pass_},
                 {"rows", rows_},
                 {"seconds", now.seconds},
                 {"rows_per_second", speed},
                 {"seconds_left",
                  static_cast<double>(now.rows_total - std::min(now.rows_total, rows_)) / speed},
                 {"ne_background", "the rows since the line before"},
                 {"tasks", to_json(t_.tasks, since_log_)}};
    if (!t_.prefix.empty()) line["model"] = t_.prefix.substr(0, t_.prefix.size() - 1);
    TRY(t_.run->metric(line));
  }
  since_log_.clear();
  return Done{};
}

void Loop::remember() {
  best_.clear();
  for (const StateTensor& one : learner_.state())
    if (one.served) best_.emplace_back(one.values.begin(), one.values.end());
}

Result<Done> Loop::one_pass(bool& interrupted) {
  ReaderOptions reading = {.batch_rows = t_.options.batch_rows,
                           .order = t_.options.order,
                           .seed = mix(t_.options.seed, pass_),
                           .workers = t_.options.workers};
  Batches next = t_.source->pass(reading);
  if (t_.options.domain >= 0)
    next = of_domain(std::move(next), t_.options.domain, t_.options.batch_rows);
  Batch batch;
  for (uint64_t skipped = 0; skipped < batch_; ++skipped)
    if (!next(batch)) break;
  while (next(batch)) {
    const Loss loss = TRY(learner_.step(batch, t_.loss));
    ++batch_;
    rows_ += batch.rows;
    add(since_log_, loss.tasks);
    add(of_pass_, loss.tasks);
    interrupted = stopping();
    const uint64_t every = t_.options.checkpoint_every;
    const bool due = interrupted || (every != 0 && learner_.steps() % every == 0);
    if (due || learner_.steps() % t_.options.log_every == 0) TRY(log());
    if (due) TRY(checkpoint());
    if (interrupted) return Done{};
  }
  return end_pass();
}

Result<Done> Loop::end_pass() {
  TRY(log());
  ++pass_;
  batch_ = 0;
  of_last_pass_ = std::move(of_pass_);
  of_pass_.clear();
  bool better = true;
  if (t_.validation != nullptr) {
    double loss = 0;
    const std::vector<TaskSums> sums = TRY(measure(learner_, *t_.validation, t_.loss, t_.options));
    for (const TaskSums& one : sums)
      if (one.rows != 0) loss += one.loss / static_cast<double>(one.rows);
    better = best_loss_ < 0 || loss < best_loss_;
    if (better) best_loss_ = loss;
    if (t_.run != nullptr)
      TRY(t_.run->metric({{"step", learner_.steps()},
                          {"pass", pass_},
                          {"split", "validation"},
                          {"tasks", to_json(t_.tasks, sums)}}));
  }
  worse_passes_ = better ? 0 : worse_passes_ + 1;
  if (better) {
    best_pass_ = pass_;
    if (t_.run != nullptr) {
      const std::string file = t_.prefix + "model.safetensors";
      TRY(save(t_.run->file(file), learner_, t_.identity, {{"pass", pass_}}, Keep::ServedOnly));
      TRY(t_.run->record(file));
    } else if (t_.validation != nullptr) {
      remember();
    }
  }
  return checkpoint();
}

Result<TrainingOutcome> Loop::run() {
  TRY(restore());
  bool interrupted = false;
  const auto ended = [&] {
    return pass_ >= t_.options.passes ||
           (t_.options.patience != 0 && worse_passes_ >= t_.options.patience);
  };
  while (!ended() && !interrupted) TRY(one_pass(interrupted));
  TrainingOutcome outcome = {.interrupted = interrupted,
                             .steps = learner_.steps(),
                             .rows = rows_,
                             .best_pass = best_pass_,
                             .seconds = seconds(),
                             .validation_loss = best_loss_,
                             .tasks = of_last_pass_};
  if (interrupted || best_pass_ == pass_) return outcome;
  if (t_.run != nullptr) {
    TRY(load(t_.run->file(t_.prefix + "model.safetensors"), learner_, t_.identity,
             Keep::ServedOnly));
  } else {
    size_t i = 0;
    for (const StateTensor& one : learner_.state())
      if (one.served) {
        std::copy(best_[i].begin(), best_[i].end(), one.values.begin());
        ++i;
      }
  }
  return outcome;
}

}  // namespace

Result<std::vector<TaskSums>> measure(Learner& learner, const BatchSource& source,
                                      const LossFunction& loss, const TrainingOptions& options) {
  Batches next = source.pass(
      {.batch_rows = options.batch_rows, .order = RowOrder::AsWritten, .workers = options.workers});
  if (options.domain >= 0) next = of_domain(std::move(next), options.domain, options.batch_rows);
  std::vector<TaskSums> tasks;
  Batch batch;
  std::vector<float> gradient;
  while (next(batch)) {
    const std::vector<float> logits = TRY(learner.logits(batch));
    gradient.resize(logits.size());
    add(tasks, loss(logits, batch, gradient).tasks);
  }
  return tasks;
}

Result<TrainingOutcome> train(Learner& learner, const Training& training) {
  return Loop(learner, training).run();
}

}  // namespace weft::lattice
