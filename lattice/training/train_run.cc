// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/train_run.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/mix.h"
#include "lattice/learning/distilled_loss.h"
#include "lattice/training/batch_rows.h"
#include "lattice/training/batch_source.h"
#include "lattice/training/rates.h"
#include "lattice/training/trainer.h"

namespace weft::lattice {
namespace {

Result<Learner> make_learner(const ShardIndex& schema, const Json& network,
                             const LearnerOptions& options) {
  const YamlDocument document = TRY(parse_yaml(to_text(network), "the network"));
  return Learner::create(schema, document, document.root, options);
}

// Names of tasks with their windows, so that heads of another meaning are never loaded.
std::string task_names(const std::vector<Task>& tasks, const ShardIndex& schema) {
  Json names = Json::array();
  for (const Task& task : tasks)
    names.push_back({task.name, task.windowed ? Json(schema.windows) : Json(nullptr)});
  return to_line(names);
}

std::vector<LearnedTask> learned(const std::vector<Task>& tasks, const std::vector<size_t>& columns,
                                 int32_t domain, const Rates& rates) {
  std::vector<LearnedTask> all;
  for (size_t j = 0; j < tasks.size(); ++j)
    all.push_back({tasks[j].name, rates.starting_rates(domain, columns[j], tasks[j].windowed)});
  return all;
}

// A student's weights mean something beside its teacher only.
std::string network_identity(const Json& network, const StudentShape& student,
                             const TeacherDescription& teacher) {
  if (student.width == 0 && student.distilled.empty()) return to_line(network);
  return to_line(
      {{"network", network}, {"student", to_json(student)}, {"teacher", teacher.version}});
}

class TrainRun {
 public:
  TrainRun(const TrainConfiguration& c, RunFolder& run, const TrainHooks& hooks)
      : c_(c), run_(run), hooks_(hooks) {}

  Result<Json> work() {
    schema_ = TRY(ShardIndex::read(c_.data));
    source_ = TRY(ShardSource::open(c_.data, "train"));
    if (!c_.range.everything())
      source_ = TRY(RangeSource::create(std::move(source_), schema_, c_.range));
    if (c_.validation_share > 0) {
      hold_out();
    } else if (!c_.validation.empty()) {
      validation_ = TRY(ShardSource::open(c_.data, c_.validation));
      if (!c_.range.everything())
        validation_ = TRY(RangeSource::create(std::move(validation_), schema_, c_.range));
    }
    groups_ = TRY(domain_groups(c_, schema_));
    const Rates rates = count_rates(*source_, schema_);
    Json models = Json::array();
    for (const ModelChoice& model : c_.models) {
      Json parts = Json::array();
      double flops = 0;
      uint64_t dense = 0, table = 0;
      for (const ModelPlan& plan : TRY(lattice::plan(c_, model.portfolios, schema_))) {
        const Json part = TRY(train_part(model, plan, rates));
        flops += part["flops_per_sample"].get<double>() * rates.share(plan.domain);
        dense += part["dense_parameters"].get<uint64_t>();
        table += part["table_parameters"].get<uint64_t>();
        parts.push_back(part);
      }
      models.push_back({{"name", model.name},
                        {"network", model.network},
                        {"teacher", teacher_of(model)},
                        {"flops_per_impression", flops},
                        {"dense_parameters", dense},
                        {"table_parameters", table},
                        {"parts", parts}});
    }
    const Json summary = {{"trained_until", trained_until()}, {"data", c_.data},
                          {"schema", schema_.schema},         {"domain_groups", groups_},
                          {"dense_tokens", c_.dense_tokens},  {"models", models},
                          {"rates", rates.to_json()}};
    TRY(run_.finish(summary));
    return summary;
  }

 private:
  void hold_out();
  // The newest thing that any model of this training knows; null without times.
  Json trained_until() const {
    std::optional<int64_t> newest = newest_known(*source_, schema_);
    if (newest && validation_ != nullptr)
      newest = std::max(*newest, newest_known(*validation_, schema_).value_or(*newest));
    return newest ? Json(*newest) : Json();
  }
  Json teacher_of(const ModelChoice& model) const {
    if (model.teacher == TeacherUse::None) return nullptr;
    Json teacher = to_json(c_.teacher);
    teacher["use"] = word_of(model.teacher);
    teacher["version"] = teacher_.version;
    teacher["width"] = teacher_.width;
    return teacher;
  }
  Result<Json> train_part(const ModelChoice& model, const ModelPlan& plan, const Rates& rates);

  const TrainConfiguration& c_;
  RunFolder& run_;
  const TrainHooks& hooks_;
  ShardIndex schema_;
  std::unique_ptr<BatchSource> source_, validation_;
  std::vector<int64_t> groups_;
  TeacherDescription teacher_;  // of the store, once a model asked it
};

// Which rows are held out depends on the place of a row alone, not on the seed: trainings of
// several seeds are compared on the same rows.
void TrainRun::hold_out() {
  std::vector<Batch> kept, held;
  uint64_t row = 0;
  Batch batch;
  for (Batches next = source_->pass({.order = RowOrder::AsWritten}); next(batch);) {
    std::vector<uint32_t> here[2];
    for (uint32_t i = 0; i < batch.rows; ++i)
      here[static_cast<double>(mix(row++) >> 11) * 0x1p-53 < c_.validation_share].push_back(i);
    kept.push_back(take_rows(batch, here[0]));
    held.push_back(take_rows(batch, here[1]));
  }
  source_ = std::make_unique<MemorySource>(join(kept));
  validation_ = std::make_unique<MemorySource>(join(held));
}

Result<Json> TrainRun::train_part(const ModelChoice& model, const ModelPlan& plan,
                                  const Rates& rates) {
  AdamOptions dense = c_.dense;
  dense.total_steps =
      static_cast<uint64_t>(static_cast<double>(source_->rows()) * rates.share(plan.domain) /
                            static_cast<double>(c_.loop.batch_rows)) *
      c_.loop.passes;
  std::vector<std::string> tasks;
  for (const Task& task : plan.tasks) tasks.push_back(task.name);
  std::optional<StudentView> view;
  std::optional<TaughtSource> taught, taught_validation;
  StudentShape student;
  if (model.teacher != TeacherUse::None) {
    view = TRY(open_view(c_.teacher, schema_));
    teacher_ = view->teacher();
    student = TRY(student_shape(model.teacher, c_.teacher, teacher_, tasks));
    taught.emplace(*source_, *view);
    if (validation_ != nullptr) taught_validation.emplace(*validation_, *view);
  }
  Learner learner =
      TRY(make_learner(schema_, model.network,
                       {.seed = c_.loop.seed,
                        .tasks = learned(plan.tasks, plan.columns, plan.domain, rates),
                        .domain_groups = groups_,
                        .dense_tokens = c_.dense_tokens,
                        .dense = dense,
                        .table_learning_rate = c_.table_learning_rate,
                        .student = student}));
  Training training;
  training.options = c_.loop;
  training.options.domain = plan.domain;
  training.options.workers = hooks_.workers;
  training.tasks = tasks;
  training.loss = loss_of(Objective(plan.tasks, learner.windows(), c_.correlation), plan.columns);
  if (!student.distilled.empty())
    training.loss = distilled_loss(training.loss, c_.teacher.loss, student, tasks.size(),
                                   learner.windows(), plan.columns);
  training.source = taught ? &*taught : source_.get();
  training.validation = taught_validation ? &*taught_validation : validation_.get();
  training.run = &run_;
  training.prefix = model.name + "/" + (plan.name.empty() ? "" : plan.name + "/");
  training.identity = {schema_.schema, network_identity(model.network, student, teacher_),
                       task_names(plan.tasks, schema_)};
  training.stop = hooks_.stop;
  uint64_t seen = 0;
  training.progress = [&](const TrainingProgress& now) {
    hooks_.progress(training.prefix, now.rows - seen);
    seen = now.rows;
  };
  const TrainingOutcome outcome = TRY(train(learner, training));
  if (taught) TRY(taught->failure());
  if (taught_validation) TRY(taught_validation->failure());
  if (outcome.interrupted)
    return Error("stopped; the training goes on from a checkpoint", "give the same command again");
  return Json{
      {"file", training.prefix + "model.safetensors"},
      {"tasks", training.tasks},
      {"columns", plan.columns},
      {"domain", plan.domain},
      {"dense_parameters", learner.dense_parameters()},
      {"table_parameters", learner.table_parameters()},
      {"flops_per_sample", learner.flops_per_sample()},
      {"student", to_json(student)},
      {"teacher_use", view ? to_json(view->use(), view->lifetime_seconds()) : Json()},
      {"steps", outcome.steps},
      {"rows", outcome.rows},
      {"seconds", outcome.seconds},
      {"best_pass", outcome.best_pass},
      {"validation_loss", validation_ == nullptr ? Json(nullptr) : Json(outcome.validation_loss)}};
}

}  // namespace

Result<uint64_t> rows_to_train(const TrainConfiguration& c) {
  const ShardIndex schema = TRY(ShardIndex::read(c.data));
  const ShardIndex::Split* split = TRY(schema.split("train"));
  uint64_t rows = 0;
  for (const ModelChoice& model : c.models) {
    // Separate models together see each row once a task.
    const size_t tasks = c.tasks.empty() ? schema.labels.size() : c.tasks.size();
    rows += split->rows * c.loop.passes * (model.portfolios == Portfolios::Merged ? 1 : tasks);
  }
  return rows;
}

Result<Json> train_models(const TrainConfiguration& configuration, RunFolder& run,
                          const TrainHooks& hooks) {
  return TrainRun(configuration, run, hooks).work();
}

Result<std::string> read_models_folder(Fields& fields, const std::string& base) {
  std::string models;
  TRY(fields.read("models", models));
  std::string folder = (std::filesystem::path(base) / models).lexically_normal().string();
  if (folder.ends_with('/')) folder.pop_back();
  if (folder.empty() || folder == ".")
    return fields.error("models", "a step on trained models needs the run folder of a train",
                        "--in FOLDER, or models: FOLDER");
  return folder;
}

Result<Learner> load_part(const std::string& folder, const Json& summary, const Json& model,
                          const Json& part, const ShardIndex& schema) {
  const Rates rates = Rates::from_json(summary["rates"]);
  const std::vector<size_t> columns = part["columns"];
  std::vector<Task> tasks;
  for (const size_t column : columns) {
    if (column >= schema.labels.size())
      return Error("the model has a task that the data has no label for", "train on this data");
    tasks.push_back(
        {.name = schema.labels[column].name, .windowed = schema.labels[column].windowed});
  }
  const StudentShape student = shape_from_json(part.value("student", Json()));
  TeacherDescription teacher;
  if (const Json kept = model.value("teacher", Json()); !kept.is_null())
    teacher.version = kept["version"];
  Learner learner =
      TRY(make_learner(schema, model["network"],
                       {.tasks = learned(tasks, columns, part["domain"].get<int32_t>(), rates),
                        .domain_groups = summary["domain_groups"].get<std::vector<int64_t>>(),
                        .dense_tokens = summary["dense_tokens"].get<uint64_t>(),
                        .student = student}));
  TRY(load(folder + "/" + part["file"].get<std::string>(), learner,
           {schema.schema, network_identity(model["network"], student, teacher),
            task_names(tasks, schema)},
           Keep::ServedOnly));
  return learner;
}

}  // namespace weft::lattice
