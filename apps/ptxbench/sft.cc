// SPDX-License-Identifier: Apache-2.0

// ptxbench sft: training data out of what was judged. Each step reads files and writes files, so
// that any of them can be repeated or replaced.
#include "apps/ptxbench/sft.h"

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "ptxbench/judge/build_cache.h"
#include "ptxbench/judge/judge.h"
#include "ptxbench/sft/injection.h"

namespace weft::ptxbench {
namespace {

std::atomic<bool> stopped = false;

double processor_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  return seconds;
}

struct InjectOptions {
  std::string seeds, problems;
  double launch_seconds = 20;
  bool json = false;
  sft::InjectionSettings settings;
};

int inject(InjectOptions& options) {
  const judge::Toolchain toolchain = judge::find_toolchain();
  for (const Result<Done>& needed :
       {judge::require_nvcc(toolchain), judge::require_emulator(toolchain)})
    if (!needed.ok()) return fail(needed.error(), kEnvironment);
  const auto seeds = sft::read_seeds(options.seeds);
  if (!seeds.ok()) return fail(seeds.error(), kUsage);
  const auto catalogue =
      problems::Catalogue::open(options.problems.empty() ? toolchain.problems : options.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);

  std::signal(SIGINT, [](int) { stopped = true; });
  options.settings.cancel = &stopped;
  judge::Settings settings;
  settings.emulation.workers = 1;
  settings.run_limits.launch_seconds = options.launch_seconds;
  settings.cancel = &stopped;
  const sft::JudgeSource judge_source = [&](const std::string& source,
                                            const problems::Task& task) -> Result<Json> {
    judge::Candidate candidate;
    candidate.path = "kernel.cu";
    candidate.name = "kernel";
    candidate.source = source;
    candidate.sha256 = sha256(source);
    return wire::to_json(TRY(judge::judge(candidate, task, toolchain, settings)));
  };
  std::optional<Progress> progress;
  size_t shown = 0;
  options.settings.on_attempt = [&](size_t done, size_t total, const std::string& note) {
    if (!progress) progress.emplace("inject", total);
    progress->advance(done - shown, note);
    shown = done;
  };
  const auto coverage = sft::inject(*seeds, *catalogue, judge_source, options.settings);
  if (progress) progress->finish();
  if (!coverage.ok()) return fail(coverage.error(), stopped ? kFailed : kEnvironment);
  Json json = sft::to_json(*coverage);
  json["processor_seconds"] = processor_seconds();
  if (options.json) {
    print_json(json);
    return coverage->pairs > 0 ? kPassed : kFailed;
  }
  std::vector<Row> rows = {
      {"fault", "mutants", "judged", "pairs", "harmless", "mislabelled", "shown as"}};
  size_t classes = 0;
  for (const auto& [name, one] : coverage->faults) {
    std::string shown_as;
    for (const auto& [error_class, count] : one.shown_as)
      shown_as += fmt::format("{}{} {}", shown_as.empty() ? "" : ", ", count, error_class);
    classes += one.kept > 0;
    rows.push_back({name, std::to_string(one.mutants), std::to_string(one.judged),
                    std::to_string(one.kept), std::to_string(one.harmless),
                    std::to_string(one.mislabelled), shown_as});
  }
  print(table(rows));
  for (const auto& [kernel, reason] : coverage->refused_seeds)
    print(fmt::format("no seed: {}: {}\n", kernel, reason));
  print(fmt::format("{} pairs of {} faults from {} kernels; {:.0f} processor seconds\n",
                    coverage->pairs, classes, coverage->seeds - coverage->refused_seeds.size(),
                    processor_seconds()));
  return coverage->pairs > 0 ? kPassed : kFailed;
}

void add_inject(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<InjectOptions>();
  sft::InjectionSettings& settings = options->settings;
  CLI::App* verb = app.add_subcommand(
      "inject", "Makes repair pairs from right kernels by faults that the judge confirms");
  verb->add_option("seeds", options->seeds, "JSON list of kernels and reduced tasks")->required();
  verb->add_option("--output", settings.output, "Folder; a run that was stopped goes on in it")
      ->required();
  verb->add_option("--fault", settings.faults, "Only these faults");
  verb->add_option("--jobs", settings.jobs, "Judgements at once")
      ->default_val(2)
      ->check(CLI::Range(1, 64));
  verb->add_option("--target", settings.target, "Stop after so many pairs");
  verb->add_option("--most-per-fault", settings.most_per_fault, "Pairs of one fault");
  verb->add_option("--launch-timeout", options->launch_seconds, "Seconds of a launch")
      ->check(CLI::PositiveNumber);
  verb->add_option("--problems", options->problems, "Task folder (default: the project's)");
  verb->add_flag("--json", options->json, "Print the coverage as JSON");
  verb->callback([options, &exit_code] { exit_code = inject(*options); });
}

}  // namespace

void add_sft(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("sft", "Turns verdicts into training data");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  ptxbench sft mine runs/first --output runs/failures\n"
      "  ptxbench sft repair runs/failures/failures.jsonl --teacher teacher.json --output "
      "runs/repairs\n"
      "  ptxbench sft inject ptxbench/sft/own_kernels.json --output runs/injected\n"
      "  ptxbench sft build runs/injected/attempts.jsonl --output runs/rows\n"
      "  ptxbench sft audit fixit-0123456789abcdef --data runs/rows");
  add_sft_teacher(*verb, exit_code);
  add_inject(*verb, exit_code);
  add_sft_rows(*verb, exit_code);
}

}  // namespace weft::ptxbench
