// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/judge.h"

#include <sys/statvfs.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/judge/architecture.h"
#include "ptxbench/judge/random_seed.h"
#include "ptxbench/judge/screen.h"
#include "ptxbench/judge/stage_clock.h"
#include "ptxbench/judge/static_use.h"
#include "ptxbench/judge/trials.h"
#include "ptxbench/judge/workload_verdict.h"

namespace weft::judge {
namespace {

// Tensors as large as this may lie in memory as files, several times over.
constexpr uint64_t kSmallTask = 64 << 20;
constexpr uint64_t kCopies = 16;                // of a task's tensors, at most, with recordings
constexpr uint64_t kSpare = uint64_t{1} << 30;  // bytes that stay free

// On a disk every file of a call costs milliseconds: blocks are found, given back and discarded.
Result<TemporaryDirectory> make_scratch(const std::string& memory,
                                        std::span<const problems::Task> tasks) {
  uint64_t largest = 0;
  for (const problems::Task& task : tasks) largest = std::max(largest, task.bytes());
  struct statvfs space {};
  const bool fits = !memory.empty() && largest <= kSmallTask && tasks.size() == 1 &&
                    statvfs(memory.c_str(), &space) == 0 &&
                    space.f_bavail * space.f_frsize >= kSpare + kCopies * largest;
  return fits ? TemporaryDirectory::create_in(memory, "ptxbench")
              : TemporaryDirectory::create("ptxbench");
}

// One judgement on its way. Stages fill the envelope; a stage that fails stops the rest.
class Judgement {
 public:
  Judgement(const Candidate& candidate, std::span<const problems::Task> tasks,
            const Toolchain& toolchain, const Settings& settings, TemporaryDirectory scratch)
      : candidate_(candidate),
        tasks_(tasks),
        toolchain_(toolchain),
        settings_(settings),
        scratch_(std::move(scratch)) {
    wire::Envelope& e = envelope_;
    e.evaluation_id = fmt::format("ev_{:016x}{:016x}", random_seed(), random_seed());
    e.task_id = tasks.front().definition.name;
    e.definition = tasks.front().definition.name;
    for (const problems::Task& task : tasks) e.workload_uuids.push_back(task.workload.uuid);
    e.kernel_sha256 = candidate.sha256;
    e.audit.reason = "the candidate was not run";
  }

  Result<wire::Envelope> run() {
    // The candidate keeps to what it may use.
    bool going = TRY(stages_.run("screen", [&] { return screen(); }));
    // It is a shared object (or PTX text that says how it is launched).
    going = TRY(stages_.run("build", going, [&] { return build(); }));
    // Sanitize, correctness, audit and timing, for each workload.
    for (const problems::Task& task : tasks_) {
      if (going)
        TRY(judge_one(task));
      else
        envelope_.traces.push_back(unreached(task));
    }
    return finish(going);
  }

 private:
  using StageResult = Result<std::optional<Failure>>;

  StageResult screen() {
    const Result<Done> screened = screen_source(candidate_);
    if (screened.ok()) return std::optional<Failure>();
    return compile_error(screened.error());
  }

  std::optional<Failure> compile_error(const Error& error) {
    const Diagnostic& first = error.diagnostics.front();
    envelope_.compile_log = format(error);
    return Failure{wire::Status::CompileError,
                   first.file.empty()
                       ? first.message
                       : fmt::format("{}:{}: {}", first.file, first.position.line, first.message)};
  }

  StageResult build() {
    std::string ptx = candidate_.source;
    const bool bare = candidate_.kind == Candidate::Kind::Ptx;
    if (!bare) {
      const std::string folder = scratch_.file("build");
      TRY(write_file(folder + "/README", "A candidate is built here.\n"));
      const BuildOutcome built =
          TRY(build_for(architecture_of(settings_.emulation.device), candidate_, toolchain_,
                        {folder, settings_.build_cache, settings_.cancel}, settings_.build_limits));
      envelope_.compile_log = built.log;
      if (!built.built) return std::optional(Failure{wire::Status::CompileError, built.failure});
      const Result<Done> screened = screen_object(built.object);
      if (!screened.ok())
        return std::optional(Failure{wire::Status::CompileError, screened.error().message()});
      code_.object = built.object;
      ptx = built.ptx;
    }
    Result<StaticUse> use = static_use(ptx, bare ? candidate_.path : candidate_.name + ".ptx");
    if (use.ok()) {
      envelope_.ptx = wire::PtxSummary{sha256(ptx), ptx.size(), use->virtual_arch,
                                       use->instruction_counts, use->architecture_counts};
    } else if (bare) {
      return compile_error(use.error());
    } else {
      envelope_.compile_log += "\nThe PTX of this build was not understood: " + format(use.error());
    }
    if (bare) {
      code_.object = scratch_.file("build/candidate.ptx");
      TRY(write_file(code_.object, candidate_.source));
    }
    code_.ptx = std::move(ptx);
    return std::optional<Failure>();
  }

  Result<Done> judge_one(const problems::Task& task) {
    const std::string folder = scratch_.file(fmt::format("workload_{}", envelope_.traces.size()));
    WorkloadVerdict verdict =
        TRY(judge_workload(candidate_, code_, task, toolchain_, settings_, folder));
    envelope_.sanitizer.requested_runs += verdict.requested_calls;
    envelope_.sanitizer.completed_runs += verdict.completed_calls;
    envelope_.sanitizer.clean =
        verdict.clean && (envelope_.traces.empty() || envelope_.sanitizer.clean);
    envelope_.traces.push_back(std::move(verdict.trace));
    return Done{};
  }

  wire::Trace unreached(const problems::Task& task) const {
    wire::Trace trace = describe_workload(candidate_, task);
    trace.evaluation.status = stages_.failure()->status;
    trace.evaluation.log = stages_.failure()->evidence;
    trace.evaluation.correctness_reason = "the candidate was not run";
    trace.evaluation.performance_reason = "the candidate was not run";
    return trace;
  }

  // The trace that decides: the first that did not pass, else the one whose target instructions
  // did the smallest share of the work.
  const wire::Trace& deciding() const {
    const auto failed = std::find_if(
        envelope_.traces.begin(), envelope_.traces.end(),
        [](const wire::Trace& t) { return t.evaluation.status != wire::Status::Passed; });
    if (failed != envelope_.traces.end()) return *failed;
    const auto share = [](const wire::Trace& t) { return t.evaluation.audit->share.value_or(0); };
    return *std::min_element(
        envelope_.traces.begin(), envelope_.traces.end(),
        [&](const wire::Trace& a, const wire::Trace& b) { return share(a) < share(b); });
  }

  wire::Envelope finish(bool ran) {
    const wire::Trace& trace = deciding();
    envelope_.status = trace.evaluation.status;
    std::vector<wire::StageRecord> stages = stages_.records();
    if (ran) {
      envelope_.audit = *trace.evaluation.audit;
      stages.insert(stages.end(), envelope_.audit.stages.begin(), envelope_.audit.stages.end());
    } else {
      for (const char* name : {"sanitize", "correctness", "audit", "timing"})
        stages.push_back({name, std::nullopt, 0, ""});
    }
    envelope_.audit.stages = std::move(stages);
    return std::move(envelope_);
  }

  const Candidate& candidate_;
  const std::span<const problems::Task> tasks_;
  const Toolchain& toolchain_;
  const Settings& settings_;
  TemporaryDirectory scratch_;
  StageClock stages_{settings_.on_stage};
  wire::Envelope envelope_;
  BuiltCode code_;
};

}  // namespace

Result<wire::Envelope> judge(const Candidate& candidate, std::span<const problems::Task> tasks,
                             const Toolchain& toolchain, const Settings& settings) {
  if (tasks.empty())
    return Error("no workload to judge", "a verdict needs at least one workload of the definition");
  if (settings.trials == 0 || settings.trials > kMostTrials) {
    return Error(fmt::format("number of trials out of range: {}", settings.trials),
                 fmt::format("1 to {}", kMostTrials));
  }
  TemporaryDirectory scratch = TRY(make_scratch(settings.memory_scratch, tasks));
  return Judgement(candidate, tasks, toolchain, settings, std::move(scratch)).run();
}

Result<wire::Envelope> judge(const Candidate& candidate, const problems::Task& task,
                             const Toolchain& toolchain, const Settings& settings) {
  return judge(candidate, std::span(&task, 1), toolchain, settings);
}

}  // namespace weft::judge
