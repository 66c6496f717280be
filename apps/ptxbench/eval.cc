// SPDX-License-Identifier: Apache-2.0

// ptxbench eval: the verdict on one kernel for one task.
#include <unistd.h>

#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "ptxbench/judge/build_cache.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/judge.h"
#include "ptxbench/judge/trials.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string kernel, task, workload, set, device = "emulated", model, arch = "hopper", folder,
                                           source_root, save;
  bool json = false;
  judge::Settings settings;
};

std::string axes_text(const wire::WorkloadRecord& workload) {
  std::string text;
  for (const auto& [name, value] : workload.axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

void print_stages(const wire::Audit& audit) {
  for (const wire::StageRecord& stage : audit.stages) {
    const char* state = !stage.passed ? "not reached" : *stage.passed ? "passed" : "FAILED";
    print(fmt::format("  {:<12} {:<12} {:7.2f} s  {}\n", stage.stage, state, stage.seconds,
                      stage.evidence));
  }
}

void print_audit(const wire::Audit& audit) {
  if (!audit.target_instructions_executed) {
    print(fmt::format("audit: not measured: {}\n", audit.reason));
    return;
  }
  const std::string_view product = wire::tensor_instruction(audit.family);
  print(fmt::format(
      "audit: target instructions executed: {} ({} {} warps, TMA {} warps; counted by {})\n",
      *audit.target_instructions_executed ? "yes" : "no", product,
      product == "wgmma" ? audit.wgmma_warps : audit.tcgen05_warps, audit.tma_warps, audit.method));
  if (audit.share) {
    print(fmt::format("       share of the arithmetic by {}: {} ({})\n", product,
                      percent(*audit.share), audit.share_class));
  }
  // Unrolled loops repeat an instruction; one line a place is enough here, the JSON has them all.
  std::map<std::pair<std::string, std::string>, uint64_t> places;
  for (const wire::KernelUse& kernel : audit.kernels) {
    for (const wire::InstructionUse& use : kernel.targets) {
      const std::string place = use.source_file.empty()
                                    ? fmt::format("PTX line {}", use.ptx_line)
                                    : fmt::format("{}:{}", use.source_file, use.source_line);
      places[{place, use.opcode}] += use.warps;
    }
  }
  for (const auto& [use, warps] : places) {
    print(fmt::format("       {:>10} warps  {}  {}\n", warps, use.first, use.second));
  }
}

std::string condition_text(const wire::DeviceCondition& state) {
  return fmt::format("SM {} MHz, memory {} MHz, {:.0f} W, {} C{}", state.sm_mhz, state.memory_mhz,
                     state.watts, state.celsius,
                     state.throttled.empty() ? "" : ", throttled: " + state.throttled);
}

void print_samples(const char* name, const wire::Samples& samples) {
  print(fmt::format(
      "  {:<10} {:10.4f} ms  p10 {:.4f}  p90 {:.4f}  spread {}  ({} samples{})\n", name,
      samples.median_ms, samples.p10_ms, samples.p90_ms, percent(samples.spread),
      samples.nanoseconds.size(),
      samples.wall_ms ? fmt::format(", {:.4f} ms a call back to back", *samples.wall_ms) : ""));
}

void print_timing(const wire::Evaluation& evaluation) {
  if (!evaluation.performance) {
    print(fmt::format("timing: null ({})\n", evaluation.performance_reason));
    return;
  }
  const wire::Timing& timing = evaluation.performance->timing;
  print(fmt::format("timing: {} ({}, cold L2)\n", evaluation.environment.hardware, timing.timer));
  print_samples("candidate", timing.candidate);
  if (timing.library) {
    print_samples("library", *timing.library);
    print(fmt::format("  library: {} {}, {}, {}\n", timing.library_record.name,
                      timing.library_record.version, timing.library_record.algorithm,
                      timing.library_record.precision));
    print(
        fmt::format("  speed-up {:.4f}; paired ratio {:.4f}, {:.0f} % interval {:.4f} to {:.4f}\n",
                    *evaluation.performance->speedup_factor, timing.ratio_median,
                    100 * timing.ratio_confidence, timing.ratio_low, timing.ratio_high));
  } else {
    print(fmt::format("  library: null ({})\n", timing.library_reason));
  }
  if (timing.floor_ms) print(fmt::format("  roofline floor {:.4f} ms\n", *timing.floor_ms));
  if (timing.empty_kernel_ms)
    print(fmt::format("  empty kernel {:.4f} ms\n", *timing.empty_kernel_ms));
  print(fmt::format("  outputs of {} timed calls checked; before: {}; after: {}\n",
                    timing.outputs_checked, condition_text(timing.before),
                    condition_text(timing.after)));
  for (const std::string& note : timing.notes) print("  note: " + note + "\n");
}

void print_verdict(const wire::Envelope& envelope) {
  const wire::Trace& trace = envelope.traces.front();
  print(fmt::format("{}  {} on {} ({})\n", wire::name(envelope.status), trace.solution,
                    envelope.definition, axes_text(trace.workload)));
  if (!trace.workload.overrides.empty()) print("a reduced task: axes were changed with --set\n");
  print_stages(envelope.audit);
  if (const auto& correctness = trace.evaluation.correctness) {
    print(fmt::format("errors: at most {:.3g} absolute, {:.3g} relative\n",
                      correctness->max_absolute_error, correctness->max_relative_error));
  }
  print_audit(envelope.audit);
  print_timing(trace.evaluation);
  if (envelope.audit.fault && !envelope.audit.fault->text.empty())
    print("\n" + envelope.audit.fault->text + "\n");
  if (envelope.status == wire::Status::CompileError && !envelope.compile_log.empty())
    print("\n" + envelope.compile_log + "\n");
}

int eval(Options& options) {
  const judge::Toolchain toolchain = judge::find_toolchain();
  const std::string folder = options.folder.empty() ? toolchain.problems : options.folder;
  if (folder.empty())
    return fail(Error("the task folder is missing: problems/", "name it with --problems"),
                kEnvironment);
  const Result<problems::Catalogue> catalogue = problems::Catalogue::open(folder);
  if (!catalogue.ok()) return fail(catalogue.error(), kUsage);
  Result<problems::Overrides> overrides = problems::parse_overrides(options.set);
  if (!overrides.ok()) return fail(overrides.error(), kUsage);
  const Result<problems::Task> task =
      catalogue->task(options.task, options.workload, std::move(overrides).value());
  if (!task.ok()) return fail(task.error(), kUsage);
  const Result<judge::Candidate> candidate =
      judge::load_candidate(options.kernel, options.source_root);
  if (!candidate.ok()) return fail(candidate.error(), kUsage);
  if (candidate->kind == judge::Candidate::Kind::Cuda) {
    const Result<Done> compiler = judge::require_nvcc(toolchain);
    if (!compiler.ok()) return fail(compiler.error(), kEnvironment);
  }
  const Result<std::optional<unsigned>> gpu = judge::parse_device(options.device);
  if (!gpu.ok()) return fail(gpu.error(), kUsage);
  options.settings.gpu = *gpu;
  if (*gpu) {
    const Result<judge::DeviceMonitor> monitor = judge::DeviceMonitor::open(**gpu);
    if (!monitor.ok()) return fail(monitor.error(), kEnvironment);
  } else {
    const Result<Done> emulator = judge::require_emulator(toolchain);
    if (!emulator.ok()) return fail(emulator.error(), kEnvironment);
  }

  const bool blackwell = options.arch == "blackwell";
  options.settings.emulation.device = !options.model.empty() ? options.model
                                      : blackwell            ? "b200"
                                                             : "h100";
  if (blackwell != (options.settings.emulation.device == "b200"))
    return fail(Error(fmt::format("--arch {} and --model {} do not fit", options.arch,
                                  options.settings.emulation.device),
                      "b200 is the model of blackwell, h100 and h200 are those of hopper"),
                kUsage);
  options.settings.build_cache = judge::default_build_cache();
  if (!options.json && isatty(STDERR_FILENO)) {
    options.settings.on_stage = [](std::string_view stage) {
      std::fprintf(stderr, "\r\033[K%.*s ...", static_cast<int>(stage.size()), stage.data());
    };
  }
  const Result<wire::Envelope> envelope =
      judge::judge(*candidate, *task, toolchain, options.settings);
  if (options.settings.on_stage) std::fprintf(stderr, "\r\033[K");
  if (!envelope.ok()) return fail(envelope.error(), kEnvironment);
  const Json json = wire::to_json(*envelope);
  if (!options.save.empty()) {
    const Result<Done> written = write_json(options.save, json);
    if (!written.ok()) return fail(written.error(), kEnvironment);
  }
  if (options.json)
    print_json(json);
  else
    print_verdict(*envelope);
  return envelope->all_passed() ? kPassed : kFailed;
}

}  // namespace

void add_eval(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  judge::Settings& settings = options->settings;
  CLI::App* verb = app.add_subcommand(
      "eval", "Judges a kernel: screen, build, sanitize, correctness, audit, timing");
  verb->footer(
      "Exit codes: 0 passed, 1 failed, 2 usage, 3 environment, 4 internal.\n"
      "Examples:\n"
      "  ptxbench eval kernels/hopper/gemm_wgmma.cu --task gemm_n2048_k4096 --set "
      "M=256,N=256,K=512\n"
      "  ptxbench eval kernels/hopper/attention_forward_wgmma.cu --task mha_with_lse_d128 --set "
      "B=1,H=2,S=256 --json\n"
      "  ptxbench eval kernels/blackwell/gemm_tcgen05.cu --arch blackwell --task gemm_n2048_k4096 "
      "--set M=256,N=256,K=512\n"
      "  ptxbench eval kernel.ptx --task gemm_n128_k2048 --workload 0d2d6ae7");
  verb->add_option("kernel", options->kernel, "A .cu or .ptx file (docs/candidates.md)")
      ->required();
  verb->add_option("--task", options->task, "Task: see ptxbench tasks list")->required();
  verb->add_option("--workload", options->workload,
                   "Workload, by uuid or its beginning (default: the largest)");
  verb->add_option("--set", options->set, "Axis values that replace the workload's: M=256,K=512");
  verb->add_option("--device", options->device, "Where to run it: emulated, or cuda:0 and so on")
      ->default_str("emulated");
  verb->add_option("--arch", options->arch, "What the kernel is compiled for")
      ->check(CLI::IsMember({"hopper", "blackwell"}))
      ->default_str("hopper");
  verb->add_option("--model", options->model,
                   "Device to emulate (default: h100 for hopper, b200 for blackwell)")
      ->check(CLI::IsMember({"h100", "h200", "b200"}));
  verb->add_option("--schedule-seed", settings.emulation.schedule_seed,
                   "Perturb warp order and completion times");
  verb->add_option("--workers", settings.emulation.workers,
                   "Host threads of the emulator (default: one per core)");
  verb->add_option("--input-seed", settings.input_seed,
                   "Repeat the inputs of an earlier run (default: fresh ones)");
  verb->add_option("--trials", settings.trials, "Calls with fresh inputs, at least")
      ->check(CLI::Range(1u, judge::kMostTrials));
  verb->add_option("--timeout", settings.run_limits.seconds, "Seconds that the candidate may run")
      ->check(CLI::PositiveNumber);
  verb->add_option("--build-timeout", settings.build_limits.seconds,
                   "Seconds that its build may take")
      ->check(CLI::PositiveNumber);
  verb->add_option("--source-root", options->source_root,
                   "Folder that the kernel may include from (default: the parent of its own)");
  verb->add_option("--problems", options->folder, "Task folder (default: the project's problems/)");
  verb->add_option("--save", options->save, "Also write the JSON to this file");
  verb->add_flag("--json", options->json, "Print the envelope ptxbench.eval.v1");
  verb->callback([options, &exit_code] { exit_code = eval(*options); });
}

}  // namespace weft::ptxbench
