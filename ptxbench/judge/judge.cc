// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/judge.h"

#include <chrono>
#include <ctime>
#include <random>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/judge/audit.h"
#include "ptxbench/judge/correctness.h"
#include "ptxbench/judge/screen.h"
#include "ptxbench/judge/static_use.h"
#include "ptxbench/problems/inputs.h"
#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t fresh_seed() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// One judgement on its way. Stages fill the envelope; a stage that fails stops the rest.
class Judgement {
 public:
  Judgement(const Candidate& candidate, const problems::Task& task, const Toolchain& toolchain,
            const Settings& settings, TemporaryDirectory scratch)
      : candidate_(candidate),
        task_(task),
        toolchain_(toolchain),
        settings_(settings),
        scratch_(std::move(scratch)) {
    wire::Envelope& e = envelope_;
    e.evaluation_id = fmt::format("ev_{:016x}{:016x}", fresh_seed(), fresh_seed());
    e.task_id = task.definition.name;
    e.definition = task.definition.name;
    e.workload_uuids = {task.workload.uuid};
    e.kernel_sha256 = candidate.sha256;
    e.min_speedup_reason = "no GPU";
    e.sanitizer.requested_runs = settings.trials;
    e.audit.reason = "the candidate was not run";
    evaluation_.performance_reason = "no GPU";
    evaluation_.correctness_reason = "the candidate was not run";
    evaluation_.environment.hardware = "emulated " + settings.emulation.device;
    evaluation_.timestamp = timestamp();
  }

  // After each stage: true when the next one may start.
  Result<wire::Envelope> run() {
    for (const char* stage : kStages)
      envelope_.audit.stages.push_back({stage, std::nullopt, 0, ""});
    // The candidate keeps to what it may use.
    bool going = TRY(stage(0, &Judgement::screen));
    // It is a shared object (or PTX text that says how it is launched).
    if (going) going = TRY(stage(1, &Judgement::build));
    // It ran to its end on every trial's inputs without a fault.
    if (going) going = TRY(stage(2, &Judgement::execute));
    // What it wrote is right, and it wrote nothing else.
    if (going) going = TRY(stage(3, &Judgement::correctness));
    // What it executed is counted, also when it failed above.
    TRY(stage(4, &Judgement::audit_counts));
    return finish();
  }

 private:
  static constexpr const char* kStages[] = {"screen", "build", "run", "correctness", "audit"};
  struct Failed {
    wire::Status status;
    std::string evidence;
  };
  using StageResult = Result<std::optional<Failed>>;

  Result<bool> stage(size_t index, StageResult (Judgement::*work)()) {
    if (settings_.on_stage) settings_.on_stage(kStages[index]);
    const Clock::time_point start = Clock::now();
    const std::optional<Failed> failed = TRY((this->*work)());
    wire::StageRecord& record = envelope_.audit.stages[index];
    record.seconds = seconds_since(start);
    if (index == 4 && !run_) return false;  // nothing to count: the record stays "not reached"
    record.passed = !failed.has_value();
    if (!failed) return true;
    record.evidence = failed->evidence;
    if (!failure_) failure_ = *failed;
    return false;
  }

  StageResult screen() {
    const Result<Done> screened = screen_source(candidate_);
    if (screened.ok()) return std::optional<Failed>();
    const Diagnostic& first = screened.error().diagnostics.front();
    envelope_.compile_log = format(screened.error());
    return std::optional(
        Failed{wire::Status::CompileError,
               first.file.empty()
                   ? first.message
                   : fmt::format("{}:{}: {}", first.file, first.position.line, first.message)});
  }

  StageResult build() {
    std::string ptx = candidate_.source;
    if (candidate_.kind == Candidate::Kind::Cuda) {
      const std::string folder = scratch_.file("build");
      TRY(write_file(folder + "/README", "A candidate is built here.\n"));
      const BuildOutcome built =
          TRY(build_candidate(candidate_, toolchain_, folder, settings_.build_limits));
      envelope_.compile_log = built.log;
      if (!built.built) return std::optional(Failed{wire::Status::CompileError, built.failure});
      const Result<Done> screened = screen_object(built.object);
      if (!screened.ok())
        return std::optional(Failed{wire::Status::CompileError, screened.error().message()});
      object_ = built.object;
      ptx = built.ptx;
    }
    Result<StaticUse> use = static_use(
        ptx, candidate_.kind == Candidate::Kind::Ptx ? candidate_.path : candidate_.name + ".ptx");
    if (use.ok()) {
      envelope_.ptx = wire::PtxSummary{sha256(ptx), ptx.size(), use->virtual_arch,
                                       use->instruction_counts, use->architecture_counts};
    } else if (candidate_.kind == Candidate::Kind::Ptx) {
      envelope_.compile_log = format(use.error());
      const Diagnostic& first = use.error().diagnostics.front();
      return std::optional(
          Failed{wire::Status::CompileError,
                 fmt::format("{}:{}: {}", first.file, first.position.line, first.message)});
    } else {
      envelope_.compile_log += "\nThe PTX of this build was not understood: " + format(use.error());
    }
    if (candidate_.kind == Candidate::Kind::Ptx) {
      object_ = scratch_.file("build/candidate.ptx");
      TRY(write_file(object_, candidate_.source));
    }
    return std::optional<Failed>();
  }

  StageResult execute() {
    request_.orders.candidate = object_;
    if (candidate_.kind == Candidate::Kind::Ptx) {
      request_.orders.ptx = true;
      Result<std::vector<ResolvedLaunch>> launches = resolve_launches(candidate_.launches, task_);
      if (!launches.ok())
        return std::optional(Failed{wire::Status::RuntimeError, launches.error().message()});
      request_.orders.launches = std::move(launches).value();
    }
    seed_ = settings_.input_seed != 0 ? settings_.input_seed : fresh_seed();
    for (unsigned trial = 0; trial < settings_.trials; ++trial) {
      request_.trials.push_back(TRY(problems::make_inputs(task_, seed_, trial)));
    }
    run_ = TRY(run_candidate(request_, task_, toolchain_, scratch_.file("run"), settings_.emulation,
                             settings_.run_limits));
    evaluation_.log = run_->log;
    envelope_.sanitizer.completed_runs = run_->worker.completed_trials;
    envelope_.sanitizer.clean = !run_->failure && run_->worker.damage.empty();
    if (run_->failure) {
      evaluation_.correctness_reason = "the candidate did not run to its end";
      return std::optional(Failed{*run_->failure, run_->evidence});
    }
    return std::optional<Failed>();
  }

  StageResult correctness() {
    CorrectnessOutcome outcome = TRY(check_correctness(request_, *run_, task_));
    evaluation_.correctness = std::move(outcome.correctness);
    if (outcome.failure) return std::optional(Failed{*outcome.failure, outcome.evidence});
    return std::optional<Failed>();
  }

  StageResult audit_counts() {
    if (!run_) return std::optional<Failed>();
    std::vector<wire::StageRecord> stages = std::move(envelope_.audit.stages);
    if (run_->report) {
      std::optional<double> operations = problems::floating_point_operations(task_);
      const unsigned begun = std::max(1u, run_->worker.completed_trials);
      if (operations) *operations *= begun;
      envelope_.audit = audit(*run_->report, operations);
    } else {
      envelope_.audit.reason = run_->report_problem;
    }
    envelope_.audit.stages = std::move(stages);
    return std::optional<Failed>();
  }

  wire::Envelope finish() {
    const SandboxSupport& sandbox = sandbox_support();
    envelope_.status = failure_ ? failure_->status : wire::Status::Passed;
    evaluation_.status = envelope_.status;
    evaluation_.environment.libs["sandbox"] =
        sandbox.available ? "bubblewrap" : "none: " + sandbox.reason;
    evaluation_.environment.libs["input_seed"] = std::to_string(seed_);
    evaluation_.environment.libs["schedule_seed"] =
        std::to_string(settings_.emulation.schedule_seed);
    wire::Trace trace;
    trace.definition = task_.definition.name;
    trace.workload.uuid = task_.workload.uuid;
    trace.workload.axes.insert(task_.axes.begin(), task_.axes.end());
    trace.workload.overrides.insert(task_.overrides.begin(), task_.overrides.end());
    for (const problems::TensorSpec& input : task_.definition.inputs)
      trace.workload.inputs.push_back(input.name);
    trace.solution = candidate_.name;
    trace.evaluation = std::move(evaluation_);
    envelope_.traces.push_back(std::move(trace));
    return std::move(envelope_);
  }

  const Candidate& candidate_;
  const problems::Task& task_;
  const Toolchain& toolchain_;
  const Settings& settings_;
  TemporaryDirectory scratch_;
  wire::Envelope envelope_;
  wire::Evaluation evaluation_;
  std::optional<Failed> failure_;
  std::string object_;
  uint64_t seed_ = 0;
  RunRequest request_;
  std::optional<RunOutcome> run_;
};

}  // namespace

Result<wire::Envelope> judge(const Candidate& candidate, const problems::Task& task,
                             const Toolchain& toolchain, const Settings& settings) {
  if (settings.trials == 0 || settings.trials > std::size(kPoisons)) {
    return Error(fmt::format("number of trials out of range: {}", settings.trials),
                 fmt::format("1 to {}", std::size(kPoisons)));
  }
  TemporaryDirectory scratch = TRY(TemporaryDirectory::create("ptxbench"));
  return Judgement(candidate, task, toolchain, settings, std::move(scratch)).run();
}

}  // namespace weft::judge
