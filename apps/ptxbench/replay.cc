// SPDX-License-Identifier: Apache-2.0

// ptxbench replay: judges a stored task again with its own seeds. ptxbench compare: two verdicts
// side by side.
#include <charconv>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "apps/ptxbench/verdicts.h"
#include "base/temporary_directory.h"
#include "ptxbench/service/evaluator.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string first, second;
  VerdictPlaces places{.url = "http://127.0.0.1:10000"};
  std::string problems;
  bool json = false;
};

const Json& trace_of(const Json& verdict) {
  return verdict.at("traces").at(0);
}

std::optional<uint64_t> seed_of(const Json& verdict, const char* name) {
  const Json& libs = trace_of(verdict).at("evaluation").at("environment").at("libs");
  const std::string text = libs.value(name, "");
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && !text.empty() ? std::optional(value) : std::nullopt;
}

Result<Json> judge_again(const service::Evaluator& evaluator, service::JudgeRequest request,
                         const Json& verdict) {
  request.kind = service::Kind::Evaluate;
  request.workload_uuids =
      std::vector<std::string>{trace_of(verdict).at("workload").value("uuid", "")};
  const std::optional<uint64_t> inputs = seed_of(verdict, "input_seed");
  // A verdict that ended before the run used none.
  if (inputs && *inputs != 0) request.input_seed = inputs;
  if (const auto schedule = seed_of(verdict, "schedule_seed")) request.schedule_seed = schedule;
  const Json result = TRY(evaluator.evaluate(request, [](std::string_view) {}));
  return result.at("verdicts").at(0);
}

int replay(const Options& options) {
  const Result<Done> there = server_answers(options.first, options.places);
  if (!there.ok()) return fail(there.error(), kEnvironment);
  const Result<JudgedTask> task = judged_task(options.first, options.places);
  if (!task.ok()) return fail(task.error(), kUsage);
  if (task->request.empty())
    return fail(Error("the file holds a verdict but not its source: " + options.first,
                      "name the task's id and --store or --url"),
                kUsage);
  const Result<service::JudgeRequest> request = service::read_submission(task->request);
  if (!request.ok()) return fail(request.error(), kUsage);
  const Result<TemporaryDirectory> scratch = TemporaryDirectory::create("replay");
  if (!scratch.ok()) return fail(scratch.error(), kEnvironment);
  const Result<service::Evaluator> evaluator =
      service::Evaluator::create({.problems = options.problems, .scratch = scratch->path()});
  if (!evaluator.ok()) return fail(evaluator.error(), kEnvironment);
  Json report = Json::array();
  bool agree = true;
  for (const Json& verdict : task->verdicts) {
    const Result<Json> again = judge_again(*evaluator, *request, verdict);
    if (!again.ok()) return fail(again.error(), kEnvironment);
    const std::vector<std::string> lines = disagreements(verdict, *again);
    agree = agree && lines.empty();
    const std::string uuid = trace_of(verdict).at("workload").value("uuid", "");
    report.push_back({{"workload", uuid},
                      {"status", verdict.value("status", "")},
                      {"replayed_status", again->value("status", "")},
                      {"agrees", lines.empty()},
                      {"disagreements", lines}});
    if (options.json) continue;
    print(fmt::format("{}  {}  {}\n", verdict.value("status", ""), uuid,
                      lines.empty() ? "the replay agrees" : "the replay DISAGREES"));
    for (const std::string& line : lines) print("  " + line + "\n");
  }
  if (options.json) print_json({{"task_id", task->id}, {"agrees", agree}, {"workloads", report}});
  return agree ? kPassed : kFailed;
}

int compare(const Options& options) {
  for (const std::string* name : {&options.first, &options.second}) {
    const Result<Done> there = server_answers(*name, options.places);
    if (!there.ok()) return fail(there.error(), kEnvironment);
  }
  const Result<JudgedTask> first = judged_task(options.first, options.places);
  if (!first.ok()) return fail(first.error(), kUsage);
  const Result<JudgedTask> second = judged_task(options.second, options.places);
  if (!second.ok()) return fail(second.error(), kUsage);
  std::vector<Row> rows = {{"workload", options.first, options.second, "difference"}};
  Json report = Json::array();
  bool same = true, met = false;
  for (const Json& a : first->verdicts) {
    for (const Json& b : second->verdicts) {
      const std::string uuid = trace_of(a).at("workload").value("uuid", "");
      if (trace_of(b).at("workload").value("uuid", "") != uuid) continue;
      met = true;
      same = same && a.value("status", "") == b.value("status", "");
      const std::vector<std::string> lines = disagreements(a, b);
      report.push_back({{"workload", uuid},
                        {"first", a.value("status", "")},
                        {"second", b.value("status", "")},
                        {"differences", lines}});
      rows.push_back({uuid.substr(0, 8), a.value("status", ""), b.value("status", ""),
                      lines.empty() ? "none" : lines.front()});
      for (size_t i = 1; i < lines.size(); ++i) rows.push_back({"", "", "", lines[i]});
    }
  }
  if (!met) return fail(Error("the two have no workload in common"), kUsage);
  if (options.json)
    print_json({{"same_status", same}, {"workloads", report}});
  else
    print(table(rows));
  return same ? kPassed : kFailed;
}

void add_places(CLI::App& verb, VerdictPlaces& places) {
  verb.add_option("--store", places.store, "Look for ids in this folder of a server");
  verb.add_option("--url", places.url, "Or ask this server");
  verb.add_option("--token-env", places.token_environment,
                  "Environment variable with the server's bearer token");
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("replay", "Judges a stored task again from its seeds; do they agree?");
  verb->footer("Exit codes: 0 the verdicts agree, 1 they do not, 2 usage, 3 environment.");
  verb->add_option("id", options->first, "Task id, or its beginning with --store")->required();
  add_places(*verb, options->places);
  verb->add_option("--problems", options->problems, "Task folder (default: the project's)");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = replay(*options); });
}

void add_compare(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("compare", "Two verdicts side by side, workload by workload");
  verb->footer("Exit codes: 0 the statuses are the same, 1 they are not, 2 usage, 3 environment.");
  verb->add_option("first", options->first, "A file of eval --save, or a task id")->required();
  verb->add_option("second", options->second, "Another one")->required();
  add_places(*verb, options->places);
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = compare(*options); });
}

}  // namespace weft::ptxbench
