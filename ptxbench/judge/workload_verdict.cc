// SPDX-License-Identifier: Apache-2.0

// The calls are in call_plan.h, what is done without the candidate's process in recorded_call.h.
#include "ptxbench/judge/workload_verdict.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <future>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "ptxbench/judge/architecture.h"
#include "ptxbench/judge/audit.h"
#include "ptxbench/judge/call_plan.h"
#include "ptxbench/judge/device_bench.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/health.h"
#include "ptxbench/judge/random_seed.h"
#include "ptxbench/judge/recorded_call.h"
#include "ptxbench/judge/replay/module_digest.h"
#include "ptxbench/judge/stage_clock.h"
#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

// As much as the emulator may be asked for in the place of a GPU's counters, in floating-point
// operations.
constexpr double kEmulatedOperations = 1e10;

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

class WorkloadJudgement {
 public:
  WorkloadJudgement(const Candidate& candidate, const BuiltCode& code, const problems::Task& task,
                    const Toolchain& toolchain, const Settings& settings, const std::string& folder)
      : candidate_(candidate),
        code_(code),
        code_digest_(module_digest(code.ptx)),
        task_(task),
        toolchain_(toolchain),
        settings_(settings),
        folder_(folder),
        seed_(settings.input_seed != 0 ? settings.input_seed : random_seed()),
        calls_(plan_calls(settings, task, seed_)) {
    verdict_.requested_calls = static_cast<unsigned>(calls_.size());
    verdict_.trace = describe_workload(candidate, task);
  }

  Result<WorkloadVerdict> run() {
    wire::Evaluation& evaluation = verdict_.trace.evaluation;
    evaluation.timestamp = timestamp();
    evaluation.performance_reason = settings_.gpu ? "the candidate was not timed" : "no GPU";
    evaluation.correctness_reason = "the candidate did not run to its end";
    audit_.reason = "the candidate did not run to its end";
    // It runs to its end on the first inputs without a fault and stays inside its tensors.
    bool going = TRY(stages_.run("sanitize", [&] { return sanitize(); }));
    // What it wrote is right, in every call.
    going = TRY(stages_.run("correctness", going, [&] { return correctness(); }));
    TRY(end_session());
    // What it executed is counted, also when it failed above.
    TRY(stages_.run("audit", [&] { return count(); }));
    // Times need a GPU: without one the stage stays unreached, with the reason beside the null.
    TRY(stages_.run("timing", settings_.gpu && !stages_.failure(), [&] { return time_on_gpu(); }));
    if (!settings_.gpu) TRY(probe());
    return finish();
  }

 private:
  using StageResult = Result<std::optional<Failure>>;

  StageResult sanitize() {
    SessionSettings session{.candidate = code_.object,
                            .ptx = candidate_.kind == Candidate::Kind::Ptx,
                            .launches = {},
                            .folder = folder_ + "/session",
                            .gpu = settings_.gpu,
                            .emulation = settings_.emulation,
                            .limits = settings_.run_limits,
                            .cancel = settings_.cancel};
    if (session.ptx) {
      Result<std::vector<ResolvedLaunch>> launches = resolve_launches(candidate_.launches, task_);
      if (!launches.ok())
        return std::optional(Failure{wire::Status::RuntimeError, launches.error().message()});
      session.launches = std::move(launches).value();
    }
    session_ = TRY(Session::start(std::move(session), task_, toolchain_));
    expected_ = TRY(expect(task_, seed_, 0));
    // While a GPU works, the processor has time for what comes next.
    if (settings_.gpu && settings_.trials > 1)
      next_ = std::async(std::launch::async, [this] { return expect(task_, seed_, 1); });
    std::optional<Failure> failure = TRY(make_call(0));
    verdict_.clean = !failure;
    return failure;
  }

  // Runs call `index`; its bytes lie in `last_` afterwards.
  StageResult make_call(unsigned index) {
    const PlannedCall& call = calls_[index];
    const bool record = index == 0 && !settings_.gpu;
    last_ = TRY(session_->call({.inputs = call.fresh ? &expected_.inputs : nullptr,
                                .poison = call.poison,
                                .guard = call.guard,
                                .move = call.move,
                                .record = record}));
    if (record && !last_.recording.empty()) {
      recorded_.emplace(last_, call.poison, task_, seed_, toolchain_, settings_,
                        folder_ + "/repetition");
    }
    if (last_.failure) return last_.failure;
    ++verdict_.completed_calls;
    return check_manners(last_, index);
  }

  StageResult correctness() {
    wire::Correctness& correctness = verdict_.trace.evaluation.correctness.emplace();
    for (unsigned index = 0; index < calls_.size(); ++index) {
      std::vector<std::string> before;
      if (index > 0) {
        const bool again = !calls_[index].fresh;
        if (again)
          before = std::move(last_.bytes);
        else
          expected_ = TRY(next_.valid() && calls_[index].trial == 1
                              ? next_.get()
                              : expect(task_, seed_, calls_[index].trial));
        const std::optional<Failure> failure = TRY(make_call(index));
        if (failure) return failure;
        if (again) correctness.deterministic = before == last_.bytes;
        // Bits that have been found right are right.
        if (again && *correctness.deterministic && settings_.gpu) continue;
      }
      const std::optional<Failure> failure = TRY(
          check_tensors(task_, expected_, last_.bytes, calls_[index].poison, index, correctness));
      if (failure) return failure;
      if (settings_.gpu && !calls_[index].move) TRY(keep_proven());
    }
    if (correctness.elements_compared == 0)
      return std::optional(Failure{wire::Status::IncorrectShape, "no element was compared"});
    if (settings_.gpu) return std::optional<Failure>();
    INVARIANT(recorded_.has_value());
    return recorded_->check(verdict_.completed_calls, correctness);
  }

  Result<Done> end_session() {
    if (!session_) return Done{};
    end_ = TRY(session_->finish());
    verdict_.trace.evaluation.log = end_->log;
    return Done{};
  }

  StageResult count() {
    if (end_ && end_->report) audit_.fault = end_->report->fault;
    if (settings_.gpu) return count_on_gpu();
    const bool lost = stages_.failure() && stages_.failure()->status == wire::Status::Timeout;
    if (!recorded_ || lost) return std::optional<Failure>();
    // A candidate that failed before is counted too, as far as its launches can be repeated.
    const Repetition& plain = *TRY(recorded_->plain());
    if (!plain.report) {
      audit_.reason = plain.problem;
      audit_.share_class = "unverified";
      return std::optional<Failure>();
    }
    const std::optional<wire::FaultRecord> fault = audit_.fault;
    const EmulatorReport& report = *plain.report;
    const std::optional<double> operations = problems::floating_point_operations(task_);
    audit_ = audit(report, operations, {});
    if (fault) audit_.fault = fault;
    if (!plain.problem.empty()) {
      withdraw(plain.problem);
    } else if (foreign_code(report)) {
      withdraw("code ran that the build did not produce");
    } else if (!stages_.failure()) {
      audit_ = audit(report, operations, TRY(find_effects()));
    }
    return std::optional<Failure>();
  }

  // The inputs of a call that was right, with what it gave.
  Result<Done> keep_proven() {
    constexpr size_t kMostContents = 2;
    if (proven_.size() == kMostContents) return Done{};
    ProvenContent content{fmt::format("{}/content_{}", folder_, proven_.size()), {}};
    Orders from, to;
    from.inputs = folder_ + "/session/in";
    to.inputs = content.folder;
    std::error_code failure;
    std::filesystem::create_directories(content.folder, failure);
    // The session replaces its files and never writes into them, so a link keeps these.
    for (size_t i = 0; i < expected_.inputs.size() && !failure; ++i)
      std::filesystem::create_hard_link(from.input_file(i), to.input_file(i), failure);
    if (failure) return Error("cannot keep a call's inputs: " + failure.message());
    for (size_t i = expected_.inputs.size(); i < last_.bytes.size(); ++i)
      content.outputs.push_back(last_.bytes[i]);
    proven_.push_back(std::move(content));
    // The processes on the bench start while the last calls are checked.
    if (proven_.size() == std::min<size_t>(kMostContents, settings_.trials)) TRY(start_bench());
    return Done{};
  }

  Result<Done> start_bench() {
    DeviceBenchSettings bench;
    bench.orders.candidate = code_.object;
    bench.orders.ptx = candidate_.kind == Candidate::Kind::Ptx;
    if (bench.orders.ptx) bench.orders.launches = TRY(resolve_launches(candidate_.launches, task_));
    add_tensors(bench.orders, task_);
    bench.contents = proven_;
    bench.folder = folder_ + "/bench";
    bench.device = *settings_.gpu;
    bench_ = TRY(DeviceBench::start(bench, task_, toolchain_));
    return Done{};
  }

  StageResult count_on_gpu() {
    if (stages_.failure() || proven_.empty()) {
      audit_.share_class = "unverified";
      return std::optional<Failure>();
    }
    if (!bench_) TRY(start_bench());
    const Result<DeviceCounts> counts = bench_->count();
    if (!counts.ok()) return count_emulated(counts.error().message());
    audit_ = audit(counts->report, problems::floating_point_operations(task_), {});
    audit_.method = counts->method;
    if (audit_.target_instructions_executed.value_or(false) && audit_.share) {
      audit_.share_class = *audit_.share >= kFullShare ? "full" : "partial";
      audit_.reason =
          "whether the output depends on them is found out on the emulator only, not on a GPU";
    }
    return std::optional<Failure>();
  }

  // What a GPU's counters do not give, the emulator counts on the same PTX, if the task is small
  // enough for it.
  StageResult count_emulated(const std::string& reason) {
    audit_.share_class = "unverified";
    audit_.reason = reason;
    const double operations = problems::floating_point_operations(task_).value_or(INFINITY);
    if (operations > kEmulatedOperations || !require_emulator(toolchain_).ok())
      return std::optional<Failure>();
    Settings emulated = settings_;
    emulated.gpu.reset();
    emulated.trials = 1;
    emulated.extra_calls = 0;
    emulated.on_stage = nullptr;
    WorkloadVerdict verdict =
        TRY(judge_workload(candidate_, code_, task_, toolchain_, emulated, folder_ + "/emulated"));
    if (!verdict.trace.evaluation.audit) return std::optional<Failure>();
    audit_ = std::move(*verdict.trace.evaluation.audit);
    audit_.method = "emulator on the same PTX";
    audit_.reason = "not by the GPU's own counters: " + reason;
    return std::optional<Failure>();
  }

  StageResult time_on_gpu() {
    wire::Evaluation& evaluation = verdict_.trace.evaluation;
    if (!bench_) TRY(start_bench());
    TimingOutcome outcome = TRY(bench_->time());
    if (outcome.failure) {
      evaluation.performance_reason = outcome.failure->evidence;
      return outcome.failure;
    }
    wire::Performance performance;
    performance.timing = std::move(*outcome.timing);
    const wire::Timing& timing = performance.timing;
    performance.latency_ms = timing.candidate.median_ms;
    if (timing.library) {
      performance.reference_latency_ms = timing.library->median_ms;
      performance.speedup_factor = timing.library->median_ms / timing.candidate.median_ms;
    }
    evaluation.performance = std::move(performance);
    return std::optional<Failure>();
  }

  void name_gpu(wire::Evaluation& evaluation) const {
    const Result<DeviceMonitor> monitor = DeviceMonitor::open(*settings_.gpu);
    if (!monitor.ok()) return;
    evaluation.environment.hardware = monitor->facts().name;
    evaluation.environment.libs["driver"] = monitor->facts().driver;
  }

  bool for_blackwell() const {
    return !settings_.gpu && architecture_of(settings_.emulation.device) == "100a";
  }

  // Executed, perhaps; proven, no.
  void withdraw(const std::string& reason) {
    audit_.target_instructions_executed.reset();
    audit_.share.reset();
    audit_.share_class = "unverified";
    audit_.reason = reason;
  }

  bool foreign_code(const EmulatorReport& report) const {
    return std::any_of(report.kernels.begin(), report.kernels.end(),
                       [&](const ExecutedKernel& k) { return k.module_digest != code_digest_; });
  }

  Result<Effects> find_effects() {
    Effects effects;
    if (audit_.wgmma_warps > 0 || audit_.tcgen05_warps > 0)
      effects.products = TRY(recorded_->effect_of(Tamper::Products));
    if (audit_.tma_warps > 0) effects.copies = TRY(recorded_->effect_of(Tamper::Copies));
    return effects;
  }

  // Only a failure can have left the device in a state that the next candidate suffers from.
  Result<Done> probe() {
    if (!stages_.failure()) return Done{};
    const Health health = TRY(probe_device(toolchain_, settings_.emulation, folder_ + "/health"));
    verdict_.trace.evaluation.environment.libs["device_after_failure"] =
        health.usable ? "usable" : "not usable: " + health.detail;
    return Done{};
  }

  Result<WorkloadVerdict> finish() {
    wire::Evaluation& evaluation = verdict_.trace.evaluation;
    evaluation.status = stages_.failure() ? stages_.failure()->status : wire::Status::Passed;
    if (settings_.gpu)
      name_gpu(evaluation);
    else
      evaluation.environment.hardware = "emulated " + settings_.emulation.device;
    if (audit_.method.empty() && audit_.target_instructions_executed) audit_.method = "emulator";
    const SandboxSupport& sandbox = sandbox_support(settings_.gpu.has_value());
    evaluation.environment.libs["sandbox"] =
        sandbox.available ? sandbox.kind : "none: " + sandbox.reason;
    evaluation.environment.libs["input_seed"] = std::to_string(seed_);
    evaluation.environment.libs["schedule_seed"] =
        std::to_string(settings_.emulation.schedule_seed);
    if (for_blackwell()) audit_.family = "B";
    audit_.stages = stages_.records();
    evaluation.audit = std::move(audit_);
    return std::move(verdict_);
  }

  const Candidate& candidate_;
  const BuiltCode& code_;
  const std::string code_digest_;
  std::vector<ProvenContent> proven_;
  std::future<Result<Expectation>> next_;
  std::unique_ptr<DeviceBench> bench_;
  const problems::Task& task_;
  const Toolchain& toolchain_;
  const Settings& settings_;
  const std::string& folder_;
  const uint64_t seed_;
  const std::vector<PlannedCall> calls_;
  StageClock stages_{settings_.on_stage};
  WorkloadVerdict verdict_;
  wire::Audit audit_;
  std::unique_ptr<Session> session_;
  std::optional<SessionEnd> end_;
  Expectation expected_;
  CallOutcome last_;
  std::optional<RecordedCall> recorded_;
};

}  // namespace

wire::Trace describe_workload(const Candidate& candidate, const problems::Task& task) {
  wire::Trace trace;
  trace.definition = task.definition.name;
  trace.workload.uuid = task.workload.uuid;
  trace.workload.axes.insert(task.axes.begin(), task.axes.end());
  trace.workload.overrides.insert(task.overrides.begin(), task.overrides.end());
  for (const problems::TensorSpec& input : task.definition.inputs) {
    wire::InputRecord record{input.name, std::nullopt};
    const auto scalar = task.workload.scalars.find(input.name);
    if (scalar != task.workload.scalars.end()) record.scalar = scalar->second;
    trace.workload.inputs.push_back(std::move(record));
  }
  trace.solution = candidate.name;
  return trace;
}

Result<WorkloadVerdict> judge_workload(const Candidate& candidate, const BuiltCode& code,
                                       const problems::Task& task, const Toolchain& toolchain,
                                       const Settings& settings, const std::string& folder) {
  return WorkloadJudgement(candidate, code, task, toolchain, settings, folder).run();
}

}  // namespace weft::judge
