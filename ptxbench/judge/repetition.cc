// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/repetition.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/sandbox.h"
#include "base/text_file.h"
#include "ptxbench/judge/replay/replay_orders.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kLongestReport = 64 << 20;
constexpr uint64_t kMostWritten = 512 << 20;  // beside six times the tensors

Result<ReplayOrders> orders_for(const RepetitionRequest& request) {
  ReplayOrders orders{.recording = request.recording,
                      .report = request.folder + "/out/report.json",
                      .device = request.emulation.device,
                      .schedule_seed = request.schedule_seed,
                      .workers = request.emulation.workers,
                      .launch_seconds = request.limits.launch_seconds,
                      .poison = request.poison,
                      .tensors = {}};
  for (size_t i = 0; i < request.addresses.size(); ++i) {
    ReplayTensor tensor{request.addresses[i], request.sizes[i], "",
                        fmt::format("{}/out/{}.bin", request.folder, i)};
    if (i < request.inputs->size()) {
      tensor.input = fmt::format("{}/in/{}.bin", request.folder, i);
      const std::vector<std::byte>& bytes = (*request.inputs)[i].bytes;
      TRY(write_file(tensor.input, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    orders.tensors.push_back(std::move(tensor));
  }
  return orders;
}

Command replay_command(const RepetitionRequest& request, const Toolchain& toolchain,
                       const std::string& orders) {
  uint64_t bytes = 0;
  for (const uint64_t size : request.sizes) bytes += size;
  Command command;
  command.arguments = {toolchain.replay, orders};
  command.environment =
      std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C"};
  if (request.tamper != Tamper::Nothing)
    command.extra_environment.emplace_back(
        "WEFT_EMULATE_TAMPER", request.tamper == Tamper::Products ? "products" : "copies");
  command.working_directory = request.folder + "/out";
  command.limits.seconds = request.limits.seconds;
  command.limits.resident_bytes = request.limits.resident_bytes != 0
                                      ? request.limits.resident_bytes
                                      : (uint64_t{4} << 30) + 4 * bytes;
  command.limits.file_bytes = std::max<uint64_t>(2 * bytes, uint64_t{1} << 28);
  command.limits.processes = 32;
  command.limited_folder = request.folder + "/out";
  command.limits.folder_bytes = kMostWritten + 6 * bytes;
  command.cancel = request.cancel;
  return command;
}

}  // namespace

Result<Repetition> repeat(const RepetitionRequest& request, const Toolchain& toolchain) {
  TRY(require_emulator(toolchain));
  const std::string& folder = request.folder;
  std::error_code failure;
  fs::remove_all(folder + "/out", failure);
  fs::create_directories(folder + "/in", failure);
  fs::create_directories(folder + "/out", failure);
  if (failure)
    return Error(fmt::format("cannot make the scratch folder {}: {}", folder, failure.message()));
  Repetition repetition;
  if (request.addresses.size() != request.sizes.size()) {
    repetition.problem = "the call did not say where its tensors lie";
    return repetition;
  }
  const ReplayOrders orders = TRY(orders_for(request));
  const std::string orders_file = folder + "/in/orders.json";
  TRY(write_file(orders_file, to_text(orders)));
  const SandboxedOutcome ran =
      TRY(run_sandboxed(replay_command(request, toolchain, orders_file),
                        {.writable = {folder + "/out"},
                         .readable = {folder + "/in", request.recording, toolchain.replay},
                         .view = Sandbox::View::Programs}));
  if (ran.outcome.ending == Ending::Cancelled) return Error("the judgement was cancelled");
  if (!ran.outcome.passed()) {
    repetition.problem = fmt::format("the repetition {}: {}", ran.outcome.describe(),
                                     ran.outcome.errors.substr(0, ran.outcome.errors.find('\n')));
    return repetition;
  }
  Result<EmulatorReport> report =
      read_emulator_report(TRY(read_foreign_file(orders.report, kLongestReport)), "report.json");
  if (!report.ok()) {
    repetition.problem = "the repetition's report cannot be read: " + report.error().message();
    return repetition;
  }
  repetition.report = std::move(report).value();
  repetition.problem = repetition.report->problem;
  if (!repetition.problem.empty() || repetition.report->fault) return repetition;
  for (const ReplayTensor& tensor : orders.tensors)
    repetition.bytes.push_back(TRY(read_foreign_file(tensor.output, tensor.bytes)));
  return repetition;
}

}  // namespace weft::judge
