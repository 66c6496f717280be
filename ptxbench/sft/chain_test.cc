// SPDX-License-Identifier: Apache-2.0

// From recorded trajectories to audited rows, with replayed models and no compiler: the corpus of
// tests/agent is played, mined, repaired, explained, built and audited. The judge gives the
// verdicts that the stories expect (tests/agent/run shows that the real one agrees); what is to be
// found in the end is counted from the stories.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/http/server.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/agent/code_block.h"
#include "ptxbench/chat/replay_model.h"
#include "ptxbench/sft/dataset.h"
#include "ptxbench/sft/json_lines.h"
#include "ptxbench/sft/mining.h"
#include "ptxbench/sft/reasoning.h"
#include "ptxbench/sft/repair.h"

namespace weft::sft {
namespace {
namespace fs = std::filesystem;

class ServedModel {
 public:
  explicit ServedModel(chat::Recordings recordings)
      : model_(std::move(recordings)),
        server_(std::move(http::Server::create({}, counted()).value())),
        thread_([this] { server_->serve(); }) {}
  ~ServedModel() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1"; }
  int asked() const { return asked_; }

 private:
  std::vector<http::Route> counted() {
    std::vector<http::Route> routes = model_.routes();
    for (http::Route& route : routes)
      route.handler = [this, answer = route.handler](const http::Request& request) {
        ++asked_;
        return answer(request);
      };
    return routes;
  }

  std::atomic<int> asked_ = 0;
  chat::ReplayModel model_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

// An envelope that summarize() reads as this class.
std::string envelope_of(const std::string& error_class, const std::string& code) {
  static const std::map<std::string, std::string> kStatus = {
      {"passed", "PASSED"},
      {"incorrect", "INCORRECT_NUMERICAL"},
      {"refused", "COMPILE_ERROR"},
      {"compile error", "COMPILE_ERROR"},
      {"timeout", "TIMEOUT"},
      {"wrong shape or type", "INCORRECT_SHAPE"},
      {"runtime error", "RUNTIME_ERROR"}};
  const auto known = kStatus.find(error_class);
  Json audit = {{"fault", nullptr},
                {"family", "H"},
                {"target_instructions_executed", error_class == "passed"},
                {"share_class", "full"},
                {"stages", Json::array()}};
  if (error_class.starts_with("fault: "))
    audit["fault"] = {{"kind", error_class.substr(7)}, {"text", error_class + " at kernel.cu:9"}};
  if (error_class == "refused")
    audit["stages"].push_back({{"stage", "screen"}, {"passed", false}, {"evidence", "cublas"}});
  return to_text({{"evaluation_id", "ev_" + sha256(code).substr(0, 8)},
                  {"status", known == kStatus.end() ? "RUNTIME_ERROR" : known->second},
                  {"kernel_sha256", sha256(code)},
                  {"compile_log", ""},
                  {"audit", std::move(audit)}});
}

constexpr const char* kThought =
    "The verdict names the first wrong row, and all rows behind it are wrong as well, so the loop "
    "over K ends too early: it leaves out the last tile, which is not full, and its bound must be "
    "rounded up while the loads of that tile are masked.";

chat::Conversation conversation(const std::string& name, const std::vector<std::string>& answers) {
  chat::Conversation all{.model = "", .name = name, .origin = "", .answers = {}};
  for (const std::string& answer : answers)
    all.answers.push_back({.ending = chat::Ending::Complete,
                           .content = answer,
                           .reasoning = "",
                           .usage = {.prompt = 100, .completion = 50}});
  return all;
}

agent::Plan teacher(const std::string& url) {
  agent::Plan plan;
  plan.endpoints["e"] = {.endpoint = {.url = url, .attempts = 1, .first_pause_seconds = 0.01}};
  plan.models["teacher"] = {
      .name = "teacher", .served = "teacher", .endpoint = "e", .prices = agent::Prices{1, 2}};
  plan.parallel = 4;
  return plan;
}

class Chain : public testing::Test {
 protected:
  // What a story tells: the class that each of its kernels comes to, by definition and code.
  void read_stories(const chat::Recordings& corpus) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator("tests/agent"))
      if (entry.path().filename() == "story.json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    size_t number = 0;
    for (const fs::path& file : files) {
      const Json json = read_json(file.string()).value();
      for (const Json& story : json["stories"]) {
        const std::vector<chat::Reply>& answers = corpus.conversations.at(number++).answers;
        bool over = false;
        for (size_t k = 0; k < answers.size() && !over; ++k) {
          const std::string code = agent::last_code_block(answers[k].content).code;
          const std::string expected = story["turns"][k].value("expect", "passed");
          ++turns_;
          over = expected == "passed";
          if (over) right_[json["definition"]] = code;
          if (!code.empty()) expected_[json["definition"].get<std::string>() + code] = expected;
          if (!over && !code.empty()) failed_.insert(json["definition"].get<std::string>() + code);
        }
      }
    }
  }

  agent::RunOptions options(const std::string& folder, agent::Plan plan) const {
    return {.plan = std::move(plan),
            .catalogue = &catalogue_,
            .prompts = &prompts_,
            .folder = folder,
            .begin = {},
            .judge = [this](const agent::KernelQuestion& question) -> Result<std::string> {
              const auto told = expected_.find(question.definition + question.code);
              return envelope_of(told == expected_.end() ? "incorrect" : told->second,
                                 question.code);
            },
            .judge_parallel = 2,
            .cancel = nullptr,
            .on_change = {}};
  }

  ReasoningSettings reasoning(const std::string& url) const {
    ReasoningSettings settings;
    settings.output = scratch_.file("reasoned");
    settings.plan = teacher(url);
    settings.repair_instructions = "Explain the repair.";
    settings.design_instructions = "Explain the kernel.";
    settings.task = [](const Pair& pair) -> Result<std::string> {
      return "Task " + pair.definition;
    };
    settings.forbidden = default_forbidden();
    return settings;
  }

  Pair pair(const std::string& wrong) const {
    FailedTurn failure{.definition = "gemm_n128_k2048", .axes = {{"M", 16}}, .log = "wrong"};
    failure.wrong.source = wrong;
    Pair pair = pair_of(failure, catalogue_).value();
    pair.fixed.source = "right\n";
    pair.id = pair_id(pair);
    return pair;
  }

  const problems::Catalogue catalogue_ = problems::Catalogue::open("problems").value();
  const agent::PromptBook prompts_ = agent::PromptBook::open("prompts").value();
  const TemporaryDirectory scratch_ = TemporaryDirectory::create("chain").value();
  std::map<std::string, std::string> expected_, right_;
  std::set<std::string> failed_;
  size_t turns_ = 0;
};

TEST_F(Chain, LeadsFromTheCorpusToAuditedRows) {
  const chat::Recordings corpus = chat::read_recordings("tests/agent").value();
  read_stories(corpus);
  ASSERT_EQ(corpus.conversations.size(), 36u);
  {
    const ServedModel student(corpus);
    agent::Plan plan = agent::read_plan("tests/agent/plan.json", catalogue_).value();
    for (auto& [name, endpoint] : plan.endpoints) endpoint.endpoint.url = student.url();
    const auto run = agent::run_plan(options(scratch_.file("run"), std::move(plan)));
    ASSERT_TRUE(run.ok()) << format(run.error());
    ASSERT_EQ(run->state.ended, 36u);
    EXPECT_EQ(run->state.turns, turns_);
  }

  // Every turn is either taken or left out with its reason.
  MiningSettings mining{.runs = {scratch_.file("run")}, .output = scratch_.file("failures")};
  mining.near_duplicate = 1;  // only what differs in spaces and comments
  const auto mined = mine(mining, catalogue_);
  ASSERT_TRUE(mined.ok()) << format(mined.error());
  const auto failures = read_failures(mining.output + "/failures.jsonl");
  ASSERT_TRUE(failures.ok()) << format(failures.error());
  EXPECT_EQ((*mined)["turns"], turns_);
  EXPECT_EQ(failures->size() + (*mined)["dropped"].size(), turns_);
  EXPECT_EQ(failures->size() + (*mined)["dropped_by_reason"].value("near duplicate", size_t{0}),
            failed_.size());
  EXPECT_GT(failures->size(), 25u);
  EXPECT_EQ(std::count_if(failures->begin(), failures->end(),
                          [](const FailedTurn& one) { return one.architecture == "blackwell"; }),
            2);
  EXPECT_EQ(read_pairs(mining.output + "/pairs.jsonl")->size(), failures->size());

  // The teacher repairs at once, but for one failure at its second try and one not at all.
  chat::Recordings repairs;
  for (size_t i = 0; i < failures->size(); ++i) {
    const FailedTurn& failure = (*failures)[i];
    const std::string right = agent::fenced_code(right_.at(failure.definition));
    std::vector<std::string> answers = {agent::fenced_code(failure.wrong.source)};
    if (i == 1) answers.emplace_back("I do not know yet.");
    if (i == 0)
      for (int k = 0; k < 6; ++k)
        answers.push_back(agent::fenced_code("still wrong " + std::to_string(k)));
    answers.push_back(right);
    repairs.conversations.push_back(conversation(failure.definition, answers));
  }
  const std::string repaired_folder = scratch_.file("repairs");
  {
    const ServedModel model(repairs);
    agent::Plan plan = teacher(model.url());
    plan.budget_tokens = 10 * 150;
    auto repaired = repair(*failures, options(repaired_folder, plan), {});
    ASSERT_TRUE(repaired.ok()) << format(repaired.error());
    EXPECT_TRUE(repaired->run.budget_spent);
    EXPECT_LT(repaired->pairs, failures->size() - 1);
    const int before = model.asked();
    plan.budget_tokens = std::nullopt;
    repaired = repair(*failures, options(repaired_folder, plan), {});
    ASSERT_TRUE(repaired.ok()) << format(repaired.error());
    EXPECT_EQ(repaired->pairs, failures->size() - 1);
    EXPECT_EQ(repaired->summary["not_repaired_by_reason"]["not right after all turns"], 1);
    // Five answers to the first, two to the second, one to each other; none twice.
    const size_t all = 5 + 2 + failures->size() - 2;
    EXPECT_EQ(static_cast<size_t>(model.asked()), all);
    EXPECT_GE(before, 10);
    EXPECT_EQ(repaired->run.state.tokens, static_cast<int64_t>(all) * 150);
    repaired = repair(*failures, options(repaired_folder, plan), {});
    EXPECT_EQ(static_cast<size_t>(model.asked()), all);
    EXPECT_EQ(repaired->run.state.judged, 0u);
  }

  auto pairs = read_pairs(repaired_folder + "/pairs.jsonl");
  ASSERT_TRUE(pairs.ok()) << format(pairs.error());
  for (const Pair& pair : *pairs) EXPECT_EQ(pair.kind, "repaired");
  const Selected selected = select(*pairs, {.family = "H", .keep = Keep::Latest});
  EXPECT_EQ(selected.pairs.size(), pairs->size());

  // Its first answer has a block of code, which is forbidden.
  chat::Recordings thoughts;
  thoughts.conversations.push_back(
      conversation("", {"See:\n```cuda\nint a;\n```\n" + std::string(kThought), kThought}));
  std::set<std::string> kernels;
  for (const Pair& pair : selected.pairs) kernels.insert(pair.definition + pair.fixed.source);
  {
    const ServedModel model(thoughts);
    const ReasoningSettings settings = reasoning(model.url());
    const auto reasoned = reason(selected.pairs, settings);
    ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
    EXPECT_EQ(reasoned->questions, selected.pairs.size() + kernels.size());
    EXPECT_EQ(reasoned->answered, reasoned->questions);
    EXPECT_EQ(static_cast<size_t>(model.asked()), 2 * reasoned->questions);
  }

  pairs = read_pairs(scratch_.file("reasoned/pairs.jsonl"));
  ASSERT_TRUE(pairs.ok()) << format(pairs.error());
  DatasetSettings building;
  building.output = scratch_.file("rows");
  building.system = [&](const Pair& pair) { return prompts_.system(pair.architecture); };
  building.task = [](const Pair& pair) -> Result<std::string> { return "Task " + pair.definition; };
  building.validation_share = 0.2;
  const auto manifest = build_dataset(*pairs, building);
  ASSERT_TRUE(manifest.ok()) << format(manifest.error());
  EXPECT_EQ((*manifest)["rows"].size() + (*manifest)["dropped"].size(), 2 * pairs->size());
  std::map<std::string, size_t> kinds;
  for (const std::string side : {"train", "validation"}) {
    const auto rows = read_json_lines(building.output + "/" + side + ".jsonl");
    ASSERT_TRUE(rows.ok());
    EXPECT_FALSE(rows->empty());
    for (const Json& row : *rows) {
      ++kinds[row["kind"]];
      EXPECT_EQ(row["messages"].size(), row["kind"] == "fixit" ? 5u : 3u);
      const std::string answer = row["messages"].back()["content"];
      EXPECT_TRUE(answer.starts_with(kThought)) << answer;
      const auto found = audit_row(building.output, row["id"]);
      ASSERT_TRUE(found.ok()) << format(found.error());
      EXPECT_EQ((*found)["sound"], true) << found->dump(1);
    }
  }
  EXPECT_EQ(kinds["kernelgen"], kernels.size());
  EXPECT_GT(kinds["fixit"], 15u);
}

class Mined : public Chain {
 protected:
  // A trajectory whose turns are (code, class); "" has no code.
  void write(const std::string& id, const std::string& definition,
             const std::vector<std::pair<std::string, std::string>>& turns) {
    const std::string folder = scratch_.file("run/trajectories/" + id);
    agent::Trajectory trajectory{.head = {.id = id,
                                          .model = "m",
                                          .definition = definition,
                                          .family = "gemm",
                                          .architecture = "hopper",
                                          .prompt_tag = "plain",
                                          .axes = {{"M", 16}}}};
    for (const auto& [code, error_class] : turns) {
      agent::Turn turn{.answer = code.empty() ? "none" : agent::fenced_code(code),
                       .finish = "complete",
                       .feedback = "verdict"};
      turn.verdict.error_class = agent::kNoCode;
      if (!code.empty()) {
        const std::string text = envelope_of(error_class, code);
        turn.verdict = agent::summarize(parse_json(text).value());
        const size_t number = trajectory.turns.size() + 1;
        ASSERT_TRUE(write_file(agent::verdict_file(folder, number), text).ok());
      }
      trajectory.turns.push_back(std::move(turn));
    }
    ASSERT_TRUE(agent::write_trajectory(folder, trajectory).ok());
  }
};

TEST_F(Mined, SaysWhyEachTurnIsLeftOut) {
  const std::string task = "gemm_n128_k2048", wrong = "void a() { b(1, 2, 3); }\n";
  write("t1", task,
        {{wrong, "incorrect"},
         {"", ""},
         {"void a() { b(1, 2, 3); }  // again\n", "incorrect"},
         {"int c;\n", "compile error"},
         {"int right;\n", "passed"}});
  write("t2", task,
        {{wrong, "incorrect"}, {"int lost;\n", "timeout"}, {"int other;\n", "timeout"}});
  write("t3", "gemm_n256_k7168", {{wrong, "incorrect"}});
  fs::remove(agent::verdict_file(scratch_.file("run/trajectories/t2"), 2));
  ASSERT_TRUE(write_file(agent::verdict_file(scratch_.file("run/trajectories/t2"), 3),
                         envelope_of("timeout", "something else"))
                  .ok());
  ASSERT_TRUE(write_file(scratch_.file("run/trajectories/t4/trajectory.json"), "{\"inf").ok());
  MiningSettings settings{.runs = {scratch_.file("run")}, .output = scratch_.file("out")};
  settings.held_out.definitions = {"gemm_n256_k7168"};
  const auto manifest = mine(settings, catalogue_);
  ASSERT_TRUE(manifest.ok()) << format(manifest.error());
  const std::map<std::string, size_t> expected = {
      {"no kernel", 1}, {"near duplicate", 1},    {"duplicate", 1},
      {"passed", 1},    {"no verdict", 1},        {"the verdict is about another kernel", 1},
      {"held out", 1},  {"damaged trajectory", 1}};
  EXPECT_EQ(((*manifest)["dropped_by_reason"].get<std::map<std::string, size_t>>()), expected);
  const auto failures = read_failures(settings.output + "/failures.jsonl");
  ASSERT_TRUE(failures.ok()) << format(failures.error());
  ASSERT_EQ(failures->size(), 2u);
  for (const FailedTurn& failure : *failures) {
    EXPECT_EQ(sha256(*read_file(failure.wrong.evaluation)), failure.wrong.evaluation_sha256);
    EXPECT_TRUE(
        failure.origin.ends_with(failure.wrong.source == wrong ? "t1 turn 1" : "t1 turn 4"));
  }
  // Both were repaired by their own trajectory.
  const auto pairs = read_pairs(settings.output + "/pairs.jsonl");
  ASSERT_EQ(pairs->size(), 2u);
  EXPECT_EQ(pairs->front().fixed.source, "int right;\n");
  EXPECT_EQ(pairs->front().kind, "self-repaired");
  // Right at once or in the end, a right kernel has nothing wrong beside it and no repair in its
  // row.
  const auto right = read_pairs(settings.output + "/right.jsonl");
  ASSERT_TRUE(right.ok()) << format(right.error());
  ASSERT_EQ(right->size(), 1u);
  EXPECT_EQ(right->front().fixed.source, "int right;\n");
  EXPECT_FALSE(right->front().is_repair());
  DatasetSettings building;
  building.output = scratch_.file("rows");
  building.system = building.task = [](const Pair&) { return Result<std::string>("words"); };
  const auto rows = build_dataset(*right, building);
  ASSERT_TRUE(rows.ok()) << format(rows.error());
  ASSERT_EQ((*rows)["rows"].size(), 1u);
  EXPECT_TRUE((*rows)["rows"][0]["wrong"].is_null());
  const auto found = audit_row(building.output, "kernelgen-" + right->front().id);
  ASSERT_TRUE(found.ok()) << format(found.error());
  EXPECT_EQ((*found)["sound"], true) << found->dump(1);
  EXPECT_FALSE(read_failures(settings.output + "/manifest.json").ok());
  EXPECT_FALSE(mine({.runs = {"nowhere"}, .output = settings.output}, catalogue_).ok());
}

TEST_F(Mined, TakesFromEveryCellInTurn) {
  std::vector<std::pair<std::string, std::string>> turns;
  for (const char* name : {"a", "b", "c", "d"})
    turns.emplace_back(std::string("int ") + name + ";\n", "incorrect");
  turns.emplace_back("int e;\n", "timeout");
  write("t1", "gemm_n128_k2048", turns);
  write("t2", "gemm_n256_k7168", {{"int f;\n", "incorrect"}});
  MiningSettings settings{
      .runs = {scratch_.file("run")}, .output = scratch_.file("out"), .most = 4};
  // One of each of three cells, then the second of the only cell that has one.
  Json cells = mine(settings, catalogue_).value()["balance"];
  EXPECT_EQ(cells["gemm_n128_k2048 / incorrect"]["after"], 2);
  EXPECT_EQ(cells["gemm_n128_k2048 / incorrect"]["before"], 4);
  EXPECT_EQ(cells["gemm_n128_k2048 / timeout"]["after"], 1);
  EXPECT_EQ(cells["gemm_n256_k7168 / incorrect"]["after"], 1);
  settings.most = 0;
  settings.most_per_cell = 3;
  cells = mine(settings, catalogue_).value()["balance"];
  EXPECT_EQ(cells["gemm_n128_k2048 / incorrect"]["after"], 3);
}

TEST_F(Chain, ReasoningKeepsToItsRules) {
  ReasoningSettings settings = reasoning("");
  settings.least_tokens = 5;  // 20 bytes
  settings.most_tokens = 10;
  settings.forbidden.push_back("Teacher");
  EXPECT_EQ(objection("This is long enough now", settings), "");
  EXPECT_EQ(objection("short", settings), "too short: 2 tokens, at least 5");
  EXPECT_EQ(objection(std::string(44, 'a'), settings), "too long: 11 tokens, at most 10");
  EXPECT_EQ(objection("As the teacher has said.", settings), "it must not contain: Teacher");
  EXPECT_NE(objection("Thus it ends.<|im_end|> ok", settings), "");
  // By a tokenizer that knows single bytes only, in GPT-2's table of printable characters.
  Json vocabulary = Json::object();
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    const unsigned point = printable ? byte : next++;
    vocabulary[point < 0x80 ? std::string(1, static_cast<char>(point))
                            : std::string{static_cast<char>(0xc0 | point >> 6),
                                          static_cast<char>(0x80 | (point & 0x3f))}] = byte;
  }
  const Json json = {{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}},
                     {"added_tokens", Json::array()},
                     {"pre_tokenizer", {{"type", "ByteLevel"}}}};
  const auto tokenizer = BpeTokenizer::from_text(to_text(json));
  ASSERT_TRUE(tokenizer.ok()) << format(tokenizer.error());
  settings.tokenizer = &*tokenizer;
  EXPECT_EQ(objection("abcdefghijk", settings), "too long: 11 tokens, at most 10");
  EXPECT_EQ(objection("abcdefghij", settings), "");
}

TEST_F(Chain, ReasoningGoesOnWhereItWas) {
  chat::Recordings thoughts;
  thoughts.conversations.push_back(conversation("", {kThought}));
  const std::vector<Pair> pairs = {pair("a\n"), pair("b\n"), pair("c\n")};
  const ServedModel model(thoughts);
  ReasoningSettings settings = reasoning(model.url());
  settings.plan.parallel = 1;
  settings.designs = false;
  settings.plan.budget_tokens = 300;  // two answers of 150
  auto reasoned = reason(pairs, settings);
  ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
  EXPECT_TRUE(reasoned->budget_spent);
  EXPECT_EQ(reasoned->answered, 2u);
  EXPECT_EQ(reasoned->open, 1u);
  // A kill in the middle of a line.
  const std::string file = settings.output + "/reasoning.jsonl", rows = *read_file(file);
  ASSERT_TRUE(write_file(file, rows + "{\"id\": \"repair-").ok());
  settings.plan.budget_tokens = std::nullopt;
  reasoned = reason(pairs, settings);
  ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
  EXPECT_EQ(reasoned->answered, 3u);
  EXPECT_EQ(model.asked(), 3);
  EXPECT_EQ(reasoned->manifest["tokens"], 450);
  EXPECT_NEAR(reasoned->manifest["dollars"].get<double>(), 3 * 200e-6, 1e-12);
  const auto written = read_pairs(settings.output + "/pairs.jsonl");
  ASSERT_EQ(written->size(), 3u);
  for (const Pair& pair : *written) EXPECT_EQ(pair.reasoning, kThought);
}

TEST_F(Chain, ReasoningThatBreaksTheRulesIsGivenUpWithItsReason) {
  chat::Recordings thoughts;
  thoughts.conversations.push_back(conversation("", {"no", "no", kThought}));
  const ServedModel model(thoughts);
  ReasoningSettings settings = reasoning(model.url());
  settings.designs = false;
  settings.attempts = 2;
  const auto reasoned = reason({pair("a\n")}, settings);
  ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
  EXPECT_EQ(reasoned->answered, 0u);
  EXPECT_EQ(reasoned->open, 0u);
  EXPECT_EQ(reasoned->manifest["without_by_reason"]["too short"], 1);
  EXPECT_EQ(model.asked(), 2);
  EXPECT_EQ(read_pairs(settings.output + "/pairs.jsonl")->front().reasoning, "");
}

// A limit on the size of files fails writes as a full disk does.
TEST_F(Chain, AFullDiskLosesNothing) {
  chat::Recordings thoughts;
  thoughts.conversations.push_back(conversation("", {kThought}));
  const ServedModel model(thoughts);
  ReasoningSettings settings = reasoning(model.url());
  settings.designs = false;
  settings.plan.parallel = 1;
  std::vector<Pair> pairs;
  for (char c = 'a'; c < 'i'; ++c) pairs.push_back(pair(std::string(1, c) + "\n"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto full = reason(pairs, settings);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(full.ok());
  EXPECT_NE(format(full.error()).find("reasoning.jsonl"), std::string::npos);
  const int asked = model.asked();
  EXPECT_LT(asked, 8);
  const auto reasoned = reason(pairs, settings);
  ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
  EXPECT_EQ(reasoned->answered, 8u);
  // The answer that did not fit is asked for again, and no other.
  EXPECT_EQ(model.asked(), 8 + 1);
}

TEST_F(Chain, AnEndpointThatIsDownLeavesQuestionsOpen) {
  const ReasoningSettings settings = reasoning("http://127.0.0.1:1/v1");
  const auto reasoned = reason({pair("a\n"), pair("b\n")}, settings);
  ASSERT_TRUE(reasoned.ok()) << format(reasoned.error());
  EXPECT_EQ(reasoned->open, 3u);  // two repairs and the kernel that they share
  EXPECT_EQ(reasoned->problems.size(), 3u);
  ReasoningSettings two = settings;
  two.plan.models["other"] = two.plan.models["teacher"];
  EXPECT_FALSE(reason({pair("a\n")}, two).ok());
  two = settings;
  two.output = "/proc/nothing";
  EXPECT_FALSE(reason({pair("a\n")}, two).ok());
}

}  // namespace
}  // namespace weft::sft
