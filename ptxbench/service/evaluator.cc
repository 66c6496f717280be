// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/evaluator.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "ptxbench/judge/build_cache.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/service/reports.h"
#include "ptxbench/wire/envelope.h"

namespace weft::service {
namespace {
namespace fs = std::filesystem;

// The GPU's index, or nothing for the emulated device.
Result<std::optional<unsigned>> find_device(const std::string& device,
                                            const judge::Toolchain& toolchain) {
  const std::optional<unsigned> gpu = TRY(judge::parse_device(device));
  if (!gpu) {
    TRY(judge::require_emulator(toolchain));
  } else if (const Result<judge::DeviceMonitor> found = judge::DeviceMonitor::open(*gpu);
             !found.ok()) {
    return found.error();
  }
  return gpu;
}

}  // namespace

Result<Evaluator> Evaluator::create(EvaluatorOptions options) {
  judge::Toolchain toolchain = judge::find_toolchain();
  const std::optional<unsigned> gpu = TRY(find_device(options.device, toolchain));
  if (options.problems.empty()) options.problems = toolchain.problems;
  if (options.problems.empty())
    return Error("the task folder is missing: problems/", "name it with --problems");
  problems::Catalogue catalogue = TRY(problems::Catalogue::open(options.problems));
  return Evaluator(std::move(options), gpu, std::move(toolchain), std::move(catalogue));
}

Result<std::vector<problems::Task>> Evaluator::tasks(const JudgeRequest& request) const {
  const problems::Definition definition = TRY(catalogue_.definition(request.solution.definition));
  const problems::Overrides overrides(request.axes.begin(), request.axes.end());
  std::vector<problems::Task> tasks;
  for (const problems::Workload& workload : TRY(catalogue_.workloads(definition))) {
    const auto& wanted = request.workload_uuids;
    if (wanted && std::find(wanted->begin(), wanted->end(), workload.uuid) == wanted->end())
      continue;
    tasks.push_back(TRY(problems::resolve(definition, workload, overrides)));
  }
  if (request.workload_uuids) {
    for (const std::string& uuid : *request.workload_uuids) {
      const bool found = std::any_of(tasks.begin(), tasks.end(), [&](const problems::Task& task) {
        return task.workload.uuid == uuid;
      });
      if (!found) return Error(fmt::format("No workloads found for {}: {}", definition.name, uuid));
    }
  }
  if (tasks.empty()) return Error("No workloads found for " + definition.name);
  return tasks;
}

// The source's name is part of the candidate's text (through #line), so it is given relative to the
// scratch folder: the same solution is then the same candidate in every worker.
Result<judge::Candidate> Evaluator::candidate(const Solution& solution) const {
  std::error_code failure;
  const fs::path folder = fs::path(options_.scratch) / "solution";
  fs::remove_all(folder, failure);
  for (const auto& [path, content] : solution.sources)
    TRY(write_file((folder / path).string(), content));
  if (chdir(folder.c_str()) != 0) return Error("cannot enter the scratch folder");
  Result<judge::Candidate> loaded = judge::load_candidate(solution.entry_file, ".");
  if (chdir(options_.scratch.c_str()) != 0) return Error("cannot enter the scratch folder");
  if (loaded.ok()) loaded->name = solution.normalized_name();
  return loaded;
}

judge::Settings Evaluator::settings(const JudgeRequest& request) const {
  judge::Settings settings;
  settings.build_cache = judge::default_build_cache();
  settings.gpu = gpu_;
  settings.memory_scratch = options_.memory_scratch;
  settings.emulation.device = options_.model;
  settings.emulation.workers = options_.emulator_workers;
  settings.emulation.schedule_seed = request.schedule_seed.value_or(0);
  settings.input_seed = request.input_seed.value_or(0);
  if (request.trials) settings.trials = static_cast<unsigned>(*request.trials);
  settings.run_limits.seconds =
      request.timeout_seconds ? static_cast<double>(*request.timeout_seconds) : options_.seconds;
  return settings;
}

Result<Json> Evaluator::evaluate(const JudgeRequest& request,
                                 const std::function<void(std::string_view)>& on_progress) const {
  const std::vector<problems::Task> all = TRY(tasks(request));
  const judge::Candidate judged = TRY(candidate(request.solution));
  if (judged.kind == judge::Candidate::Kind::Cuda) TRY(judge::require_nvcc(toolchain_));
  judge::Settings chosen = settings(request);
  Json verdicts = Json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    chosen.on_stage = [&](std::string_view stage) {
      on_progress(fmt::format("workload {} of {}: {}", i + 1, all.size(), stage));
    };
    verdicts.push_back(wire::to_json(TRY(judge::judge(judged, all[i], toolchain_, chosen))));
  }
  return result_of(request, verdicts);
}

}  // namespace weft::service
