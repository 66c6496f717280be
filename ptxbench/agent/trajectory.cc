// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/trajectory.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"

namespace weft::agent {
namespace {
namespace fs = std::filesystem;

constexpr const char* kFormat = "mini-swe-agent-1.1";

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

Json head_json(const TrajectoryHead& head) {
  return {{"id", head.id},
          {"model", head.model},
          {"definition", head.definition},
          {"family", head.family},
          {"architecture", head.architecture},
          {"prompt_tag", head.prompt_tag},
          {"workload", head.workload_uuid},
          {"axes", head.axes},
          {"replica", head.replica},
          {"turns", head.turns},
          {"target_speedup", or_null(head.target_speedup)}};
}

TrajectoryHead read_head(const Json& json) {
  TrajectoryHead head{.id = json.at("id"),
                      .model = json.at("model"),
                      .definition = json.at("definition"),
                      .family = json.at("family"),
                      .architecture = json.at("architecture"),
                      .prompt_tag = json.at("prompt_tag"),
                      .workload_uuid = json.at("workload"),
                      .replica = json.at("replica"),
                      .turns = json.at("turns"),
                      .target_speedup = optional_in<double>(json, "target_speedup")};
  json.at("axes").get_to(head.axes);
  return head;
}

Json answer_message(const Turn& turn) {
  return {{"role", "assistant"},
          {"content", turn.answer},
          {"extra",
           {{"finish", turn.finish},
            {"reasoning", turn.reasoning},
            {"usage",
             {{"prompt_tokens", turn.tokens.prompt},
              {"completion_tokens", turn.tokens.completion},
              {"reasoning_tokens", turn.tokens.reasoning},
              {"estimated", turn.tokens.estimated}}},
            {"cost", or_null(turn.cost)}}}};
}

Turn read_answer(const Json& message) {
  const Json& extra = message.at("extra");
  const Json& usage = extra.at("usage");
  return {.answer = message.at("content"),
          .reasoning = extra.at("reasoning"),
          .finish = extra.at("finish"),
          .tokens = {.prompt = usage.at("prompt_tokens"),
                     .completion = usage.at("completion_tokens"),
                     .reasoning = usage.at("reasoning_tokens"),
                     .estimated = usage.value("estimated", false)},
          .cost = optional_in<double>(extra, "cost")};
}

Json feedback_message(const Turn& turn, size_t number) {
  const VerdictSummary& verdict = turn.verdict;
  Json extra = {{"rollout", {{"turn_idx", number - 1}}},
                {"error_class", verdict.error_class},
                {"status", verdict.status},
                {"audited", or_null(verdict.audited)},
                {"arch_tag", verdict.arch_tag},
                {"share", or_null(verdict.share)},
                {"min_speedup", or_null(verdict.speedup)},
                {"evaluation_id", verdict.evaluation_id},
                {"kernel_sha256", verdict.kernel_sha256},
                {"judged_key", turn.judged_key}};
  if (!turn.problem.empty()) extra["problem"] = turn.problem;
  if (!verdict.status.empty()) {
    extra["kernel"] = fmt::format("kernel_v{}.cu", number);
    extra["verdict"] = fmt::format("verdict_v{}.json", number);
  }
  return {{"role", "user"}, {"content", turn.feedback}, {"extra", std::move(extra)}};
}

void read_feedback(const Json& message, Turn& turn) {
  const Json& extra = message.at("extra");
  turn.feedback = message.at("content");
  turn.problem = extra.value("problem", "");
  turn.judged_key = extra.at("judged_key");
  turn.verdict = {.status = extra.at("status"),
                  .error_class = extra.at("error_class"),
                  .audited = optional_in<bool>(extra, "audited"),
                  .arch_tag = extra.at("arch_tag"),
                  .share = optional_in<double>(extra, "share"),
                  .speedup = optional_in<double>(extra, "min_speedup"),
                  .evaluation_id = extra.at("evaluation_id"),
                  .kernel_sha256 = extra.at("kernel_sha256")};
}

}  // namespace

std::string kernel_file(const std::string& folder, size_t turn) {
  return fmt::format("{}/kernel_v{}.cu", folder, turn);
}

std::string verdict_file(const std::string& folder, size_t turn) {
  return fmt::format("{}/verdict_v{}.json", folder, turn);
}

Result<Done> write_trajectory(const std::string& folder, const Trajectory& trajectory) {
  double cost = 0;
  Json messages = {{{"role", "system"}, {"content", trajectory.system}, {"extra", Json::object()}},
                   {{"role", "user"}, {"content", trajectory.task}, {"extra", Json::object()}}};
  for (size_t i = 0; i < trajectory.turns.size(); ++i) {
    const Turn& turn = trajectory.turns[i];
    cost += turn.cost.value_or(0);
    messages.push_back(answer_message(turn));
    if (turn.complete()) messages.push_back(feedback_message(turn, i + 1));
  }
  std::string submission;
  for (const Turn& turn : trajectory.turns)
    if (turn.verdict.passed()) submission = turn.code;
  const Json json = {
      {"trajectory_format", kFormat},
      {"info",
       {{"exit_status", trajectory.ended},
        {"exit_reason", trajectory.reason},
        {"submission", submission},
        {"model_stats", {{"instance_cost", cost}, {"api_calls", trajectory.turns.size()}}},
        {"ptxbench", head_json(trajectory.head)}}},
      {"messages", std::move(messages)}};
  return write_json(folder + "/trajectory.json", json);
}

Result<Trajectory> read_trajectory(const std::string& folder) {
  const std::string file = folder + "/trajectory.json";
  const Json json = TRY(read_json(file));
  try {
    Trajectory trajectory;
    const Json& info = json.at("info");
    trajectory.head = read_head(info.at("ptxbench"));
    trajectory.ended = info.at("exit_status");
    trajectory.reason = info.value("exit_reason", "");
    const Json& messages = json.at("messages");
    trajectory.system = messages.at(0).at("content");
    trajectory.task = messages.at(1).at("content");
    for (size_t i = 2; i < messages.size(); ++i) {
      const Json& message = messages[i];
      if (message.at("role") == "assistant") {
        trajectory.turns.push_back(read_answer(message));
        Turn& turn = trajectory.turns.back();
        CodeBlock block = last_code_block(turn.answer);
        turn.code = std::move(block.code);
        turn.problem = std::move(block.problem);
      } else {
        if (trajectory.turns.empty() || trajectory.turns.back().complete())
          return Error(Diagnostic{.message = fmt::format("message {} answers nothing", i),
                                  .hint = "the trajectory is damaged",
                                  .file = file});
        read_feedback(message, trajectory.turns.back());
      }
    }
    return trajectory;
  } catch (const Json::exception& error) {
    return Error(Diagnostic{.message = std::string("a damaged trajectory: ") + error.what(),
                            .hint = "`ptxbench run` sets it aside and starts it again",
                            .file = file});
  }
}

Result<std::vector<std::string>> trajectory_folders(const std::string& run) {
  std::vector<std::string> folders;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(run + "/trajectories", failure))
    if (fs::exists(entry.path() / "trajectory.json")) folders.push_back(entry.path().string());
  if (failure)
    return Error(Diagnostic{.message = "no run: " + failure.message(),
                            .hint = "name the folder that `ptxbench run` wrote",
                            .file = run + "/trajectories"});
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace weft::agent
