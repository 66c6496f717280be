// SPDX-License-Identifier: Apache-2.0

#include "lattice/training/configuration.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

const std::vector<std::string> kPortfolios = {"merged", "separate"};
const std::vector<std::string> kOrders = {"shuffled", "as_written"};

Result<Done> read_optimizer(Fields& fields, TrainConfiguration& c) {
  TRY(fields.read("learning_rate", c.dense.learning_rate, 1e-9, 10));
  TRY(fields.read("table_learning_rate", c.table_learning_rate, 1e-9, 100));
  TRY(fields.read("beta1", c.dense.beta1, 0, 0.9999999));
  TRY(fields.read("beta2", c.dense.beta2, 0, 0.9999999));
  TRY(fields.read("epsilon", c.dense.epsilon, 0, 1));
  TRY(fields.read("weight_decay", c.dense.weight_decay, 0, 1));
  TRY(fields.read("warm_up_steps", c.dense.warm_up_steps));
  TRY(fields.read("clip_norm", c.dense.clip_norm, 0, 1e9));
  return fields.read("end_share", c.dense.end_share, 0, 1);
}

Result<Done> read_loop(Fields& fields, TrainingOptions& loop) {
  TRY(fields.read("seed", loop.seed));
  TRY(fields.read("batch_rows", loop.batch_rows, 1));
  TRY(fields.read("passes", loop.passes, 1));
  TRY(fields.read("patience", loop.patience));
  TRY(fields.read("log_every", loop.log_every, 1));
  TRY(fields.read("checkpoint_every", loop.checkpoint_every));
  return fields.read_word("order", loop.order, kOrders);
}

// Words that are numbers or truth values become those, as YAML has it.
Json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Null:
      return nullptr;
    case YamlNode::Kind::List: {
      Json list = Json::array();
      for (const YamlNode& one : node.list) list.push_back(to_json(one));
      return list;
    }
    case YamlNode::Kind::Map: {
      Json map = Json::object();
      for (const auto& [key, one] : node.map) map[key] = to_json(one);
      return map;
    }
    case YamlNode::Kind::Scalar:
      break;
  }
  const Json word = Json::parse(node.scalar, nullptr, false);
  return !node.quoted && (word.is_number() || word.is_boolean()) ? word : Json(node.scalar);
}

Result<Done> read_models(Fields& fields, TrainConfiguration& c) {
  const auto read_model = [&](const std::string& name, const YamlNode& node) -> Result<Done> {
    ModelChoice& model = c.models.emplace_back();
    model.name = name;
    if (name.empty() || name.find('/') != std::string::npos || name.front() == '.')
      return fields.error("models", "a model's name is also its folder's: " + name);
    Fields inside = TRY(Fields::open(fields.document(), node, "model " + name));
    model.network = to_json(*TRY(inside.required("network")));
    TRY(inside.read_word("portfolios", model.portfolios, kPortfolios));
    TRY(read_teacher_use(inside, model.teacher));
    return inside.finish();
  };
  TRY(fields.each("models", read_model));
  if (!c.models.empty()) return Done{};
  return fields.error("models", "train names no model", "models: {mlp: {network: {kind: mlp}}}");
}

Result<Done> read_instant(Fields& fields, const char* key, int64_t& value) {
  std::string text;
  TRY(fields.read(key, text));
  if (text.empty()) return Done{};
  const std::optional<int64_t> instant = parse_instant(text);
  if (!instant) return fields.error(key, "is no instant: " + text, "as in 2025-01-31T12:30:00Z");
  value = *instant;
  return Done{};
}

Result<Done> read_teacher(Fields& fields, const std::string& base, TrainConfiguration& c) {
  if (const YamlNode* teacher = fields.node("teacher"))
    if (teacher->kind != YamlNode::Kind::Null)
      c.teacher = TRY(read_student(fields.document(), *teacher, base));
  for (const ModelChoice& model : c.models)
    if (model.teacher != TeacherUse::None && c.teacher.store.empty())
      return fields.error("models",
                          "a model has a teacher, but train names no store: " + model.name,
                          "teacher: {store: FOLDER}, a store that lattice teach wrote");
  return Done{};
}

// A list of lists of domains.
Result<Done> read_untied(Fields& fields, TrainConfiguration& c) {
  const YamlNode* node = fields.node("untied");
  if (node == nullptr || node->kind == YamlNode::Kind::Null) return Done{};
  for (const YamlNode& group : node->list) {
    std::vector<std::string>& names = c.untied.emplace_back();
    if (group.kind == YamlNode::Kind::Scalar) names.push_back(group.scalar);
    for (const YamlNode& one : group.list) names.push_back(one.scalar);
  }
  return Done{};
}

Result<size_t> find(const std::vector<std::string>& names, const std::string& name,
                    const std::string& what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  return Error("the data has no " + what + " named " + name,
               all.empty() ? "it has none at all" : "it has " + all);
}

}  // namespace

Result<TrainConfiguration> read_training(const YamlDocument& document, const YamlNode& node,
                                         const std::string& base) {
  TrainConfiguration c;
  Fields fields = TRY(Fields::open(document, node, "train"));
  TRY(fields.read("data", c.data));
  c.data = (std::filesystem::path(base) / c.data).lexically_normal().string();
  if (c.data.ends_with('/')) c.data.pop_back();
  if (c.data.empty() || c.data == ".")
    return fields.error("data", "train needs the run folder of an ingest",
                        "--in FOLDER, or data: FOLDER");
  TRY(read_models(fields, c));
  TRY(read_untied(fields, c));
  TRY(fields.read("dense_tokens", c.dense_tokens, 1));
  const auto read_task = [&](const std::string& name, const YamlNode& one) -> Result<Done> {
    TaskChoice& task = c.tasks[name];
    Fields inside = TRY(Fields::open(document, one, "task " + name));
    TRY(inside.read("weight", task.weight, 0, 1e6));
    TRY(inside.read("domains", task.domains));
    return inside.finish();
  };
  TRY(fields.each("tasks", read_task));
  TRY(read_optimizer(fields, c));
  TRY(fields.read("correlation", c.correlation.weight, 0, 100));
  TRY(fields.read("correlation_rows", c.correlation.least_rows, 2));
  TRY(read_loop(fields, c.loop));
  TRY(fields.read("validation", c.validation));
  TRY(fields.read("validation_share", c.validation_share, 0, 0.9));
  TRY(read_instant(fields, "from", c.range.from));
  TRY(read_instant(fields, "until", c.range.until));
  TRY(read_teacher(fields, base, c));
  TRY(fields.finish());
  return c;
}

Json to_json(const TrainConfiguration& c) {
  Json tasks = Json::object();
  for (const auto& [name, task] : c.tasks)
    tasks[name] = {{"weight", task.weight}, {"domains", task.domains}};
  Json models = Json::object();
  for (const ModelChoice& model : c.models)
    models[model.name] = {{"network", model.network},
                          {"portfolios", kPortfolios[static_cast<size_t>(model.portfolios)]},
                          {"teacher", word_of(model.teacher)}};
  return {{"data", c.data},
          {"models", models},
          {"untied", c.untied},
          {"dense_tokens", c.dense_tokens},
          {"tasks", tasks},
          {"learning_rate", c.dense.learning_rate},
          {"table_learning_rate", c.table_learning_rate},
          {"beta1", c.dense.beta1},
          {"beta2", c.dense.beta2},
          {"epsilon", c.dense.epsilon},
          {"weight_decay", c.dense.weight_decay},
          {"warm_up_steps", c.dense.warm_up_steps},
          {"clip_norm", c.dense.clip_norm},
          {"end_share", c.dense.end_share},
          {"correlation", c.correlation.weight},
          {"correlation_rows", c.correlation.least_rows},
          {"seed", c.loop.seed},
          {"batch_rows", c.loop.batch_rows},
          {"passes", c.loop.passes},
          {"patience", c.loop.patience},
          {"log_every", c.loop.log_every},
          {"checkpoint_every", c.loop.checkpoint_every},
          {"order", kOrders[static_cast<size_t>(c.loop.order)]},
          {"validation", c.validation},
          {"validation_share", c.validation_share},
          {"from", c.range.from == INT64_MIN ? Json() : Json(format_instant(c.range.from))},
          {"until", c.range.until == INT64_MAX ? Json() : Json(format_instant(c.range.until))},
          {"teacher", to_json(c.teacher)}};
}

Result<std::vector<int64_t>> domain_groups(const TrainConfiguration& c, const ShardIndex& schema) {
  std::vector<int64_t> groups(schema.domains.size(), 0);
  for (size_t g = 0; g < c.untied.size(); ++g)
    for (const std::string& name : c.untied[g])
      groups[TRY(find(schema.domains, name, "domain"))] = static_cast<int64_t>(g);
  return groups;
}

Result<std::vector<ModelPlan>> plan(const TrainConfiguration& c, Portfolios portfolios,
                                    const ShardIndex& schema) {
  std::vector<std::string> labels;
  for (const ShardIndex::Label& label : schema.labels) labels.push_back(label.name);
  ModelPlan all;
  for (size_t column = 0; column < labels.size(); ++column) {
    const auto chosen = c.tasks.find(labels[column]);
    if (!c.tasks.empty() && chosen == c.tasks.end()) continue;
    Task task = {.name = labels[column], .windowed = schema.labels[column].windowed};
    if (chosen != c.tasks.end()) {
      task.weight = chosen->second.weight;
      if (!chosen->second.domains.empty()) task.domains.assign(schema.domains.size(), 0);
      for (const std::string& domain : chosen->second.domains)
        task.domains[TRY(find(schema.domains, domain, "domain"))] = 1;
    }
    all.columns.push_back(column);
    all.tasks.push_back(std::move(task));
  }
  for (const auto& [name, task] : c.tasks) TRY(find(labels, name, "label"));
  if (portfolios == Portfolios::Merged) return std::vector<ModelPlan>{all};

  std::vector<ModelPlan> plans;
  const size_t domains = std::max<size_t>(1, schema.domains.size());
  for (size_t d = 0; d < domains; ++d)
    for (size_t j = 0; j < all.tasks.size(); ++j) {
      const Task& task = all.tasks[j];
      if (!task.domains.empty() && task.domains[d] == 0) continue;
      const bool one_domain = schema.domains.empty();
      plans.push_back(
          {.name = one_domain ? task.name : schema.domains[d] + "." + task.name,
           .columns = {all.columns[j]},
           .tasks = {{.name = task.name, .weight = task.weight, .windowed = task.windowed}},
           .domain = one_domain ? -1 : static_cast<int32_t>(d)});
    }
  return plans;
}

}  // namespace weft::lattice
