// SPDX-License-Identifier: Apache-2.0

// Counts are multiplied out by hand; tasks are the project's own.
#include "ptxbench/agent/plan.h"

#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft::agent {
namespace {

const std::string kPlan = R"({
  "endpoints": {"here": {"url": "http://127.0.0.1:1/v1", "attempts": 2, "requests_per_minute": 30}},
  "models": [{"name": "a", "endpoint": "here", "options": {"temperature": 0.5},
              "prices": {"prompt": 1, "completion": 2}},
             {"name": "b/c", "endpoint": "here", "served": "b", "prices": {}}],
  "prompt_tags": ["plain", "hopper"],
  "replicas": 3, "turns": 4,
  "budget": {"dollars": 2.5, "tokens": 1000},
  "tasks": [{"definition": "gemm_n128_k2048", "set": {"M": 16}},
            {"definition": "mha_with_lse_d64", "models": ["a"], "prompt_tags": ["plain"],
             "replicas": 1, "turns": 8, "target_speedup": 0.8}]
})";

Result<Plan> read(const std::string& text) {
  const TemporaryDirectory folder = TemporaryDirectory::create("plan").value();
  EXPECT_TRUE(write_file(folder.file("plan.json"), text).ok());
  static const problems::Catalogue kCatalogue = problems::Catalogue::open("problems").value();
  return read_plan(folder.file("plan.json"), kCatalogue);
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kPlan;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Plan, IsMultipliedOut) {
  const Result<Plan> plan = read(kPlan);
  ASSERT_TRUE(plan.ok()) << format(plan.error());
  ASSERT_EQ(plan->trajectories.size(), 2u * 2 * 3 + 1);
  const TrajectoryHead& first = plan->trajectories.front();
  EXPECT_EQ(first.family, "gemm");
  EXPECT_EQ(first.axes.at("M"), 16);
  EXPECT_EQ(first.turns, 4u);
  EXPECT_FALSE(first.target_speedup);
  const TrajectoryHead& last = plan->trajectories.back();
  EXPECT_EQ(last.model, "a");
  EXPECT_EQ(last.turns, 8u);
  EXPECT_EQ(last.target_speedup, 0.8);
  EXPECT_EQ(plan->models.at("b/c").served, "b");
  EXPECT_EQ(plan->models.at("a").options, "{\"temperature\":0.5}");
  EXPECT_EQ(plan->endpoints.at("here").endpoint.attempts, 2u);
  EXPECT_EQ(plan->budget_dollars, 2.5);
  for (const TrajectoryHead& head : plan->trajectories)
    EXPECT_EQ(head.id.find('/'), std::string::npos) << head.id;
}

TEST(Plan, SaysWhatKernelsAreCompiledFor) {
  const Result<Plan> plan = read(with("\"replicas\": 1,", "\"architecture\": \"blackwell\","));
  ASSERT_TRUE(plan.ok()) << format(plan.error());
  EXPECT_EQ(plan->trajectories.front().architecture, "hopper");
  // Three replicas of the second task, apart from Hopper's by their folders' names.
  for (size_t i = 12; i < 15; ++i) {
    EXPECT_EQ(plan->trajectories[i].architecture, "blackwell");
    EXPECT_TRUE(plan->trajectories[i].id.ends_with(".blackwell")) << plan->trajectories[i].id;
  }
  const Result<Plan> all = read(with("\"replicas\": 3,", "\"architecture\": \"blackwell\","));
  ASSERT_TRUE(all.ok()) << format(all.error());
  for (const TrajectoryHead& head : all->trajectories) EXPECT_EQ(head.architecture, "blackwell");
}

TEST(Plan, OfModelsAloneHasNoTasks) {
  const TemporaryDirectory folder = TemporaryDirectory::create("plan").value();
  const std::string file = folder.file("teacher.json");
  const std::string head =
      R"({"endpoints": {"here": {"url": "http://127.0.0.1:1/v1"}}, "budget": {"tokens": 5}, )";
  ASSERT_TRUE(write_file(file, head + R"("models": [{"name": "t", "endpoint": "here"}]})").ok());
  const Result<Plan> plan = read_models(file);
  ASSERT_TRUE(plan.ok()) << format(plan.error());
  EXPECT_TRUE(plan->models.contains("t"));
  EXPECT_EQ(plan->budget_tokens, 5);
  EXPECT_TRUE(plan->trajectories.empty());
  for (const char* wrong : {R"("models": []})", R"("models": [], "tasks": []})"}) {
    ASSERT_TRUE(write_file(file, head + wrong).ok());
    EXPECT_FALSE(read_models(file).ok()) << wrong;
  }
}

TEST(Plan, ChargesByTheMillion) {
  // 3000 tokens at one dollar a million and 500 at four.
  const Model model{.prices = Prices{1, 4}};
  EXPECT_NEAR(cost_of(model, {.prompt = 3000, .completion = 500}).value(), 0.005, 1e-12);
  EXPECT_FALSE(cost_of(Model{}, {.prompt = 3000}));
}

TEST(Plan, WhatIsWrongIsNamedWithItsLine) {
  struct Case {
    std::string text, words;
    uint32_t line;
  };
  for (const Case& wrong :
       {Case{with("\"budget\"", "\"budgets\""), "budgets", 8},
        Case{with("\"tokens\"", "\"token\""), "token", 8},
        Case{with("\"attempts\"", "\"retries\""), "retries", 2},
        Case{with("\"temperature\": 0.5}", "\"temperature\": 0.5}, \"option\": 1"), "option", 3},
        Case{with("gemm_n128_k2048", "gemm_n128_k2049"), "gemm_n128_k2049", 9},
        Case{with("\"replicas\": 3", "\"replicas\": 0"), "replicas", 7},
        Case{with("[\"a\"]", "[\"z\"]"), "z", 10},
        Case{with("\"replicas\": 3", "\"architecture\": \"blackwel\""), "blackwell", 7},
        Case{with("\"replicas\": 3", "\"judge\": {\"emulated_model\": \"b200\"}"), "architecture",
             7},
        Case{with("\"endpoint\": \"here\"", "\"endpoint\": \"her\""), "her", 3},
        Case{with("\"prices\": {}", "\"seed\": false"), "b/c", 8}}) {
    const Result<Plan> plan = read(wrong.text);
    ASSERT_FALSE(plan.ok()) << wrong.words;
    const Diagnostic& said = plan.error().diagnostics.front();
    EXPECT_NE((said.message + said.hint).find(wrong.words), std::string::npos) << said.message;
    EXPECT_EQ(said.position.line, wrong.line) << said.message;
  }
  EXPECT_FALSE(read("[]").ok());
  EXPECT_FALSE(read("{").ok());
}

}  // namespace
}  // namespace weft::agent
