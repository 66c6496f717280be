// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/repair.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::sft {
namespace {
namespace fs = std::filesystem;

// The failed turn as the teacher reads it: the kernel without the student's words.
agent::Turn first_turn(const FailedTurn& failure) {
  return {.answer = agent::fenced_code(failure.wrong.source),
          .reasoning = "",
          .finish = std::string(chat::ending_name(chat::Ending::Complete)),
          .tokens = {},
          .cost = std::nullopt,
          .code = failure.wrong.source,
          .problem = "",
          .feedback = failure.log,
          .judged_key = "",
          .verdict = failure.wrong.verdict};
}

class Repairing {
 public:
  Repairing(const std::vector<FailedTurn>& failures, agent::RunOptions options,
            const RepairSettings& settings)
      : failures_(failures), options_(std::move(options)), settings_(settings) {
    for (const auto& [name, model] : options_.plan.models)
      for (const FailedTurn& failure : failures_) {
        const std::string& tag = settings_.tag.empty() ? failure.prompt_tag : settings_.tag;
        agent::TrajectoryHead head{
            .id = failure.id +
                  (options_.plan.models.size() == 1 ? "" : "." + sha256(name).substr(0, 8)),
            .model = name,
            .definition = failure.definition,
            .family = failure.family,
            .architecture = failure.architecture,
            .prompt_tag = tag,
            .workload_uuid = failure.workload_uuid,
            .axes = failure.axes,
            .turns = settings_.turns + 1,
            .target_speedup = settings_.target_speedup};
        failure_of_[head.id] = &failure;
        options_.plan.trajectories.push_back(std::move(head));
      }
    options_.begin = [this](const agent::TrajectoryHead& head) { return begin(head); };
  }

  Result<Repaired> run() {
    Repaired repaired;
    if (!failures_.empty()) repaired.run = TRY(agent::run_plan(options_));
    for (const agent::TrajectoryHead& head : options_.plan.trajectories) TRY(collect(head));
    std::vector<Json> rows;
    for (const Pair& pair : pairs_) rows.push_back(to_json_in(pair, options_.folder));
    const std::string file = options_.folder + "/pairs.jsonl";
    TRY(write_json_lines(file, rows));
    repaired.pairs = rows.size();
    Json cells = Json::object();
    for (const auto& [name, cell] : cells_)
      cells[name] = {{"failures", cell.failures}, {"repaired", cell.repaired}};
    const std::string digest = sha256(TRY(read_file(file)));
    repaired.summary = {{"format", "ptxbench.repairs.v1"},
                        {"turns", settings_.turns},
                        {"failures", failures_.size()},
                        {"pairs", pairs_.size()},
                        {"pairs_sha256", digest},
                        {"tokens", repaired.run.state.tokens},
                        {"dollars", repaired.run.state.dollars},
                        {"by_cell", std::move(cells)},
                        {"not_repaired_by_reason", reasons_},
                        {"repairs", repairs_}};
    TRY(write_json(options_.folder + "/repairs.json", repaired.summary));
    return repaired;
  }

 private:
  Result<agent::Trajectory> begin(const agent::TrajectoryHead& head) const {
    const problems::Overrides overrides(head.axes.begin(), head.axes.end());
    const problems::Task task =
        TRY(options_.catalogue->task(head.definition, head.workload_uuid, overrides));
    agent::Trajectory trajectory{.head = head,
                                 .system = TRY(options_.prompts->system(head.prompt_tag)),
                                 .task = agent::task_prompt(task, head.architecture),
                                 .turns = {first_turn(*failure_of_.at(head.id))},
                                 .ended = "",
                                 .reason = ""};
    return trajectory;
  }

  // Every repair that passed is a pair; which of several is kept is for `ptxbench sft pairs`.
  Result<Done> collect(const agent::TrajectoryHead& head) {
    const FailedTurn& failure = *failure_of_.at(head.id);
    const std::string folder = options_.folder + "/trajectories/" + head.id;
    Cell& cell = cells_[failure.definition + " / " + failure.wrong.verdict.error_class];
    ++cell.failures;
    Json repair = {{"failure", failure.id},
                   {"origin", failure.origin},
                   {"model", head.model},
                   {"trajectory", head.id}};
    std::error_code ignored;
    size_t found = 0, turns = 0;
    std::string ended;
    if (fs::exists(folder + "/trajectory.json", ignored)) {
      const agent::Trajectory trajectory = TRY(agent::read_trajectory(folder));
      turns = trajectory.turns.size() - 1;
      ended = trajectory.ended;
      for (size_t i = 1; i < trajectory.turns.size(); ++i) {
        if (!trajectory.turns[i].verdict.passed()) continue;
        TRY(add_pair(failure, head, folder, trajectory.turns[i], i + 1));
        ++found;
      }
    }
    repair["turns"] = turns;
    repair["pairs"] = found;
    cell.repaired += found > 0;
    if (found == 0) {
      const std::string reason = ended.empty()      ? "open"
                                 : ended == "turns" ? "not right after all turns"
                                                    : ended;
      repair["not_repaired"] = reason;
      ++reasons_[reason];
    }
    repairs_.push_back(std::move(repair));
    return Done{};
  }

  Result<Done> add_pair(const FailedTurn& failure, const agent::TrajectoryHead& head,
                        const std::string& folder, const agent::Turn& turn, size_t number) {
    Pair pair = TRY(pair_of(failure, *options_.catalogue));
    pair.kind = "repaired";
    pair.cause = head.model;
    pair.origin += fmt::format(", repaired in {} turn {}", folder, number);
    pair.fixed.source = turn.code;
    const Json envelope = TRY(read_json(agent::verdict_file(folder, number)));
    TRY(keep_evaluation(pair.fixed, options_.folder, envelope));
    pair.fixed.evaluation = options_.folder + "/" + pair.fixed.evaluation;
    pair.id = pair_id(pair);
    pairs_.push_back(std::move(pair));
    return Done{};
  }

  struct Cell {
    size_t failures = 0, repaired = 0;
  };

  const std::vector<FailedTurn>& failures_;
  agent::RunOptions options_;
  const RepairSettings settings_;
  std::map<std::string, const FailedTurn*> failure_of_;  // by trajectory
  std::map<std::string, Cell> cells_;
  std::map<std::string, size_t> reasons_;
  std::vector<Pair> pairs_;
  Json repairs_ = Json::array();
};

}  // namespace

Result<Repaired> repair(const std::vector<FailedTurn>& failures, agent::RunOptions options,
                        const RepairSettings& settings) {
  return Repairing(failures, std::move(options), settings).run();
}

}  // namespace weft::sft
