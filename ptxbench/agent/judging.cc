// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/judging.h"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/json_member.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/judge/build_cache.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/judge.h"
#include "ptxbench/service/client.h"

namespace weft::agent {
namespace {

constexpr double kPatience = 3600;  // seconds, with a server's full queue
constexpr const char* kBlackwellModel = "b200";

// The same text is the same candidate wherever it lies, and messages call it kernel.cu.
Result<judge::Candidate> candidate_of(const std::string& code) {
  const TemporaryDirectory folder = TRY(TemporaryDirectory::create("ptxbench-kernel"));
  TRY(write_file(folder.file("kernel.cu"), code));
  judge::Candidate candidate = TRY(judge::load_candidate(folder.file("kernel.cu"), folder.path()));
  candidate.path = "kernel.cu";
  return candidate;
}

// A quoted include of a file that is not there, or leads elsewhere, is the model's mistake.
std::string refused(const KernelQuestion& question, const Error& error) {
  const Json stage = {{"stage", "screen"}, {"passed", false}, {"evidence", error.message()}};
  return to_text({{"schema", "ptxbench.eval.v1"},
                  {"evaluation_id", nullptr},
                  {"definition", question.definition},
                  {"workload_uuids", {question.workload_uuid}},
                  {"kernel_sha256", sha256(question.code)},
                  {"status", "COMPILE_ERROR"},
                  {"compile_log", error.message()},
                  {"traces", Json::array()},
                  {"audit", {{"stages", Json::array({stage})}}}});
}

}  // namespace

Result<JudgeKernel> local_judge(const JudgePlan& plan, const problems::Catalogue& catalogue,
                                unsigned emulator_workers, const std::atomic<bool>* cancel) {
  const auto toolchain = std::make_shared<judge::Toolchain>(judge::find_toolchain());
  TRY(judge::require_nvcc(*toolchain));
  judge::Settings settings;
  settings.gpu = TRY(judge::parse_device(plan.device));
  if (settings.gpu)
    TRY(judge::DeviceMonitor::open(*settings.gpu));
  else
    TRY(judge::require_emulator(*toolchain));
  settings.emulation.device = plan.emulated_model;
  settings.emulation.workers = emulator_workers;
  settings.run_limits.seconds = plan.timeout_seconds;
  settings.build_cache = judge::default_build_cache();
  settings.cancel = cancel;
  return JudgeKernel(
      [toolchain, settings, &catalogue](const KernelQuestion& question) -> Result<std::string> {
        const problems::Overrides overrides(question.axes.begin(), question.axes.end());
        const problems::Task task =
            TRY(catalogue.task(question.definition, question.workload_uuid, overrides));
        const Result<judge::Candidate> candidate = candidate_of(question.code);
        if (!candidate.ok()) return refused(question, candidate.error());
        judge::Settings chosen = settings;
        if (question.architecture == "blackwell") chosen.emulation.device = kBlackwellModel;
        return to_text(wire::to_json(TRY(judge::judge(*candidate, task, *toolchain, chosen))));
      });
}

Result<JudgeKernel> served_judge(const JudgePlan& plan) {
  std::string token;
  if (!plan.token_variable.empty()) {
    const char* value = std::getenv(plan.token_variable.c_str());
    if (value == nullptr || *value == '\0')
      return Error("the variable with the server's token is not set: " + plan.token_variable);
    token = value;
  }
  auto client = TRY(service::ServiceClient::create(plan.url, token));
  TRY(client.get("/health"));
  return JudgeKernel([plan, token](const KernelQuestion& question) -> Result<std::string> {
    auto asking = TRY(service::ServiceClient::create(plan.url, token));
    Json body = {{"solution",
                  {{"name", "kernel"},
                   {"definition", question.definition},
                   {"author", "ptxbench run"},
                   {"spec",
                    {{"language", "cuda"},
                     {"target_hardware", {"cuda"}},
                     {"entry_point", "kernel.cu::run"},
                     {"dependencies", Json::array()},
                     {"destination_passing_style", true},
                     {"binding", "tvm-ffi"}}},
                   {"sources", {{{"path", "kernel.cu"}, {"content", question.code}}}}}},
                 {"workload_uuids", {question.workload_uuid}},
                 {"timeout", static_cast<int64_t>(plan.timeout_seconds)}};
    if (!question.axes.empty()) body["axes"] = question.axes;
    const Json accepted = TRY(asking.submit("evaluate", body, kPatience));
    const Json task = TRY(asking.wait(accepted.value("task_id", ""), [](const std::string&) {}));
    if (task.value("status", "") != "completed" || !task.contains("verdicts") ||
        task["verdicts"].empty())
      return Error("the server did not judge: " + task.value("error", task.value("status", "")));
    // Which architecture a server compiles for is its own affair.
    const Json& verdict = task["verdicts"][0];
    const std::string target = text_of(member(member(verdict, "ptx"), "virtual_arch"));
    const bool blackwell = question.architecture == "blackwell";
    if (!target.empty() && blackwell != target.ends_with("100a"))
      return Error("the server compiles for another architecture: " + target,
                   "start it with --model " + std::string(blackwell ? kBlackwellModel : "h100"));
    return to_text(verdict);
  });
}

Result<std::map<std::string, std::string>> judging_stamps(const Plan& plan,
                                                          const problems::Catalogue& catalogue) {
  std::map<std::string, std::string> stamps;
  for (const TrajectoryHead& head : plan.trajectories) {
    if (stamps.contains(head.definition)) continue;
    const problems::Definition definition = TRY(catalogue.definition(head.definition));
    stamps[head.definition] = sha256(plan.judge.device + "\n" + plan.judge.emulated_model + "\n" +
                                     plan.judge.url + "\n" + TRY(read_file(definition.file)));
  }
  return stamps;
}

VerdictCache::VerdictCache(std::string folder, std::map<std::string, std::string> stamps,
                           JudgeKernel judge, unsigned parallel)
    : folder_(std::move(folder)),
      stamps_(std::move(stamps)),
      judge_(std::move(judge)),
      free_(parallel) {}

Result<KeptVerdict> VerdictCache::verdict(const KernelQuestion& question) {
  Sha256 hash;
  if (const auto stamp = stamps_.find(question.definition); stamp != stamps_.end())
    hash.update(stamp->second);
  if (question.architecture != "hopper") hash.update(question.architecture);
  hash.update("\n" + question.definition + "\n" + question.workload_uuid + "\n");
  for (const auto& [axis, value] : question.axes) hash.update(fmt::format("{}={}\n", axis, value));
  hash.update(question.code);
  const std::string key = hash.finish();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !asked_.contains(key); });
    asked_.insert(key);
  }
  Result<KeptVerdict> kept = find_or_judge(key, question);
  const std::lock_guard lock(mutex_);
  asked_.erase(key);
  changed_.notify_all();
  return kept;
}

Result<KeptVerdict> VerdictCache::find_or_judge(const std::string& key,
                                                const KernelQuestion& question) {
  const std::string file = folder_ + "/" + key + ".json";
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    // A file that is no verdict is judged again: whoever damaged it did not mean to decide
    // anything.
    Result<std::string> text = read_file(file);
    const Result<Json> known = text.ok() ? parse_json(*text) : Result<Json>(Json());
    if (known.ok() && known->is_object() && known->contains("status"))
      return KeptVerdict{key, std::move(*text)};
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  Result<std::string> envelope = judge_(question);
  {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_all();
  }
  if (!envelope.ok()) return envelope.error();
  TRY(write_file(file, *envelope));
  ++judged_;
  return KeptVerdict{key, std::move(*envelope)};
}

}  // namespace weft::agent
