// SPDX-License-Identifier: Apache-2.0

// ptxbench run: plays a plan's trajectories, and goes on where a killed run stopped.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/run_report.h"
#include "apps/ptxbench/verbs.h"
#include "base/progress.h"
#include "base/text_file.h"
#include "ptxbench/agent/run.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string plan, out, problems, prompts;
  bool json = false, quiet = false, check = false;
};

// What a signal can reach.
std::atomic<bool> cancelled = false;

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60)
                        : fmt::format("{:.1f} h", seconds / 3600);
}

std::string state_text(const agent::RunState& state) {
  return fmt::format("{} passed, {} turns, {} judged, {} tokens, ${:.2f}{}, {}", state.passed,
                     state.turns, state.judged, state.tokens, state.dollars,
                     state.seconds_left < 0 ? "" : ", ETA " + duration(state.seconds_left),
                     state.now);
}

Json outcome_json(const Options& options, const agent::RunOutcome& outcome) {
  const agent::RunState& state = outcome.state;
  return {{"folder", options.out},
          {"trajectories", state.trajectories},
          {"ended", state.ended},
          {"passed", state.passed},
          {"turns", state.turns},
          {"judged_now", state.judged},
          {"tokens", state.tokens},
          {"dollars", state.dollars},
          {"budget_spent", outcome.budget_spent},
          {"problems", outcome.problems}};
}

int report(const Options& options, const agent::RunOutcome& outcome) {
  const agent::RunState& state = outcome.state;
  const Result<Done> written =
      write_json(options.out + "/run.json", outcome_json(options, outcome));
  if (!written.ok()) return fail(written.error(), kEnvironment);
  if (options.json) {
    print_json(outcome_json(options, outcome));
  } else {
    for (const std::string& problem : outcome.problems) print("open: " + problem + "\n");
    print(fmt::format("{} of {} trajectories ended, {} passed; {} turns, {} tokens, ${:.2f}\n{}\n",
                      state.ended, state.trajectories, state.passed, state.turns, state.tokens,
                      state.dollars, options.out));
    if (state.ended < state.trajectories)
      print(outcome.budget_spent ? "The budget is spent. Raise it in the plan and run again.\n"
                                 : "The same command goes on from here.\n");
  }
  if (!options.json && state.turns > 0) {
    const int reported = report_run(options.out, false);
    if (reported != kPassed) return reported;
  }
  if (state.ended == state.trajectories) return kPassed;
  return outcome.problems.empty() ? kFailed : kEnvironment;
}

int run(Options& options) {
  const judge::Toolchain toolchain = judge::find_toolchain();
  if (options.problems.empty()) options.problems = toolchain.problems;
  if (options.problems.empty())
    return fail(Error("the task folder is missing: problems/", "name it with --problems"),
                kEnvironment);
  if (options.prompts.empty())
    options.prompts = (std::filesystem::path(options.problems) / ".." / "prompts").string();
  const Result<problems::Catalogue> catalogue = problems::Catalogue::open(options.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  Result<agent::Plan> plan = agent::read_plan(options.plan, *catalogue);
  if (!plan.ok()) return fail(plan.error(), kUsage);
  const Result<agent::PromptBook> prompts = agent::PromptBook::open(options.prompts);
  if (!prompts.ok()) return fail(prompts.error(), kUsage);
  std::map<std::string, int64_t> prompt_tokens;  // estimated, by tag
  for (const agent::TrajectoryHead& head : plan->trajectories) {
    if (prompt_tokens.contains(head.prompt_tag)) continue;
    const Result<std::string> system = prompts->system(head.prompt_tag);
    if (!system.ok()) return fail(system.error(), kUsage);
    prompt_tokens[head.prompt_tag] = agent::estimated_tokens(*system);
  }
  for (const auto& [name, planned] : plan->endpoints) {
    const auto client = chat::ChatClient::create(planned.endpoint, nullptr, nullptr);
    if (!client.ok()) return fail(client.error(), kUsage);
  }
  if (options.out.empty())
    options.out = "runs/" + std::filesystem::path(options.plan).stem().string();

  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned parallel =
      plan->judge.parallel != 0 ? plan->judge.parallel : std::max(1u, cores / 2);
  Result<agent::JudgeKernel> judge =
      plan->judge.url.empty()
          ? agent::local_judge(plan->judge, *catalogue, std::max(1u, cores / parallel), &cancelled)
          : agent::served_judge(plan->judge);
  if (!judge.ok()) return fail(judge.error(), kEnvironment);
  if (options.check) {
    for (const auto& [tag, tokens] : prompt_tokens)
      print(fmt::format("prompt {}: about {} tokens\n", tag, tokens));
    print(fmt::format("{} trajectories, {} models: ready\n", plan->trajectories.size(),
                      plan->models.size()));
    return kPassed;
  }
  const Result<std::string> text = read_file(options.plan);
  const Result<Done> kept =
      text.ok() ? write_file(options.out + "/plan.json", *text) : Result<Done>(text.error());
  if (!kept.ok()) return fail(kept.error(), kEnvironment);

  std::signal(SIGINT, [](int) { cancelled = true; });
  std::signal(SIGTERM, [](int) { cancelled = true; });
  std::unique_ptr<Progress> progress;
  if (!options.quiet && !options.json)
    progress = std::make_unique<Progress>("run", plan->trajectories.size());
  size_t shown = 0;
  const Result<agent::RunOutcome> outcome =
      agent::run_plan({.plan = std::move(*plan),
                       .catalogue = &*catalogue,
                       .prompts = &*prompts,
                       .folder = options.out,
                       .judge = std::move(*judge),
                       .judge_parallel = parallel,
                       .cancel = &cancelled,
                       .on_change = [&](const agent::RunState& state) {
                         if (progress) progress->advance(state.ended - shown, state_text(state));
                         shown = state.ended;
                       }});
  progress.reset();
  if (!outcome.ok()) return fail(outcome.error(), kEnvironment);
  return report(options, *outcome);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("run", "Runs language models through tasks, as a plan says");
  verb->footer(
      "Exit codes: 0 every trajectory ended, 1 stopped by a budget or a signal, 2 usage, 3 an "
      "endpoint,\n"
      "the judge or the disk failed. The same command goes on where it stopped.\n"
      "Example (docs/evaluating_a_model.md):\n"
      "  ptxbench run plan.json --out runs/first");
  verb->add_option("plan", options->plan, "The plan, a JSON file")->required();
  verb->add_option("--out", options->out, "Folder of the run (default: runs/ and the plan's name)");
  verb->add_option("--problems", options->problems, "Task folder (default: the project's)");
  verb->add_option("--prompts", options->prompts, "Prompt folder (default: the project's)");
  verb->add_flag("--check", options->check, "Only check the plan, the keys and the judge");
  verb->add_flag("--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weft::ptxbench
