// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/run.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "base/text_file.h"
#include "ptxbench/judge/build.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kKeptOutput = 64
                                 << 10;  // bytes of the candidate's own output that enter the log

// DLPack's type codes.
std::pair<uint8_t, uint8_t> type_code(problems::DType dtype) {
  using problems::DType;
  constexpr uint8_t kInt = 0, kFloat = 2, kBfloat = 4, kBool = 6, kFloat8E4M3Fn = 10;
  const auto bits = static_cast<uint8_t>(8 * problems::byte_size(dtype));
  switch (dtype) {
    case DType::Float32:
    case DType::Float16:
      return {kFloat, bits};
    case DType::BFloat16:
      return {kBfloat, bits};
    case DType::Float8E4M3:
      return {kFloat8E4M3Fn, bits};
    case DType::Bool:
      return {kBool, bits};
    default:
      return {kInt, bits};
  }
}

void add_tensors(Orders& orders, const problems::Task& task) {
  for (const bool output : {false, true}) {
    for (const problems::TensorSpec& spec :
         output ? task.definition.outputs : task.definition.inputs) {
      TensorOrder order;
      order.name = spec.name;
      std::tie(order.code, order.bits) = type_code(spec.dtype);
      order.shape = task.shape(spec);
      order.bytes = problems::byte_size(spec.dtype);
      for (const int64_t extent : order.shape) order.bytes *= static_cast<uint64_t>(extent);
      order.output = output;
      orders.tensors.push_back(std::move(order));
    }
  }
}

Result<Done> write_inputs(const RunRequest& request) {
  for (unsigned trial = 0; trial < request.trials.size(); ++trial) {
    for (size_t i = 0; i < request.trials[trial].size(); ++i) {
      const std::vector<std::byte>& bytes = request.trials[trial][i].bytes;
      TRY(write_file(request.orders.input_file(trial, i),
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
  }
  return Done{};
}

Command worker_command(const Toolchain& toolchain, const std::string& folder,
                       const std::string& orders, uint64_t task_bytes,
                       const EmulationSettings& settings, const RunLimits& limits) {
  Command command;
  command.arguments = {toolchain.worker, orders};
  command.environment =
      std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C"};
  command.extra_environment = {{"LD_LIBRARY_PATH", toolchain.emulated_cuda},
                               {"WEFT_EMULATE_REPORT", folder + "/out/report.json"},
                               {"WEFT_EMULATE_DEVICE", settings.device},
                               {"WEFT_EMULATE_SEED", std::to_string(settings.schedule_seed)}};
  if (settings.workers != 0)
    command.extra_environment.emplace_back("WEFT_EMULATE_WORKERS",
                                           std::to_string(settings.workers));
  if (limits.launch_seconds > 0) {
    command.extra_environment.emplace_back("WEFT_EMULATE_MAX_SECONDS",
                                           fmt::format("{}", limits.launch_seconds));
  }
  command.working_directory = folder + "/out";
  command.kept_output_bytes = kKeptOutput;
  command.limits.seconds = limits.seconds;
  // Device memory, the mapped files and the emulator's own state.
  command.limits.resident_bytes =
      limits.resident_bytes != 0 ? limits.resident_bytes : (uint64_t{4} << 30) + 4 * task_bytes;
  command.limits.file_bytes = std::max<uint64_t>(task_bytes, uint64_t{1} << 28);
  command.limits.processes = 32;
  return command;
}

void classify_ending(RunOutcome& outcome) {
  const ProcessOutcome& process = outcome.process;
  if (process.ending == Ending::TimedOut) {
    outcome.failure = wire::Status::Timeout;
    outcome.evidence = fmt::format("the candidate {} (at stage \"{}\", trial {})",
                                   process.describe(), outcome.worker.stage, outcome.worker.trial);
  } else if (process.ending != Ending::Exited) {
    outcome.failure = wire::Status::RuntimeError;
    outcome.evidence = fmt::format("the candidate's process {} (at stage \"{}\", trial {})",
                                   process.describe(), outcome.worker.stage, outcome.worker.trial);
  } else if (outcome.worker.failed) {
    outcome.failure = wire::Status::RuntimeError;
    outcome.evidence = outcome.worker.kind.empty()
                           ? outcome.worker.message
                           : outcome.worker.kind + ": " + outcome.worker.message;
  } else if (outcome.worker.stage != "done" || process.exit_code != 0) {
    outcome.failure = wire::Status::RuntimeError;
    outcome.evidence =
        fmt::format("the candidate ended its process with exit code {} (at stage \"{}\", trial {})",
                    process.exit_code, outcome.worker.stage, outcome.worker.trial);
  }
}

// A fault says more than the error code that the runtime returned for it.
void apply_fault(RunOutcome& outcome) {
  if (!outcome.report || !outcome.report->fault) return;
  const wire::FaultRecord& fault = *outcome.report->fault;
  if (!outcome.failure || *outcome.failure != wire::Status::Timeout) {
    outcome.failure =
        fault.kind == "time limit" ? wire::Status::Timeout : wire::Status::RuntimeError;
  }
  std::string place = fault.source_line != 0
                          ? fmt::format(" at {}:{}", fault.source_file, fault.source_line)
                      : fault.ptx_line != 0 ? fmt::format(" at PTX line {}", fault.ptx_line)
                                            : "";
  outcome.evidence = fmt::format("{}: {}{} in {}", fault.kind, fault.message, place, fault.kernel);
}

}  // namespace

Result<RunOutcome> run_candidate(RunRequest& request, const problems::Task& task,
                                 const Toolchain& toolchain, const std::string& folder,
                                 const EmulationSettings& settings, const RunLimits& limits) {
  TRY(require_emulator(toolchain));
  Orders& orders = request.orders;
  orders.inputs = folder + "/in";
  orders.outputs = folder + "/out";
  orders.report = folder + "/out/worker.json";
  orders.poisons.assign(kPoisons, kPoisons + std::min(request.trials.size(), std::size(kPoisons)));
  add_tensors(orders, task);
  std::error_code failure;
  fs::create_directories(orders.inputs, failure);
  fs::create_directories(orders.outputs, failure);
  if (failure)
    return Error(fmt::format("cannot make the scratch folder {}: {}", folder, failure.message()));
  TRY(write_inputs(request));
  const std::string orders_file = folder + "/in/orders.json";
  TRY(write_file(orders_file, to_text(orders)));

  const Command command = worker_command(toolchain, folder, orders_file,
                                         task.bytes() * request.trials.size(), settings, limits);
  SandboxedOutcome ran = TRY(run_sandboxed(
      command,
      {.writable = {orders.outputs},
       .readable = {orders.inputs, fs::path(orders.candidate).parent_path().string(),
                    fs::path(toolchain.worker).parent_path().string(), toolchain.emulated_cuda}}));
  RunOutcome outcome;
  outcome.process = std::move(ran.outcome);
  outcome.sandboxed = ran.sandboxed;
  outcome.sandbox_reason = ran.reason;
  const std::string built_in = fs::path(orders.candidate).parent_path().string();
  outcome.log = without_folder(outcome.process.output + outcome.process.errors, built_in);
  const uint64_t written = outcome.process.output_bytes + outcome.process.errors_bytes;
  const uint64_t kept = outcome.process.output.size() + outcome.process.errors.size();
  if (written > kept)
    outcome.log += fmt::format("\n[{} bytes of output were dropped]\n", written - kept);

  const Result<std::string> worker_text = read_file(orders.report);
  if (worker_text.ok()) {
    const Result<WorkerReport> parsed = read_worker_report(*worker_text, orders.report);
    if (parsed.ok()) outcome.worker = *parsed;
  }
  const std::string report_file = folder + "/out/report.json";
  const Result<std::string> report_text = read_file(report_file);
  if (!report_text.ok()) {
    outcome.report_problem = "the emulator wrote no report: the process did not reach its end";
  } else {
    Result<EmulatorReport> parsed =
        read_emulator_report(without_folder(*report_text, built_in), "report.json");
    if (parsed.ok())
      outcome.report = std::move(parsed).value();
    else
      outcome.report_problem = "the emulator's report cannot be read: " + parsed.error().message();
  }
  classify_ending(outcome);
  apply_fault(outcome);
  return outcome;
}

}  // namespace weft::judge
