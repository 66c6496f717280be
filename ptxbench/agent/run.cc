// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/run.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"
#include "ptxbench/agent/feedback.h"

namespace weft::agent {
namespace {
namespace fs = std::filesystem;

// So many failures of one endpoint, or of the judge, without a success between them: it is not
// there.
constexpr unsigned kMostFailures = 5;

class Run {
 public:
  explicit Run(const RunOptions& options, std::map<std::string, std::string> stamps)
      : options_(options),
        cache_(options.plan.judge.cache.empty() ? options.folder + "/verdicts"
                                                : options.plan.judge.cache,
               std::move(stamps), options.judge, options.judge_parallel) {
    outcome_.state.trajectories = options.plan.trajectories.size();
    for (const auto& [name, endpoint] : options.plan.endpoints)
      lines_.try_emplace(name, endpoint.requests_per_minute);
  }

  Result<RunOutcome> play() {
    TRY(count_what_is_there());
    std::vector<std::thread> threads;
    const size_t count =
        std::min<size_t>(options_.plan.parallel, options_.plan.trajectories.size());
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (fatal_) return *fatal_;
    outcome_.state.judged = cache_.judged();
    return outcome_;
  }

 private:
  struct Line {
    explicit Line(double per_minute) : limit(per_minute) {}
    chat::RateLimit limit;
    unsigned failures = 0;  // in a row
  };
  using Clients = std::map<std::string, chat::ChatClient>;  // by endpoint, one set a thread

  std::string folder_of(const TrajectoryHead& head) const {
    return options_.folder + "/trajectories/" + head.id;
  }

  bool stopped() {
    if (options_.cancel != nullptr && options_.cancel->load()) return true;
    const std::lock_guard lock(mutex_);
    return fatal_.has_value();
  }

  void stop(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!fatal_) fatal_ = error;
  }

  void add_problem(const std::string& text) {
    const std::lock_guard lock(mutex_);
    outcome_.problems.push_back(text);
  }

  // `change` edits the state.
  void tell(const std::function<void(RunState&)>& change) {
    const std::lock_guard lock(mutex_);
    RunState& state = outcome_.state;
    change(state);
    state.judged = cache_.judged();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const size_t done = state.ended - ended_before_;
    if (done > 0)
      state.seconds_left = seconds * static_cast<double>(state.trajectories - state.ended) /
                           static_cast<double>(done);
    if (options_.on_change) options_.on_change(state);
  }

  static void count(const Turn& turn, RunState& state) {
    ++state.turns;
    state.tokens += turn.tokens.prompt + turn.tokens.completion;
    state.dollars += turn.cost.value_or(0);
  }

  static void count_end(const Trajectory& trajectory, RunState& state) {
    ++state.ended;
    state.passed += std::any_of(trajectory.turns.begin(), trajectory.turns.end(),
                                [](const Turn& turn) { return turn.verdict.passed(); });
  }

  // Budgets are for the whole run, whoever began it.
  Result<Done> count_what_is_there() {
    for (const TrajectoryHead& head : options_.plan.trajectories) {
      std::error_code ignored;
      if (!fs::exists(folder_of(head) + "/trajectory.json", ignored)) continue;
      const Result<Trajectory> read = read_trajectory(folder_of(head));
      if (!read.ok()) continue;  // set aside when its turn comes
      if (read->head.model != head.model || read->head.axes != head.axes ||
          read->head.workload_uuid != head.workload_uuid ||
          read->head.architecture != head.architecture ||
          read->head.prompt_tag != head.prompt_tag || read->head.turns != head.turns ||
          read->head.target_speedup != head.target_speedup)
        return Error(Diagnostic{.message = "the folder holds another plan's trajectory",
                                .hint = "name another folder with --out",
                                .file = folder_of(head)});
      for (const Turn& turn : read->turns) count(turn, outcome_.state);
      if (!read->ended.empty()) count_end(*read, outcome_.state);
    }
    ended_before_ = outcome_.state.ended;
    return Done{};
  }

  void work() {
    Clients clients;
    for (size_t index; (index = next_++) < options_.plan.trajectories.size() && !stopped();) {
      const Result<Done> played = play_one(options_.plan.trajectories[index], clients);
      if (!played.ok()) stop(played.error());
    }
  }

  Result<Trajectory> open(const TrajectoryHead& head) {
    const std::string folder = folder_of(head), file = folder + "/trajectory.json";
    std::error_code ignored;
    if (fs::exists(file, ignored)) {
      Result<Trajectory> read = read_trajectory(folder);
      if (read.ok()) return read;
      std::string aside = folder + "/trajectory.damaged.json";
      for (int i = 2; fs::exists(aside, ignored); ++i)
        aside = fmt::format("{}/trajectory.damaged.{}.json", folder, i);
      std::error_code failure;
      fs::rename(file, aside, failure);
      if (failure)
        return Error(Diagnostic{
            .message = "cannot set the damaged file aside: " + failure.message(), .file = file});
      add_problem(format(read.error()) + "it is kept as " + aside);
    }
    if (options_.begin) return options_.begin(head);
    const problems::Overrides overrides(head.axes.begin(), head.axes.end());
    const problems::Task task =
        TRY(options_.catalogue->task(head.definition, head.workload_uuid, overrides));
    return Trajectory{.head = head,
                      .system = TRY(options_.prompts->system(head.prompt_tag)),
                      .task = task_prompt(task, head.architecture)};
  }

  // An error is fatal for the run; a trajectory that cannot go on now is left open.
  Result<Done> play_one(const TrajectoryHead& head, Clients& clients) {
    Trajectory trajectory = TRY(open(head));
    if (!trajectory.ended.empty()) return Done{};
    const std::string folder = folder_of(head);
    while (trajectory.ended.empty() && !stopped()) {
      if (!trajectory.turns.empty() && !trajectory.turns.back().complete()) {
        if (!TRY(judge_turn(folder, trajectory))) return Done{};
        decide(trajectory);
      } else if (!TRY(ask_turn(trajectory, clients))) {
        return Done{};
      }
      TRY(write_trajectory(folder, trajectory));
    }
    if (!trajectory.ended.empty())
      tell([&](RunState& state) {
        count_end(trajectory, state);
        state.now = fmt::format("{}: {}", head.id, trajectory.ended);
      });
    return Done{};
  }

  bool may_spend() {
    const std::lock_guard lock(mutex_);
    const Plan& plan = options_.plan;
    const bool spent = (plan.budget_tokens && outcome_.state.tokens >= *plan.budget_tokens) ||
                       (plan.budget_dollars && outcome_.state.dollars >= *plan.budget_dollars);
    outcome_.budget_spent = outcome_.budget_spent || spent;
    return !spent;
  }

  bool gave_up(const std::string& endpoint) {
    const std::lock_guard lock(mutex_);
    return lines_.at(endpoint).failures >= kMostFailures;
  }

  // False: the trajectory stays open.
  Result<bool> ask_turn(Trajectory& trajectory, Clients& clients) {
    const Model& model = options_.plan.models.at(trajectory.head.model);
    if (gave_up(model.endpoint) || !may_spend()) return false;
    Line& line = lines_.at(model.endpoint);
    auto client = clients.find(model.endpoint);
    if (client == clients.end())
      client = clients
                   .emplace(model.endpoint, TRY(chat::ChatClient::create(
                                                options_.plan.endpoints.at(model.endpoint).endpoint,
                                                &line.limit, options_.cancel)))
                   .first;
    const Result<chat::Reply> reply = client->second.ask(question(trajectory, model));
    if (!reply.ok()) {
      if (stopped()) return false;
      add_problem(trajectory.head.id + ": " + format(reply.error()));
      const std::lock_guard lock(mutex_);
      ++line.failures;
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      line.failures = 0;
    }
    if (reply->ending == chat::Ending::ContextOverflow) {
      trajectory.ended = "context_overflow";
      trajectory.reason = "the conversation is longer than the model can read";
      return true;
    }
    trajectory.turns.push_back(turn_of(*reply, model));
    tell([&](RunState& state) {
      count(trajectory.turns.back(), state);
      state.now = fmt::format("{}: answer {}", trajectory.head.id, trajectory.turns.size());
    });
    return true;
  }

  static chat::Question question(const Trajectory& trajectory, const Model& model) {
    chat::Question question{.model = model.served,
                            .messages = {{"system", trajectory.system}, {"user", trajectory.task}},
                            .options = model.options};
    if (model.send_seed) question.seed = trajectory.head.replica;
    for (const Turn& turn : trajectory.turns) {
      question.messages.push_back(
          {"assistant", turn.answer.empty() ? std::string(chat::kNoText) : turn.answer});
      question.messages.push_back({"user", turn.feedback});
    }
    return question;
  }

  static Turn turn_of(const chat::Reply& reply, const Model& model) {
    Turn turn{.answer = reply.content,
              .reasoning = reply.reasoning,
              .finish = std::string(chat::ending_name(reply.ending)),
              .tokens = {.prompt = reply.usage.prompt,
                         .completion = reply.usage.completion,
                         .reasoning = reply.usage.reasoning,
                         .estimated = reply.usage.estimated}};
    turn.cost = cost_of(model, reply.usage);
    CodeBlock block = last_code_block(reply.content);
    turn.code = std::move(block.code);
    turn.problem = std::move(block.problem);
    return turn;
  }

  // False: there is no verdict now, and the trajectory stays open.
  Result<bool> judge_turn(const std::string& folder, Trajectory& trajectory) {
    Turn& turn = trajectory.turns.back();
    if (turn.code.empty()) {
      explain(turn);
      return true;
    }
    const size_t number = trajectory.turns.size();
    TRY(write_file(kernel_file(folder, number), turn.code));
    const Result<KeptVerdict> kept = cache_.verdict({.definition = trajectory.head.definition,
                                                     .workload_uuid = trajectory.head.workload_uuid,
                                                     .architecture = trajectory.head.architecture,
                                                     .axes = trajectory.head.axes,
                                                     .code = turn.code});
    if (!kept.ok()) {
      if (stopped()) return false;
      add_problem(trajectory.head.id + ": " + format(kept.error()));
      if (++judge_failures_ >= kMostFailures) return kept.error();
      return false;
    }
    judge_failures_ = 0;
    TRY(write_file(verdict_file(folder, number), kept->envelope));
    const Json envelope = TRY(parse_json(kept->envelope, verdict_file(folder, number)));
    turn.judged_key = kept->key;
    turn.verdict = summarize(envelope);
    turn.feedback = verdict_feedback(
        envelope, turn.code,
        {.bytes = options_.plan.feedback_bytes, .target_speedup = trajectory.head.target_speedup});
    if (turn.verdict.passed()) TRY(write_file(kernel_file(folder + "/success", number), turn.code));
    tell([&](RunState& state) {
      state.now =
          fmt::format("{}: turn {} {}", trajectory.head.id, number, turn.verdict.error_class);
    });
    return true;
  }

  static void explain(Turn& turn) {
    if (turn.finish == chat::ending_name(chat::Ending::OnlyReasoning)) {
      turn.verdict.error_class = kOnlyReasoning;
      turn.problem = "the token limit was reached before the answer began; reason less";
    } else if (turn.finish == chat::ending_name(chat::Ending::Cut)) {
      turn.verdict.error_class = kCutAnswer;
      turn.problem = "the token limit cut the answer; write a shorter one";
    } else {
      turn.verdict.error_class = kNoCode;
      if (turn.finish == chat::ending_name(chat::Ending::Filtered))
        turn.problem = "the endpoint withheld the answer";
    }
    turn.feedback = answer_feedback(turn.problem);
  }

  static bool over_limit(const Turn& turn) {
    return turn.verdict.error_class == kOnlyReasoning || turn.verdict.error_class == kCutAnswer;
  }

  static void decide(Trajectory& trajectory) {
    const TrajectoryHead& head = trajectory.head;
    const std::vector<Turn>& turns = trajectory.turns;
    const VerdictSummary& verdict = turns.back().verdict;
    if (verdict.passed() && !head.target_speedup)
      trajectory.ended = "passed";
    else if (verdict.passed() && verdict.speedup && *verdict.speedup >= *head.target_speedup)
      trajectory.ended = "target";
    else if (turns.size() >= head.turns)
      trajectory.ended = "turns";
    else if (turns.size() >= 2 && over_limit(turns.back()) && over_limit(turns[turns.size() - 2])) {
      // It was asked for less once; asking for ever costs a full limit each time.
      trajectory.ended = "no_answer";
      trajectory.reason = "the token limit was reached twice in a row";
    }
  }

  const RunOptions& options_;
  VerdictCache cache_;
  std::map<std::string, Line> lines_;
  std::atomic<size_t> next_ = 0;
  std::atomic<unsigned> judge_failures_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t ended_before_ = 0;
  std::mutex mutex_;
  RunOutcome outcome_;
  std::optional<Error> fatal_;
};

}  // namespace

Result<RunOutcome> run_plan(const RunOptions& options) {
  std::error_code failure;
  fs::create_directories(options.folder + "/trajectories", failure);
  const std::string file = options.folder + "/.lock";
  const Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.open())
    return Error(Diagnostic{
        .message = std::string("cannot write to the run's folder: ") + std::strerror(errno),
        .hint = "name another folder with --out",
        .file = options.folder});
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error("another run is at work in this folder: " + options.folder,
                 "wait for it, or name another folder with --out");
  for (const TrajectoryHead& head : options.plan.trajectories)
    TRY(options.prompts->packs(head.prompt_tag));
  Run run(options, TRY(judging_stamps(options.plan, *options.catalogue)));
  return run.play();
}

}  // namespace weft::agent
