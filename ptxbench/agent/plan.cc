// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/plan.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "base/text_file.h"
#include "ptxbench/problems/document.h"

namespace weft::agent {
namespace {
using problems::Node;

constexpr int64_t kMost = 1000000;

Result<std::string> text_or(const Node& node, const char* name, std::string otherwise) {
  return node.has(name) ? node.text(name) : Result<std::string>(std::move(otherwise));
}

Result<double> number_or(const Node& node, const char* name, double otherwise) {
  if (!node.has(name)) return otherwise;
  const Node member = TRY(node.member(name));
  const double value = TRY(member.number());
  if (!(value >= 0)) return member.error(std::string(name) + " is negative");
  return value;
}

Result<unsigned> count_or(const Node& node, const char* name, unsigned otherwise) {
  if (!node.has(name)) return otherwise;
  const Node member = TRY(node.member(name));
  const int64_t value = TRY(member.integer());
  if (value < 1 || value > kMost)
    return member.error(fmt::format("{} is out of range: {}", name, value),
                        fmt::format("a whole number from 1 to {}", kMost));
  return static_cast<unsigned>(value);
}

Result<std::vector<Node>> elements_of(const Node& node, const char* name) {
  return TRY(node.member(name)).elements();
}

Result<std::vector<Node>> members_of(const Node& node, const char* name) {
  return TRY(node.member(name)).members();
}

Result<std::vector<std::string>> texts(const Node& node, const char* name) {
  const Node list = TRY(node.member(name));
  std::vector<std::string> all;
  for (const Node& element : TRY(list.elements())) all.push_back(TRY(element.text()));
  if (all.empty()) return list.error(list.name() + " is empty");
  return all;
}

Result<PlannedEndpoint> read_endpoint(const Node& node) {
  TRY(node.only({"url", "key_variable", "requests_per_minute", "attempts", "connect_seconds",
                 "silence_seconds", "answer_seconds", "first_pause_seconds",
                 "longest_pause_seconds"}));
  PlannedEndpoint planned;
  chat::Endpoint& endpoint = planned.endpoint;
  endpoint.url = TRY(node.text("url"));
  endpoint.key_variable = TRY(text_or(node, "key_variable", ""));
  endpoint.attempts = TRY(count_or(node, "attempts", endpoint.attempts));
  for (auto [name, value] : {std::pair{"connect_seconds", &endpoint.connect_seconds},
                             {"silence_seconds", &endpoint.silence_seconds},
                             {"answer_seconds", &endpoint.answer_seconds},
                             {"first_pause_seconds", &endpoint.first_pause_seconds},
                             {"longest_pause_seconds", &endpoint.longest_pause_seconds},
                             {"requests_per_minute", &planned.requests_per_minute}})
    *value = TRY(number_or(node, name, *value));
  return planned;
}

Result<Model> read_model(const Node& node) {
  TRY(node.only({"name", "served", "endpoint", "options", "prices", "seed"}));
  Model model{.name = TRY(node.text("name"))};
  model.served = TRY(text_or(node, "served", model.name));
  model.endpoint = TRY(node.text("endpoint"));
  if (node.has("options")) {
    const Node options = TRY(node.member("options"));
    TRY(options.members());
    model.options = to_line(options.json());
  }
  if (node.has("seed")) {
    const Node seed = TRY(node.member("seed"));
    if (!seed.json().is_boolean()) return seed.error("seed is true or false");
    model.send_seed = seed.json().get<bool>();
  }
  if (node.has("prices")) {
    const Node prices = TRY(node.member("prices"));
    TRY(prices.only({"prompt", "completion"}));
    model.prices = {.prompt = TRY(number_or(prices, "prompt", 0)),
                    .completion = TRY(number_or(prices, "completion", 0))};
  }
  return model;
}

Result<JudgePlan> read_judge(const Node& node) {
  TRY(node.only({"device", "emulated_model", "url", "token_variable", "parallel", "timeout_seconds",
                 "cache"}));
  JudgePlan judge;
  judge.device = TRY(text_or(node, "device", judge.device));
  judge.emulated_model = TRY(text_or(node, "emulated_model", judge.emulated_model));
  if (judge.emulated_model == "b200")
    return TRY(node.member("emulated_model"))
        .error("the emulated device of Blackwell follows from the architecture",
               "say \"architecture\": \"blackwell\" in the plan or its tasks");
  judge.url = TRY(text_or(node, "url", ""));
  judge.token_variable = TRY(text_or(node, "token_variable", ""));
  judge.parallel = TRY(count_or(node, "parallel", judge.parallel));
  judge.timeout_seconds = TRY(number_or(node, "timeout_seconds", judge.timeout_seconds));
  judge.cache = TRY(text_or(node, "cache", ""));
  return judge;
}

// A folder's name: letters and digits are kept.
std::string plain(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ? c : '-';
  return name.starts_with('.') ? "-" + name : name;
}

struct Defaults {
  std::vector<std::string> models, tags = {"plain"};
  std::string architecture = "hopper";
  unsigned replicas = 1, turns = 8;
  std::optional<double> target_speedup;
};

Result<Done> read_defaults(const Node& node, Defaults& defaults) {
  if (node.has("prompt_tags")) defaults.tags = TRY(texts(node, "prompt_tags"));
  if (node.has("architecture")) {
    const Node architecture = TRY(node.member("architecture"));
    defaults.architecture = TRY(architecture.text());
    const std::vector<std::string>& known = architectures();
    if (std::find(known.begin(), known.end(), defaults.architecture) == known.end())
      return architecture.error("unknown architecture: " + defaults.architecture,
                                suggestion(defaults.architecture, known, "architectures"));
  }
  defaults.replicas = TRY(count_or(node, "replicas", defaults.replicas));
  defaults.turns = TRY(count_or(node, "turns", defaults.turns));
  if (node.has("target_speedup"))
    defaults.target_speedup = TRY(number_or(node, "target_speedup", 0));
  return Done{};
}

Result<Done> add_task(const Node& node, Defaults chosen, const problems::Catalogue& catalogue,
                      Plan& plan, std::set<std::string>& ids) {
  TRY(node.only({"definition", "workload", "set", "models", "prompt_tags", "architecture",
                 "replicas", "turns", "target_speedup"}));
  if (node.has("models")) chosen.models = TRY(texts(node, "models"));
  TRY(read_defaults(node, chosen));
  const std::string definition = TRY(node.text("definition"));
  problems::Overrides overrides;
  if (node.has("set"))
    for (const Node& axis : TRY(members_of(node, "set")))
      overrides.emplace_back(axis.name(), TRY(axis.integer()));
  const std::string workload = TRY(text_or(node, "workload", ""));
  const Result<problems::Task> task = catalogue.task(definition, workload, overrides);
  if (!task.ok()) {
    const Diagnostic& why = task.error().diagnostics.front();
    return node.error(why.message, why.hint);
  }
  for (const std::string& model : chosen.models) {
    if (!plan.models.contains(model))
      return node.error("the plan has no model of this name: " + model);
    for (const std::string& tag : chosen.tags)
      for (unsigned replica = 0; replica < chosen.replicas; ++replica) {
        TrajectoryHead head{
            .id = fmt::format("{}.{}.{}.{}.{}{}", plain(definition),
                              task->workload.uuid.substr(0, 8), plain(model), plain(tag), replica,
                              chosen.architecture == "hopper" ? "" : "." + chosen.architecture),
            .model = model,
            .definition = definition,
            .family = std::string(task->definition.tag("family")),
            .architecture = chosen.architecture,
            .prompt_tag = tag,
            .workload_uuid = task->workload.uuid,
            .replica = replica,
            .turns = chosen.turns,
            .target_speedup = chosen.target_speedup};
        head.axes.insert(task->overrides.begin(), task->overrides.end());
        if (!ids.insert(head.id).second)
          return node.error("the plan has this trajectory twice: " + head.id,
                            "use replicas to repeat a task");
        plan.trajectories.push_back(std::move(head));
      }
  }
  return Done{};
}

// What is said of a whole plan, but for its tasks.
Result<Done> read_settings(const Node& root, Plan& plan) {
  for (const Node& endpoint : TRY(members_of(root, "endpoints")))
    plan.endpoints[endpoint.name()] = TRY(read_endpoint(endpoint));
  for (const Node& node : TRY(elements_of(root, "models"))) {
    Model model = TRY(read_model(node));
    if (!plan.endpoints.contains(model.endpoint)) {
      std::vector<std::string> known;
      for (const auto& [name, endpoint] : plan.endpoints) known.push_back(name);
      return node.error("the plan has no endpoint of this name: " + model.endpoint,
                        suggestion(model.endpoint, known, "endpoints"));
    }
    if (!plan.models.emplace(model.name, model).second)
      return node.error("the plan has two models of this name: " + model.name);
  }
  plan.parallel = TRY(count_or(root, "parallel", plan.parallel));
  plan.feedback_bytes =
      TRY(count_or(root, "feedback_bytes", static_cast<unsigned>(plan.feedback_bytes)));
  if (root.has("budget")) {
    const Node budget = TRY(root.member("budget"));
    TRY(budget.only({"dollars", "tokens"}));
    if (budget.has("dollars")) plan.budget_dollars = TRY(number_or(budget, "dollars", 0));
    if (budget.has("tokens"))
      plan.budget_tokens = static_cast<int64_t>(TRY(number_or(budget, "tokens", 0)));
    for (const auto& [name, model] : plan.models)
      if (plan.budget_dollars && !model.prices)
        return budget.error("a budget in dollars needs prices of every model: " + name);
  }
  if (root.has("judge")) {
    const Node judge = TRY(root.member("judge"));
    plan.judge = TRY(read_judge(judge));
  }
  return Done{};
}

}  // namespace

const std::vector<std::string>& architectures() {
  static const std::vector<std::string> kNames = {"hopper", "blackwell"};
  return kNames;
}

std::optional<double> cost_of(const Model& model, const chat::Usage& usage) {
  if (!model.prices) return std::nullopt;
  return (static_cast<double>(usage.prompt) * model.prices->prompt +
          static_cast<double>(usage.completion) * model.prices->completion) /
         1e6;
}

Result<Plan> read_plan(const std::string& file, const problems::Catalogue& catalogue) {
  std::string text = TRY(read_file(file));
  const auto document = TRY(problems::Document::parse(std::move(text), file));
  const Node root(document);
  TRY(root.only({"endpoints", "models", "tasks", "prompt_tags", "architecture", "replicas", "turns",
                 "target_speedup", "parallel", "budget", "judge", "feedback_bytes"}));
  Plan plan;
  TRY(read_settings(root, plan));
  Defaults defaults;
  for (const Node& node : TRY(elements_of(root, "models")))
    defaults.models.push_back(TRY(node.text("name")));
  TRY(read_defaults(root, defaults));
  std::set<std::string> ids;
  for (const Node& task : TRY(elements_of(root, "tasks")))
    TRY(add_task(task, defaults, catalogue, plan, ids));
  if (plan.trajectories.empty()) return root.error("the plan has no tasks");
  return plan;
}

Result<Plan> read_models(const std::string& file) {
  std::string text = TRY(read_file(file));
  const auto document = TRY(problems::Document::parse(std::move(text), file));
  const Node root(document);
  TRY(root.only({"endpoints", "models", "parallel", "budget", "judge", "feedback_bytes"}));
  Plan plan;
  TRY(read_settings(root, plan));
  if (plan.models.empty()) return root.error("the plan has no models");
  return plan;
}

}  // namespace weft::agent
