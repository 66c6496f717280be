// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/mining.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text_file.h"
#include "ptxbench/agent/trajectory.h"
#include "ptxbench/sft/json_lines.h"

namespace weft::sft {
namespace {
namespace fs = std::filesystem;

class Mining {
 public:
  Mining(const MiningSettings& settings, const problems::Catalogue& catalogue)
      : settings_(settings), catalogue_(catalogue) {}

  Result<Json> run() {
    for (const std::string& run : settings_.runs)
      for (const std::string& folder : TRY(agent::trajectory_folders(run))) TRY(read(folder));
    balance();
    return write();
  }

 private:
  static std::string cell(const FailedTurn& failure) {
    return failure.definition + " / " + failure.wrong.verdict.error_class;
  }

  void drop(const std::string& origin, const std::string& reason) {
    ++reasons_[reason.substr(0, reason.find(':'))];
    dropped_.push_back({{"origin", origin}, {"reason", reason}});
  }

  Result<Done> read(const std::string& folder) {
    ++trajectories_;
    const Result<agent::Trajectory> trajectory = agent::read_trajectory(folder);
    if (!trajectory.ok()) {
      drop(folder, "damaged trajectory: " + trajectory.error().message());
      return Done{};
    }
    const std::vector<agent::Turn>& turns = trajectory->turns;
    std::optional<JudgedKernel> right;
    for (size_t i = turns.size(); i-- > 0 && !right;)
      if (turns[i].verdict.passed()) right = TRY(kernel(folder, turns[i], i + 1)).kernel;
    for (size_t i = 0; i < turns.size(); ++i) {
      ++turns_;
      const std::string origin = fmt::format("{} turn {}", folder, i + 1);
      const agent::Turn& turn = turns[i];
      if (!turn.complete()) {
        drop(origin, "not judged");
      } else if (turn.verdict.passed()) {
        drop(origin, "passed");
        TRY(keep_right(trajectory->head, folder, turn, i + 1));
      } else if (turn.code.empty()) {
        drop(origin, "no kernel: " + turn.verdict.error_class);
      } else {
        Kept kept = TRY(kernel(folder, turn, i + 1));
        if (!kept.problem.empty()) {
          drop(origin, kept.problem);
          continue;
        }
        TRY(take(trajectory->head, turn, origin, *std::move(kept.kernel), right));
      }
    }
    return Done{};
  }

  Result<Done> keep_right(const agent::TrajectoryHead& head, const std::string& folder,
                          const agent::Turn& turn, size_t number) {
    Kept kept = TRY(kernel(folder, turn, number));
    if (!kept.kernel) return Done{};
    FailedTurn place = place_of(head);
    place.origin = fmt::format("{} turn {}", folder, number);
    Result<Pair> pair = pair_of(place, catalogue_);
    if (!pair.ok()) return Done{};
    pair->kind = "right";
    pair->cause = head.model;
    pair->fixed = *std::move(kept.kernel);
    pair->id = pair_id(*pair);
    if (!contamination(settings_.held_out, *pair, settings_.near_duplicate).empty()) return Done{};
    if (seen_.try_emplace(pair->id, pair->origin).second) right_.push_back(*std::move(pair));
    return Done{};
  }

  // A turn's task, without what happened in it.
  static FailedTurn place_of(const agent::TrajectoryHead& head) {
    return FailedTurn{.id = "",
                      .definition = head.definition,
                      .family = head.family,
                      .workload_uuid = head.workload_uuid,
                      .architecture = head.architecture,
                      .prompt_tag = head.prompt_tag,
                      .axes = head.axes,
                      .model = head.model,
                      .origin = "",
                      .wrong = {},
                      .log = ""};
  }

  struct Kept {
    std::optional<JudgedKernel> kernel;
    std::string problem;  // why there is none
  };

  // With a copy of its envelope, if that is there and about this kernel.
  Result<Kept> kernel(const std::string& folder, const agent::Turn& turn, size_t number) {
    const std::string file = agent::verdict_file(folder, number);
    const Result<Json> envelope = read_json(file);
    if (!envelope.ok()) return Kept{{}, "no verdict: " + file};
    JudgedKernel kernel{
        .source = turn.code, .evaluation = "", .evaluation_sha256 = "", .verdict = {}};
    if (agent::summarize(*envelope).kernel_sha256 != sha256(turn.code))
      return Kept{{}, "the verdict is about another kernel: " + file};
    TRY(keep_evaluation(kernel, settings_.output, *envelope));
    return Kept{std::move(kernel), ""};
  }

  Result<Done> take(const agent::TrajectoryHead& head, const agent::Turn& turn,
                    const std::string& origin, JudgedKernel wrong,
                    const std::optional<JudgedKernel>& right) {
    FailedTurn failure = place_of(head);
    failure.origin = origin;
    failure.wrong = std::move(wrong);
    failure.log = turn.feedback;
    std::string text = head.definition + "\n" + head.architecture + "\n" + sha256(turn.code);
    for (const auto& [name, value] : head.axes) text += fmt::format("\n{}={}", name, value);
    failure.id = sha256(text).substr(0, 16);
    Result<Pair> pair = pair_of(failure, catalogue_);
    if (!pair.ok()) {
      drop(origin, "unknown task: " + pair.error().message());
      return Done{};
    }
    if (std::string reason = contamination(settings_.held_out, *pair, settings_.near_duplicate);
        !reason.empty()) {
      drop(origin, reason);
      return Done{};
    }
    if (const auto [same, fresh] = seen_.try_emplace(failure.id, origin); !fresh) {
      drop(origin, "duplicate: of " + same->second);
      return Done{};
    }
    Cell& group = cells_.try_emplace(cell(failure), settings_.near_duplicate).first->second;
    if (const auto near = group.near.add(shingles(turn.code))) {
      drop(origin, "near duplicate: of " + group.origins[*near]);
      return Done{};
    }
    group.origins.push_back(origin);
    if (right) {
      pair->kind = "self-repaired";
      pair->cause = head.model;
      pair->fixed = *right;
      pair->id = pair_id(*pair);
      repaired_.push_back(*std::move(pair));
    }
    group.failures.push_back(std::move(failure));
    return Done{};
  }

  // One of every cell, then the second of each, ... In a cell names decide, which are hashes.
  void balance() {
    size_t deepest = 0;
    for (auto& [name, group] : cells_) {
      std::sort(group.failures.begin(), group.failures.end(),
                [](const FailedTurn& a, const FailedTurn& b) { return a.id < b.id; });
      deepest = std::max(deepest, group.failures.size());
    }
    for (size_t depth = 0; depth < deepest; ++depth)
      for (auto& [name, group] : cells_) {
        if (depth >= group.failures.size()) continue;
        FailedTurn& failure = group.failures[depth];
        if ((settings_.most_per_cell != 0 && depth >= settings_.most_per_cell) ||
            (settings_.most != 0 && chosen_.size() >= settings_.most)) {
          drop(failure.origin, "balance: enough of " + name);
          continue;
        }
        ++group.taken;
        chosen_.push_back(std::move(failure));
      }
  }

  Result<Json> write() {
    std::vector<Json> failures, pairs, right;
    for (const FailedTurn& failure : chosen_) failures.push_back(to_json(failure));
    for (const Pair& pair : repaired_) pairs.push_back(to_json(pair));
    for (const Pair& pair : right_) right.push_back(to_json(pair));
    Json files = Json::object(), cells = Json::object();
    for (const auto& [name, rows] :
         {std::pair{"failures.jsonl", &failures}, std::pair{"pairs.jsonl", &pairs},
          std::pair{"right.jsonl", &right}}) {
      const std::string file = settings_.output + "/" + name;
      TRY(write_json_lines(file, *rows));
      const std::string digest = sha256(TRY(read_file(file)));
      files[name] = {{"rows", rows->size()}, {"sha256", digest}};
    }
    for (const auto& [name, group] : cells_)
      cells[name] = {{"before", group.failures.size()}, {"after", group.taken}};
    Json manifest = {{"format", "ptxbench.failures.v1"},
                     {"runs", settings_.runs},
                     {"trajectories", trajectories_},
                     {"turns", turns_},
                     {"settings",
                      {{"most_per_cell", settings_.most_per_cell},
                       {"most", settings_.most},
                       {"near_duplicate", settings_.near_duplicate}}},
                     {"files", std::move(files)},
                     {"balance", std::move(cells)},
                     {"dropped_by_reason", reasons_},
                     {"dropped", dropped_}};
    TRY(write_json(settings_.output + "/manifest.json", manifest));
    return manifest;
  }

  struct Cell {
    explicit Cell(double threshold) : near(threshold) {}
    NearDuplicates near;
    std::vector<std::string> origins;
    std::vector<FailedTurn> failures;
    size_t taken = 0;
  };

  const MiningSettings& settings_;
  const problems::Catalogue& catalogue_;
  size_t trajectories_ = 0, turns_ = 0;
  std::map<std::string, std::string> seen_;  // id to origin
  std::map<std::string, Cell> cells_;
  std::map<std::string, size_t> reasons_;
  Json dropped_ = Json::array();
  std::vector<FailedTurn> chosen_;
  std::vector<Pair> repaired_, right_;
};

}  // namespace

Json to_json(const FailedTurn& failure) {
  return {{"id", failure.id},
          {"definition", failure.definition},
          {"family", failure.family},
          {"workload_uuid", failure.workload_uuid},
          {"architecture", failure.architecture},
          {"prompt_tag", failure.prompt_tag},
          {"axes", failure.axes},
          {"model", failure.model},
          {"origin", failure.origin},
          {"wrong", to_json(failure.wrong)},
          {"log", failure.log}};
}

Result<std::vector<FailedTurn>> read_failures(const std::string& path) {
  const std::vector<Json> rows = TRY(read_json_lines(path));
  const fs::path folder = fs::path(path).parent_path();
  std::vector<FailedTurn> failures;
  std::set<std::string> ids;
  for (const Json& row : rows) {
    const auto line = static_cast<uint32_t>(failures.size() + 1);
    const auto wrong = [&](const std::string& message) {
      return Error(Diagnostic{.message = message,
                              .hint = "files of failures come from ptxbench sft mine",
                              .file = path,
                              .position = {line, 1}});
    };
    try {
      FailedTurn failure{.id = row.at("id"),
                         .definition = row.at("definition"),
                         .family = row.at("family"),
                         .workload_uuid = row.at("workload_uuid"),
                         .architecture = row.at("architecture"),
                         .prompt_tag = row.at("prompt_tag"),
                         .axes = row.at("axes").get<std::map<std::string, int64_t>>(),
                         .model = row.at("model"),
                         .origin = row.at("origin"),
                         .wrong = kernel_from(row.at("wrong")),
                         .log = row.at("log")};
      failure.wrong.evaluation = (folder / failure.wrong.evaluation).lexically_normal().string();
      if (!ids.insert(failure.id).second) return wrong("a failure is there twice: " + failure.id);
      failures.push_back(std::move(failure));
    } catch (const nlohmann::json::exception& error) {
      return wrong(fmt::format("not a failed turn: {}", error.what()));
    }
  }
  return failures;
}

Result<Pair> pair_of(const FailedTurn& failure, const problems::Catalogue& catalogue) {
  const problems::Overrides overrides(failure.axes.begin(), failure.axes.end());
  const problems::Task task =
      TRY(catalogue.task(failure.definition, failure.workload_uuid, overrides));
  return Pair{.id = "",
              .kind = "",
              .definition = failure.definition,
              .family = failure.family,
              .workload_uuid = failure.workload_uuid,
              .architecture = failure.architecture,
              .axes = {task.axes.begin(), task.axes.end()},
              .cause = "",
              .meaning = "",
              .origin = failure.origin,
              .line = 0,
              .wrong = failure.wrong,
              .fixed = {},
              .log = failure.log,
              .reasoning = "",
              .design = ""};
}

Result<Json> mine(const MiningSettings& settings, const problems::Catalogue& catalogue) {
  return Mining(settings, catalogue).run();
}

}  // namespace weft::sft
