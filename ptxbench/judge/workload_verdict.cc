// SPDX-License-Identifier: Apache-2.0

// The calls and why each is made:
//   1  fresh inputs                        faults, guard zones, every element written
//   2  fresh inputs, same memory           results kept by pointer or shape
//   3  the same inputs, other memory       pointers kept from before; equal bits expected
//   4+ fresh inputs, none to a few times   results right for the first calls only
// and, without the candidate's process, the launches of call 1 again (repetition.h):
//   +  fresh inputs, another schedule      work done by the host; races; memory never written
//   +  wgmma's results made nonsense       products that nobody uses
//   +  copied bytes made nonsense          copies that nobody uses
// Poison and guard patterns change from call to call.
#include "ptxbench/judge/workload_verdict.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <future>

#include <fmt/format.h>

#include "base/mix.h"
#include "base/sandbox.h"
#include "ptxbench/judge/audit.h"
#include "ptxbench/judge/device_bench.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/health.h"
#include "ptxbench/judge/random_seed.h"
#include "ptxbench/judge/repetition.h"
#include "ptxbench/judge/replay/module_digest.h"
#include "ptxbench/judge/stage_clock.h"
#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

// One is NaN in every floating type, the other a huge number.
constexpr uint8_t kPoisons[] = {0xFF, 0x7B};
constexpr uint8_t kGuards[] = {0x7D, 0xFF};

// The inputs of the repetition: no call has them.
constexpr unsigned kUnseenTrial = 1000;

// As much as the emulator may be asked for in the place of a GPU's counters, in floating-point
// operations.
constexpr double kEmulatedOperations = 1e10;

// A task so small that more calls cost nothing, in floating-point operations.
constexpr double kSmallTask = 1e9;

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
        seed_(settings.input_seed != 0 ? settings.input_seed : random_seed()) {
    verdict_.trace = describe_workload(candidate, task);
  }

  Result<WorkloadVerdict> run() {
    wire::Evaluation& evaluation = verdict_.trace.evaluation;
    evaluation.timestamp = timestamp();
    evaluation.performance_reason = settings_.gpu ? "the candidate was not timed" : "no GPU";
    evaluation.correctness_reason = "the candidate did not run to its end";
    audit_.reason = "the candidate did not run to its end";
    plan_calls();
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
  struct PlannedCall {
    unsigned trial = 0;  // of the inputs
    bool move = false;
  };

  // Drawn from the seed of the inputs, so that a replay makes the same calls.
  void plan_calls() {
    for (unsigned trial = 0; trial < settings_.trials; ++trial) calls_.push_back({trial, false});
    calls_.push_back({settings_.trials - 1, true});
    const std::optional<double> operations = problems::floating_point_operations(task_);
    if (settings_.extra_calls > 0 && operations.value_or(0) < kSmallTask) {
      const uint64_t extra = mix(seed_, 1) % (settings_.extra_calls + 1);
      for (unsigned i = 0; i < extra; ++i) calls_.push_back({settings_.trials + i, false});
    }
    verdict_.requested_calls = static_cast<unsigned>(calls_.size());
    first_pattern_ = static_cast<unsigned>(mix(seed_, 2) % 2);
  }

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
    const bool fresh = index == 0 || calls_[index].trial != calls_[index - 1].trial;
    last_ = TRY(session_->call({.inputs = fresh ? &expected_.inputs : nullptr,
                                .poison = poison(index),
                                .guard = kGuards[(first_pattern_ + index) % 2],
                                .move = calls_[index].move,
                                .record = index == 0 && !settings_.gpu}));
    if (index == 0) {
      recording_ = last_.recording;
      addresses_ = last_.report.addresses;
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
        const bool again = calls_[index].trial == calls_[index - 1].trial;
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
      const std::optional<Failure> failure =
          TRY(check_tensors(task_, expected_, last_.bytes, poison(index), index, correctness));
      if (failure) return failure;
      if (settings_.gpu && !calls_[index].move) TRY(keep_proven());
    }
    if (correctness.elements_compared == 0)
      return std::optional(Failure{wire::Status::IncorrectShape, "no element was compared"});
    return repetition();
  }

  // The recorded call once more without the candidate's host code, on inputs that it never saw and
  // with another schedule. Its counts are the audit's.
  StageResult repetition() {
    if (settings_.gpu) return std::optional<Failure>();
    first_unseen_ = TRY(expect(task_, seed_, kUnseenTrial));
    plain_ = TRY(repeat_call(Tamper::Nothing));
    if (!plain_->problem.empty()) return std::optional<Failure>();
    if (plain_->report->fault) return fault_alone();
    wire::Correctness ignored;
    std::optional<Failure> failure = TRY(check_tensors(
        task_, first_unseen_, plain_->bytes, poison(0), verdict_.completed_calls, ignored));
    verdict_.trace.evaluation.correctness->elements_compared += ignored.elements_compared;
    if (failure) {
      failure->evidence = fmt::format(
          "the launches of the first call, repeated without the host code that made them (other "
          "inputs, schedule seed {}): {}",
          repetition_seed_, failure->evidence);
    }
    return failure;
  }

  std::optional<Failure> fault_alone() const {
    const wire::FaultRecord& fault = *plain_->report->fault;
    return Failure{
        fault.kind == "time limit" ? wire::Status::Timeout : wire::Status::RuntimeError,
        fmt::format("the launches of the first call, repeated without the host code that made them "
                    "(other inputs, schedule seed {}): {}: {} in {}",
                    repetition_seed_, fault.kind, fault.message, fault.kernel)};
  }

  Result<Repetition> repeat_call(Tamper tamper) {
    RepetitionRequest request{.recording = recording_,
                              .addresses = addresses_,
                              .sizes = {},
                              .inputs = &first_unseen_.inputs,
                              .poison = poison(0),
                              .schedule_seed = repetition_seed_,
                              .tamper = tamper,
                              .folder = folder_ + "/repetition",
                              .emulation = settings_.emulation,
                              .limits = settings_.run_limits,
                              .cancel = settings_.cancel};
    for (const auto* specs : {&task_.definition.inputs, &task_.definition.outputs}) {
      for (const problems::TensorSpec& spec : *specs) {
        uint64_t bytes = problems::byte_size(spec.dtype);
        for (const int64_t extent : task_.shape(spec)) bytes *= static_cast<uint64_t>(extent);
        request.sizes.push_back(bytes);
      }
    }
    return repeat(request, toolchain_);
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
    if (recording_.empty() || lost) return std::optional<Failure>();
    // A candidate that failed before is counted too, as far as its launches can be repeated.
    if (!plain_) {
      first_unseen_ = TRY(expect(task_, seed_, kUnseenTrial));
      plain_ = TRY(repeat_call(Tamper::Nothing));
    }
    if (!plain_->report) {
      audit_.reason = plain_->problem;
      audit_.share_class = "unverified";
      return std::optional<Failure>();
    }
    const std::optional<wire::FaultRecord> fault = audit_.fault;
    const EmulatorReport& report = *plain_->report;
    const std::optional<double> operations = problems::floating_point_operations(task_);
    audit_ = audit(report, operations, {});
    if (fault) audit_.fault = fault;
    if (!plain_->problem.empty()) {
      withdraw(plain_->problem);
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
    Result<EmulatorReport> counts = bench_->count();
    if (!counts.ok()) return count_emulated(counts.error().message());
    audit_ = audit(*counts, problems::floating_point_operations(task_), {});
    audit_.method = "cupti sass metrics";
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
    if (audit_.wgmma_warps > 0) effects.products = TRY(effect_of(Tamper::Products));
    if (audit_.tma_warps > 0) effects.copies = TRY(effect_of(Tamper::Copies));
    return effects;
  }

  // The share of the output's elements that differ without those results. A kernel that then fails
  // depends on them altogether.
  Result<double> effect_of(Tamper tamper) {
    const Repetition changed = TRY(repeat_call(tamper));
    if (changed.bytes.empty()) return 1.0;
    uint64_t elements = 0, differing = 0;
    for (size_t i = first_unseen_.inputs.size(); i < plain_->bytes.size(); ++i) {
      const std::string &a = plain_->bytes[i], &b = changed.bytes[i];
      const size_t element =
          problems::byte_size(task_.definition.outputs[i - first_unseen_.inputs.size()].dtype);
      for (size_t at = 0; at < a.size(); at += element) {
        ++elements;
        differing += a.compare(at, element, b, at, element) != 0;
      }
    }
    return elements == 0 ? 0.0 : static_cast<double>(differing) / static_cast<double>(elements);
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
    const SandboxSupport& sandbox = sandbox_support();
    evaluation.environment.libs["sandbox"] =
        sandbox.available ? sandbox.kind : "none: " + sandbox.reason;
    evaluation.environment.libs["input_seed"] = std::to_string(seed_);
    evaluation.environment.libs["schedule_seed"] =
        std::to_string(settings_.emulation.schedule_seed);
    audit_.stages = stages_.records();
    evaluation.audit = std::move(audit_);
    return std::move(verdict_);
  }

  uint8_t poison(unsigned index) const { return kPoisons[(first_pattern_ + index) % 2]; }

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
  StageClock stages_{settings_.on_stage};
  WorkloadVerdict verdict_;
  wire::Audit audit_;
  std::vector<PlannedCall> calls_;
  unsigned first_pattern_ = 0;
  std::unique_ptr<Session> session_;
  std::optional<SessionEnd> end_;
  Expectation expected_;
  CallOutcome last_;
  // Of the first call.
  std::string recording_;
  std::vector<uint64_t> addresses_;
  Expectation first_unseen_;
  std::optional<Repetition> plain_;
  // Odd: shared memory then begins with another pattern than in the calls.
  const uint64_t repetition_seed_ = random_seed() % 1'000'000 * 2 + 1;
};

}  // namespace

wire::Trace describe_workload(const Candidate& candidate, const problems::Task& task) {
  wire::Trace trace;
  trace.definition = task.definition.name;
  trace.workload.uuid = task.workload.uuid;
  trace.workload.axes.insert(task.axes.begin(), task.axes.end());
  trace.workload.overrides.insert(task.overrides.begin(), task.overrides.end());
  for (const problems::TensorSpec& input : task.definition.inputs)
    trace.workload.inputs.push_back(input.name);
  trace.solution = candidate.name;
  return trace;
}

Result<WorkloadVerdict> judge_workload(const Candidate& candidate, const BuiltCode& code,
                                       const problems::Task& task, const Toolchain& toolchain,
                                       const Settings& settings, const std::string& folder) {
  return WorkloadJudgement(candidate, code, task, toolchain, settings, folder).run();
}

}  // namespace weft::judge
