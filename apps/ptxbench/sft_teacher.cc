// SPDX-License-Identifier: Apache-2.0

// ptxbench sft mine, repair, reason: failed turns of runs, their repairs by a stronger model with
// the judge in the loop, and the thoughts behind them. The teacher is a plan without tasks.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/sft.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text_file.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/sft/mining.h"
#include "ptxbench/sft/reasoning.h"
#include "ptxbench/sft/repair.h"

namespace weft::ptxbench {
namespace {

std::atomic<bool> stopped = false;

void stop_on_signals() {
  std::signal(SIGINT, [](int) { stopped = true; });
  std::signal(SIGTERM, [](int) { stopped = true; });
}

void print_counts(const Json& counts, const char* what) {
  for (const auto& [name, count] : counts.items())
    print(fmt::format("{:6} {}{}\n", count.get<size_t>(), what, name));
}

struct MineOptions {
  sft::MiningSettings settings;
  std::string held_out;
  Folders folders;
  bool json = false;
};

int mine(MineOptions& options) {
  options.folders.find();
  const auto catalogue = problems::Catalogue::open(options.folders.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  if (!options.held_out.empty()) {
    auto held_out = sft::read_held_out(options.held_out);
    if (!held_out.ok()) return fail(held_out.error(), kUsage);
    options.settings.held_out = *std::move(held_out);
  }
  for (const std::string& run : options.settings.runs)
    if (const auto folders = agent::trajectory_folders(run); !folders.ok())
      return fail(folders.error(), kUsage);
  const Result<Json> manifest = sft::mine(options.settings, *catalogue);
  if (!manifest.ok()) return fail(manifest.error(), kEnvironment);
  if (options.json) {
    print_json(*manifest);
  } else {
    std::vector<Row> rows = {{"definition / class", "failed turns", "taken"}};
    for (const auto& [cell, counts] : (*manifest)["balance"].items())
      rows.push_back({cell, counts["before"].dump(), counts["after"].dump()});
    print(table(rows));
    print_counts((*manifest)["dropped_by_reason"], "left out: ");
    for (const auto& [file, about] : (*manifest)["files"].items())
      print(fmt::format("{:6} rows in {}/{}\n", about["rows"].get<size_t>(),
                        options.settings.output, file));
  }
  return (*manifest)["files"]["failures.jsonl"]["rows"] == 0 ? kFailed : kPassed;
}

void add_mine(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<MineOptions>();
  sft::MiningSettings& settings = options->settings;
  CLI::App* verb = app.add_subcommand("mine", "Chooses failed turns of runs for a teacher");
  verb->add_option("runs", settings.runs, "Folders that ptxbench run wrote")->required();
  verb->add_option("--output", settings.output, "Folder to write")->required();
  verb->add_option("--most-per-cell", settings.most_per_cell,
                   "Failures of one definition and error class");
  verb->add_option("--most", settings.most, "Failures in all, taken from the cells in turn");
  verb->add_option("--near-duplicate", settings.near_duplicate,
                   "Kernels that share this much of their tokens are one")
      ->check(CLI::Range(0.1, 1.0));
  verb->add_option("--held-out", options->held_out,
                   "JSON: plans, definitions, workloads, axes, kernels of the examination");
  options->folders.add_to(*verb);
  verb->add_flag("--json", options->json, "Print the manifest");
  verb->callback([options, &exit_code] { exit_code = mine(*options); });
}

struct RepairOptions {
  std::string failures, teacher, output;
  sft::RepairSettings settings;
  Folders folders;
  bool json = false;
};

int repair(RepairOptions& options) {
  options.folders.find();
  const auto catalogue = problems::Catalogue::open(options.folders.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  const auto prompts = agent::PromptBook::open(options.folders.prompts);
  if (!prompts.ok()) return fail(prompts.error(), kUsage);
  const auto failures = sft::read_failures(options.failures);
  if (!failures.ok()) return fail(failures.error(), kUsage);
  auto plan = agent::read_models(options.teacher);
  if (!plan.ok()) return fail(plan.error(), kUsage);
  for (const auto& [name, planned] : plan->endpoints)
    if (const auto client = chat::ChatClient::create(planned.endpoint, nullptr, nullptr);
        !client.ok())
      return fail(client.error(), kUsage);
  stop_on_signals();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned parallel =
      plan->judge.parallel != 0 ? plan->judge.parallel : std::max(1u, cores / 2);
  auto judge =
      plan->judge.url.empty()
          ? agent::local_judge(plan->judge, *catalogue, std::max(1u, cores / parallel), &stopped)
          : agent::served_judge(plan->judge);
  if (!judge.ok()) return fail(judge.error(), kEnvironment);
  std::optional<Progress> progress;
  if (!options.json) progress.emplace("repair", failures->size() * plan->models.size());
  size_t shown = 0;
  const auto repaired = sft::repair(
      *failures,
      {.plan = *std::move(plan),
       .catalogue = &*catalogue,
       .prompts = &*prompts,
       .folder = options.output,
       .begin = {},
       .judge = *std::move(judge),
       .judge_parallel = parallel,
       .cancel = &stopped,
       .on_change =
           [&](const agent::RunState& state) {
             if (progress)
               progress->advance(
                   state.ended - shown,
                   fmt::format("{} right, {} judged, {} tokens, ${:.2f}; {}", state.passed,
                               state.judged, state.tokens, state.dollars, state.now));
             shown = state.ended;
           }},
      options.settings);
  if (progress) progress->finish();
  if (!repaired.ok()) return fail(repaired.error(), kEnvironment);
  const agent::RunOutcome& run = repaired->run;
  if (options.json) {
    print_json(repaired->summary);
  } else {
    std::vector<Row> rows = {{"definition / class", "failures", "repaired"}};
    for (const auto& [cell, counts] : repaired->summary["by_cell"].items())
      rows.push_back({cell, counts["failures"].dump(), counts["repaired"].dump()});
    print(table(rows));
    print_counts(repaired->summary["not_repaired_by_reason"], "not repaired: ");
    for (const std::string& problem : run.problems) print("open: " + problem + "\n");
    print(fmt::format("{} pairs in {}/pairs.jsonl; {} tokens, ${:.2f}\n", repaired->pairs,
                      options.output, run.state.tokens, run.state.dollars));
    if (run.state.ended < run.state.trajectories)
      print(run.budget_spent
                ? "The budget is spent. Raise it in the teacher's plan and run again.\n"
                : "The same command goes on from here.\n");
  }
  if (run.state.ended == run.state.trajectories) return kPassed;
  return run.problems.empty() ? kFailed : kEnvironment;
}

void add_repair(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RepairOptions>();
  CLI::App* verb =
      app.add_subcommand("repair", "Has a model repair failed turns, judging each try");
  verb->footer(
      "Exit codes: 0 every failure was played, 1 stopped by a budget or a signal, 2 usage, 3 an "
      "endpoint,\nthe judge or the disk failed. The same command goes on where it stopped.");
  verb->add_option("failures", options->failures, "failures.jsonl of ptxbench sft mine")
      ->required();
  verb->add_option("--teacher", options->teacher,
                   "JSON: endpoints, models, judge, budget, parallel, as in a plan")
      ->required();
  verb->add_option("--output", options->output, "Folder of the repairs, a run's folder")
      ->required();
  verb->add_option("--turns", options->settings.turns, "Answers to one failure, at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--target-speedup", options->settings.target_speedup,
                   "Go on after a right kernel until it is so fast");
  verb->add_option("--tag", options->settings.tag,
                   "Hint packs of the system message (default: those of the failed turn)");
  options->folders.add_to(*verb);
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = repair(*options); });
}

struct ReasonOptions {
  std::vector<std::string> files;
  std::string teacher, tokenizer, kind = "both";
  std::vector<std::string> forbidden;
  sft::ReasoningSettings settings;
  Folders folders;
  bool json = false;
};

int reason(ReasonOptions& options) {
  sft::ReasoningSettings& settings = options.settings;
  settings.repairs = options.kind != "design";
  settings.designs = options.kind != "repair";
  settings.forbidden = sft::default_forbidden();
  settings.forbidden.insert(settings.forbidden.end(), options.forbidden.begin(),
                            options.forbidden.end());
  std::vector<sft::Pair> pairs;
  for (const std::string& file : options.files) {
    auto read = sft::read_pairs(file);
    if (!read.ok()) return fail(read.error(), kUsage);
    std::move(read->begin(), read->end(), std::back_inserter(pairs));
  }
  auto plan = agent::read_models(options.teacher);
  if (!plan.ok()) return fail(plan.error(), kUsage);
  settings.plan = *std::move(plan);
  std::optional<sft::BpeTokenizer> tokenizer;
  if (!options.tokenizer.empty()) {
    auto read = sft::BpeTokenizer::read(options.tokenizer);
    if (!read.ok()) return fail(read.error(), kUsage);
    settings.tokenizer = &tokenizer.emplace(*std::move(read));
  }
  options.folders.find();
  for (auto [name, text] : {std::pair{"repair.md", &settings.repair_instructions},
                            std::pair{"design.md", &settings.design_instructions}}) {
    auto read = read_file(options.folders.prompts + "/teacher/" + name);
    if (!read.ok()) return fail(read.error(), kUsage);
    *text = *std::move(read);
  }
  const auto catalogue = problems::Catalogue::open(options.folders.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  settings.task = [&](const sft::Pair& pair) -> Result<std::string> {
    const problems::Overrides axes(pair.axes.begin(), pair.axes.end());
    return agent::task_prompt(TRY(catalogue->task(pair.definition, pair.workload_uuid, axes)),
                              pair.architecture);
  };
  stop_on_signals();
  settings.cancel = &stopped;
  std::optional<Progress> progress;
  size_t shown = 0;
  settings.on_answer = [&](size_t done, size_t total, const std::string& note) {
    if (options.json) return;
    if (!progress) progress.emplace("reason", total);
    progress->advance(done - shown, note);
    shown = done;
  };
  const auto reasoned = sft::reason(std::move(pairs), settings);
  if (progress) progress->finish();
  if (!reasoned.ok()) return fail(reasoned.error(), kEnvironment);
  if (options.json) {
    print_json(reasoned->manifest);
  } else {
    print_counts(reasoned->manifest["without_by_reason"], "without: ");
    for (const std::string& problem : reasoned->problems) print("open: " + problem + "\n");
    print(fmt::format("{} of {} questions answered; pairs in {}/pairs.jsonl\n", reasoned->answered,
                      reasoned->questions, settings.output));
    if (reasoned->open > 0)
      print(reasoned->budget_spent
                ? "The budget is spent. Raise it in the teacher's plan and run again.\n"
                : "The same command goes on from here.\n");
  }
  if (reasoned->open == 0) return kPassed;
  return reasoned->problems.empty() ? kFailed : kEnvironment;
}

void add_reason(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReasonOptions>();
  sft::ReasoningSettings& settings = options->settings;
  CLI::App* verb = app.add_subcommand("reason", "Has a model write the thoughts behind repairs");
  verb->footer(
      "Exit codes as those of repair. The same command goes on where it stopped; what was answered "
      "is not\nasked again.");
  verb->add_option("files", options->files, "Files of pairs")->required();
  verb->add_option("--teacher", options->teacher,
                   "JSON: endpoints, one model, budget, parallel, as in a plan")
      ->required();
  verb->add_option("--output", settings.output, "Folder to write")->required();
  verb->add_option("--kind", options->kind, "For Fixit rows, for KernelGen rows, or both")
      ->check(CLI::IsMember({"both", "repair", "design"}));
  verb->add_option("--tokenizer", options->tokenizer,
                   "The model's tokenizer.json (default: four bytes a token)");
  verb->add_option("--least-tokens", settings.least_tokens, "Shorter ones are asked for again")
      ->capture_default_str();
  verb->add_option("--most-tokens", settings.most_tokens, "Longer ones are asked for again")
      ->capture_default_str();
  verb->add_option("--forbidden", options->forbidden, "Text that none may have, beside the usual");
  verb->add_option("--attempts", settings.attempts, "Answers to one question, at most")
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  options->folders.add_to(*verb);
  verb->add_flag("--json", options->json, "Print the manifest");
  verb->callback([options, &exit_code] { exit_code = reason(*options); });
}

}  // namespace

void Folders::add_to(CLI::App& verb) {
  verb.add_option("--problems", problems, "Task folder (default: the project's)");
  verb.add_option("--prompts", prompts, "Prompt folder (default: the project's)");
}

void Folders::find() {
  if (problems.empty()) problems = judge::find_toolchain().problems;
  if (prompts.empty())
    prompts = (std::filesystem::path(problems) / ".." / "prompts").lexically_normal().string();
}

void add_sft_teacher(CLI::App& app, int& exit_code) {
  add_mine(app, exit_code);
  add_repair(app, exit_code);
  add_reason(app, exit_code);
}

}  // namespace weft::ptxbench
