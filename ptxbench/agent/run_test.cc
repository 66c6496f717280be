// SPDX-License-Identifier: Apache-2.0

// Whole runs against a replayed model and a judge that reads its verdict off the code, so that what
// is expected can be written down beside the answers. Real verdicts are the business of
// tests/agent.
#include "ptxbench/agent/run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "base/http/server.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/chat/replay_model.h"

namespace weft::agent {
namespace {
namespace fs = std::filesystem;

constexpr const char* kTask = "gemm_n128_k2048";

chat::Reply code(const std::string& text) {
  return {.content = "Here.\n```cuda\n" + text + "\n```\n", .usage = {100, 50, 10}};
}

class ServedModel {
 public:
  explicit ServedModel(std::vector<std::vector<chat::Reply>> conversations)
      : model_(recordings(std::move(conversations))),
        server_(std::move(http::Server::create({}, model_.routes()).value())),
        thread_([this] { server_->serve(); }) {}
  ~ServedModel() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1"; }

 private:
  static chat::Recordings recordings(std::vector<std::vector<chat::Reply>> conversations) {
    chat::Recordings all;
    for (auto& answers : conversations)
      all.conversations.push_back({.name = kTask, .answers = std::move(answers)});
    return all;
  }

  chat::ReplayModel model_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

// "PASSED" in the code passes; any other is wrong. Each judgement has an id of its own.
Result<std::string> read_off(const KernelQuestion& question) {
  const bool right = question.code.find("PASSED") != std::string::npos;
  static thread_local std::mt19937_64 random{std::random_device()()};
  return std::string("{\"status\": \"") + (right ? "PASSED" : "INCORRECT_NUMERICAL") +
         "\", \"min_speedup\": 0.5, \"evaluation_id\": \"ev_" + std::to_string(random()) + "\"}";
}

class RunTest : public testing::Test {
 protected:
  RunOptions options(const std::string& url, unsigned replicas) const {
    RunOptions options{
        .catalogue = &catalogue_, .prompts = &prompts_, .folder = out(), .judge = read_off};
    options.plan.endpoints["e"] = {
        .endpoint = {.url = url, .attempts = 1, .first_pause_seconds = 0.01}};
    options.plan.models["m"] = {
        .name = "m", .served = "m", .endpoint = "e", .prices = Prices{1, 2}};
    for (unsigned i = 0; i < replicas; ++i)
      options.plan.trajectories.push_back({.id = "t" + std::to_string(i),
                                           .model = "m",
                                           .definition = kTask,
                                           .prompt_tag = "plain",
                                           .axes = {{"M", 16}},
                                           .replica = i,
                                           .turns = 4});
    return options;
  }
  std::string out() const { return scratch_.file("run"); }
  Trajectory trajectory(unsigned i) const {
    return read_trajectory(out() + "/trajectories/t" + std::to_string(i)).value();
  }
  std::string classes(unsigned i) const {
    std::string text;
    for (const Turn& turn : trajectory(i).turns) text += turn.verdict.error_class + ";";
    return text;
  }
  // All that a table is made of; ids of judgements are drawn.
  std::string table(unsigned count) const {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      const Trajectory read = trajectory(i);
      text += read.head.id + " " + read.ended + " " + classes(i);
      for (const Turn& turn : read.turns)
        text += std::to_string(turn.tokens.completion) + turn.answer + turn.feedback;
    }
    return text;
  }

  const problems::Catalogue catalogue_ = problems::Catalogue::open("problems").value();
  const PromptBook prompts_ = PromptBook::open("prompts").value();
  const TemporaryDirectory scratch_ = TemporaryDirectory::create("run").value();
};

TEST_F(RunTest, PlaysUntilAKernelPassesAndJudgesEachOnce) {
  const ServedModel model(
      {{code("wrong"), chat::Reply{.content = "no idea"}, code("wrong"), code("PASSED")},
       {code("PASSED")},
       {code("a"), code("b"), code("c"), code("d"), code("PASSED")}});
  const RunOptions chosen = options(model.url(), 3);
  const Result<RunOutcome> outcome = run_plan(chosen);
  ASSERT_TRUE(outcome.ok()) << format(outcome.error());
  EXPECT_TRUE(outcome->problems.empty());
  EXPECT_EQ(outcome->state.ended, 3u);
  EXPECT_EQ(outcome->state.passed, 2u);
  // "wrong" comes twice and "PASSED" in two trajectories; both are judged once.
  EXPECT_EQ(outcome->state.judged, 6u);
  EXPECT_EQ(classes(0), "incorrect;no code;incorrect;passed;");
  EXPECT_EQ(trajectory(0).ended, "passed");
  EXPECT_TRUE(
      trajectory(0).turns[0].feedback.starts_with("INCORRECT_NUMERICAL. Result is incorrect."));
  EXPECT_EQ(trajectory(2).ended, "turns");
  EXPECT_EQ(trajectory(2).turns.size(), 4u);
  const std::string folder = out() + "/trajectories/t0";
  EXPECT_EQ(read_file(kernel_file(folder, 1)).value(), "wrong\n");
  EXPECT_EQ(read_file(folder + "/success/kernel_v4.cu").value(), "PASSED\n");
  EXPECT_FALSE(fs::exists(kernel_file(folder, 2)));
  EXPECT_TRUE(fs::exists(verdict_file(folder, 3)));
  // Three answers of 100 and 50 tokens at 1 and 2 dollars a million, and one of a few.
  EXPECT_NEAR(trajectory(0).turns[0].cost.value(), 200e-6, 1e-12);

  const std::string before = table(3);
  const Result<RunOutcome> again = run_plan(chosen);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->state.judged, 0u);
  EXPECT_EQ(again->state.turns, outcome->state.turns);
  EXPECT_EQ(again->state.tokens, outcome->state.tokens);
  EXPECT_EQ(table(3), before);
}

TEST_F(RunTest, ATargetIsReachedByASpeedUpNotByAPass) {
  const ServedModel model({{code("PASSED 1"), code("PASSED 2")}});
  RunOptions chosen = options(model.url(), 2);
  chosen.plan.trajectories[0].target_speedup = 0.6;
  chosen.plan.trajectories[0].turns = 2;
  chosen.plan.trajectories[1].target_speedup = 0.5;
  ASSERT_TRUE(run_plan(chosen).ok());
  EXPECT_EQ(trajectory(0).ended, "turns");
  EXPECT_EQ(trajectory(1).ended, "target");
}

TEST_F(RunTest, TellsLimitsApart) {
  using chat::Ending;
  const chat::Reply reasoning{.ending = Ending::OnlyReasoning, .reasoning = "hm"};
  const chat::Reply cut{.ending = Ending::Cut, .content = "```cuda\nint a"};
  // The code was whole, the words behind it were not.
  const chat::Reply closed{.ending = Ending::Cut, .content = "```cuda\nPASSED\n```\nand"};
  const ServedModel model({{reasoning, code("PASSED")},
                           {cut, reasoning, code("PASSED")},
                           {closed},
                           {code("wrong"), {.ending = Ending::ContextOverflow}},
                           {{.ending = Ending::Filtered}, code("PASSED")}});
  ASSERT_TRUE(run_plan(options(model.url(), 5)).ok());
  EXPECT_EQ(classes(0), "only reasoning;passed;");
  EXPECT_EQ(classes(1), "cut answer;only reasoning;");
  EXPECT_EQ(trajectory(1).ended, "no_answer");
  EXPECT_EQ(classes(2), "passed;");
  EXPECT_EQ(trajectory(3).ended, "context_overflow");
  EXPECT_EQ(classes(4), "no code;passed;");
  EXPECT_NE(trajectory(4).turns[0].problem.find("withheld"), std::string::npos);
}

TEST_F(RunTest, KilledTwentyTimesItComesToTheSameTable) {
  constexpr unsigned kCount = 12;
  std::vector<std::vector<chat::Reply>> conversations;
  for (unsigned i = 0; i < kCount; ++i) {
    std::vector<chat::Reply> answers;
    for (unsigned k = 0; k < 4; ++k)
      answers.push_back(
          code((k == 3 && i % 2 == 0 ? "PASSED " : "wrong ") + std::to_string(i * 4 + k)));
    conversations.push_back(std::move(answers));
  }
  // Each process serves the model to itself: a copy of one with threads begins with whatever locks
  // they held, and may wait for them for ever.
  const auto play = [&](const std::string& folder) {
    const ServedModel model(conversations);
    RunOptions chosen = options(model.url(), kCount);
    chosen.plan.parallel = 3;
    chosen.judge = [](const KernelQuestion& question) {
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      return read_off(question);
    };
    chosen.folder = folder;
    return run_plan(chosen);
  };
  ASSERT_TRUE(play(scratch_.file("undisturbed")).ok());
  fs::rename(scratch_.file("undisturbed"), out());
  const std::string expected = table(kCount);
  fs::remove_all(out());

  const auto verdict_files = [&] {
    std::vector<std::string> files;
    if (!fs::exists(out() + "/verdicts")) return files;
    for (const fs::directory_entry& entry : fs::directory_iterator(out() + "/verdicts"))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    return files;
  };
  // File to content, of all verdicts that were ever there.
  std::map<std::string, std::string> verdicts;
  std::mt19937 random(7);
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) _exit(play(out()).ok() ? 0 : 1);
    // At once, or a few milliseconds after the next verdict, however slow the machine is.
    const size_t wanted = verdicts.size() + (verdicts.size() < kCount * 3u ? random() % 2 : 0);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (verdict_files().size() < wanted && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 8));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const std::string& file : verdict_files()) verdicts.emplace(file, read_file(file).value());
  }
  EXPECT_GT(verdicts.size(), 0u);
  EXPECT_LT(verdicts.size(), kCount * 4u);  // otherwise no kill met a run at work
  const Result<RunOutcome> outcome = play(out());
  ASSERT_TRUE(outcome.ok()) << format(outcome.error());
  EXPECT_EQ(outcome->state.judged, kCount * 4u - verdicts.size());
  EXPECT_EQ(table(kCount), expected);
  for (const auto& [file, content] : verdicts) EXPECT_EQ(read_file(file).value(), content);
}

TEST_F(RunTest, ADamagedTrajectoryIsSetAsideAndPlayedAgainWithoutJudging) {
  const ServedModel model({{code("wrong"), code("PASSED")}});
  const RunOptions chosen = options(model.url(), 1);
  ASSERT_TRUE(run_plan(chosen).ok());
  const std::string before = table(1), file = out() + "/trajectories/t0/trajectory.json";
  const std::string whole = read_file(file).value();
  ASSERT_TRUE(write_file(file, whole.substr(0, whole.size() / 3)).ok());
  const Result<RunOutcome> outcome = run_plan(chosen);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->problems.size(), 1u);
  EXPECT_EQ(outcome->state.judged, 0u);
  EXPECT_EQ(table(1), before);
  EXPECT_TRUE(fs::exists(out() + "/trajectories/t0/trajectory.damaged.json"));
}

TEST_F(RunTest, StopsAtItsBudgetAndGoesOnWithAnother) {
  const ServedModel model({{code("a"), code("b"), code("c"), code("PASSED")}});
  RunOptions chosen = options(model.url(), 1);
  chosen.plan.budget_tokens = 300;  // two answers of 150
  const Result<RunOutcome> stopped = run_plan(chosen);
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->budget_spent);
  EXPECT_EQ(stopped->state.turns, 2u);
  EXPECT_EQ(trajectory(0).ended, "");
  chosen.plan.budget_tokens = std::nullopt;
  chosen.plan.budget_dollars = 500e-6;  // two and a half of 200e-6
  EXPECT_EQ(run_plan(chosen)->state.turns, 3u);
  chosen.plan.budget_dollars = std::nullopt;
  EXPECT_EQ(run_plan(chosen)->state.ended, 1u);
}

TEST_F(RunTest, AnEndpointThatIsDownLeavesTrajectoriesOpen) {
  const Result<RunOutcome> down = run_plan(options("http://127.0.0.1:1/v1", 3));
  ASSERT_TRUE(down.ok());
  EXPECT_EQ(down->state.ended, 0u);
  EXPECT_EQ(down->problems.size(), 3u);
  const ServedModel model({{code("PASSED")}});
  const Result<RunOutcome> up = run_plan(options(model.url(), 3));
  ASSERT_TRUE(up.ok());
  EXPECT_EQ(up->state.ended, 3u);
}

TEST_F(RunTest, AJudgeThatIsGoneEndsTheRunAndLosesNoAnswer) {
  const ServedModel model({{code("PASSED")}});
  RunOptions chosen = options(model.url(), 1);
  chosen.judge = [](const KernelQuestion&) -> Result<std::string> {
    return Error("the server is gone");
  };
  const Result<RunOutcome> gone = run_plan(chosen);
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(gone->problems.size(), 1u);
  EXPECT_EQ(trajectory(0).turns.size(), 1u);
  chosen.judge = read_off;
  const Result<RunOutcome> back = run_plan(chosen);
  EXPECT_EQ(back->state.ended, 1u);
  EXPECT_EQ(back->state.tokens, 150);  // not asked again
}

// A limit on the size of files fails writes as a full disk does, in a process of its own.
TEST_F(RunTest, AFullDiskIsAnErrorAndNothingIsLost) {
  // As above, each process serves the model to itself.
  const auto play = [&] {
    const ServedModel model({{code("wrong"), code(std::string(20000, 'x')), code("PASSED")}});
    return run_plan(options(model.url(), 1));
  };
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20000, 20000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Result<RunOutcome> outcome = play();
    _exit(!outcome.ok() && format(outcome.error()).find("too large") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(classes(0), "incorrect;");
  const Result<RunOutcome> outcome = play();
  ASSERT_TRUE(outcome.ok()) << format(outcome.error());
  EXPECT_EQ(classes(0), "incorrect;incorrect;passed;");
}

TEST_F(RunTest, RefusesAFolderInUseAndOneOfAnotherPlan) {
  const ServedModel model({{code("PASSED")}});
  RunOptions chosen = options(model.url(), 1);
  RunOptions inner = chosen;
  bool refused = false;
  chosen.judge = [&](const KernelQuestion& question) {
    refused = !run_plan(inner).ok();
    return read_off(question);
  };
  ASSERT_TRUE(run_plan(chosen).ok());
  EXPECT_TRUE(refused);
  chosen.plan.trajectories[0].axes["M"] = 17;
  EXPECT_FALSE(run_plan(chosen).ok());
  chosen.folder = "/proc/nothing";
  EXPECT_FALSE(run_plan(chosen).ok());
}

}  // namespace
}  // namespace weft::agent
