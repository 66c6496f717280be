// SPDX-License-Identifier: Apache-2.0

// The sandboxed process is watched by a thread of its own; this side waits for the next line from
// the worker or for the end of its process, whichever comes first.
#include "ptxbench/judge/session.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/sandbox.h"
#include "base/text_file.h"
#include "ptxbench/judge/build.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/named_pipe.h"
#include "ptxbench/judge/readable_names.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

// Bytes of the candidate's own output that enter the log.
constexpr uint64_t kKeptOutput = 64 << 10;
// A line from the worker is never longer; a candidate that writes into the pipe itself may try.
constexpr size_t kLongestLine = 64 << 10;
constexpr int kCancelInterval = 100;  // milliseconds between looks at SessionSettings::cancel
constexpr uint64_t kGuardBytes = 64 << 10;
constexpr uint64_t kLongestReport = 16 << 20;
// In all files that a session leaves, beside six times its tensors: recordings have copies.
constexpr uint64_t kMostWritten = 512 << 20;

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

Command worker_command(const Toolchain& toolchain, const std::string& folder,
                       const std::string& orders, uint64_t task_bytes,
                       const SessionSettings& session) {
  const EmulationSettings& settings = session.emulation;
  const RunLimits& limits = session.limits;
  Command command;
  command.arguments = {toolchain.worker, orders};
  command.environment =
      std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C"};
  if (session.gpu) {
    command.extra_environment = {{"LD_LIBRARY_PATH", vendor_library_path(toolchain)},
                                 {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                 {"CUDA_VISIBLE_DEVICES", std::to_string(*session.gpu)}};
  } else {
    command.extra_environment = {{"LD_LIBRARY_PATH", toolchain.emulated_cuda},
                                 {"WEFT_EMULATE_REPORT", folder + "/out/report.json"},
                                 {"WEFT_EMULATE_DEVICE", settings.device},
                                 // What breaks a rule is wrong, also where an assembler mends it.
                                 {"WEFT_EMULATE_CHECK", "wgmma"},
                                 {"WEFT_EMULATE_SEED", std::to_string(settings.schedule_seed)}};
  }
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
  // Device memory twice (tensors move), the mapped files and the emulator's own state; or what a
  // driver maps. Address space stays unlimited: drivers reserve it by the terabyte.
  command.limits.resident_bytes =
      limits.resident_bytes != 0 ? limits.resident_bytes : (uint64_t{4} << 30) + 6 * task_bytes;
  command.limits.file_bytes = std::max<uint64_t>(2 * task_bytes, uint64_t{1} << 28);
  command.limits.processes = 32;
  command.limited_folder = folder + "/out";
  command.limits.folder_bytes = kMostWritten + 6 * task_bytes;
  return command;
}

// A fault says more than the error code that the runtime returned for it.
void apply_fault(const wire::FaultRecord& fault, Failure& failure) {
  if (failure.status != wire::Status::Timeout) {
    failure.status =
        fault.kind == "time limit" ? wire::Status::Timeout : wire::Status::RuntimeError;
  }
  std::string place = fault.source_line != 0
                          ? fmt::format(" at {}:{}", fault.source_file, fault.source_line)
                      : fault.ptx_line != 0 ? fmt::format(" at PTX line {}", fault.ptx_line)
                                            : "";
  for (const std::string& note : fault.notes)
    if (note.starts_with("inlined at ")) place += ", " + note;
  failure.evidence =
      fmt::format("{}: {}{} in {}", fault.kind, fault.message, place, kernel_name(fault.kernel));
}

class WorkerSession final : public Session {
 public:
  ~WorkerSession() override {
    if (watcher_.joinable()) {
      stop();
      watcher_.join();
    }
  }

  Result<Done> begin(SessionSettings settings, const problems::Task& task,
                     const Toolchain& toolchain) {
    if (!settings.gpu) TRY(require_emulator(toolchain));
    settings_ = std::move(settings);
    const std::string& folder = settings_.folder;
    orders_.candidate = settings_.candidate;
    orders_.ptx = settings_.ptx;
    orders_.launches = settings_.launches;
    orders_.inputs = folder + "/in";
    orders_.outputs = folder + "/out";
    orders_.calls = folder + "/in/calls";
    orders_.reports = folder + "/out/reports";
    add_tensors(orders_, task);
    // The emulator checks every access; a GPU leaves traces in memory only.
    if (settings_.gpu) orders_.guard_bytes = kGuardBytes;
    std::error_code failure;
    fs::create_directories(orders_.inputs, failure);
    fs::create_directories(orders_.outputs, failure);
    if (failure)
      return Error(fmt::format("cannot make the scratch folder {}: {}", folder, failure.message()));
    calls_ = TRY(make_pipe(orders_.calls));
    reports_ = TRY(make_pipe(orders_.reports));
    const std::string orders_file = folder + "/in/orders.json";
    TRY(write_file(orders_file, to_text(orders_)));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    ended_ = Descriptor(ends[0]);
    end_signal_ = Descriptor(ends[1]);

    Command command = worker_command(toolchain, folder, orders_file, task.bytes(), settings_);
    command.cancel = &kill_;
    Sandbox sandbox{
        .writable = {orders_.outputs},
        .readable = {orders_.inputs, orders_.candidate, toolchain.worker, toolchain.emulated_cuda},
        .devices = settings_.gpu ? gpu_devices() : std::vector<std::string>{},
        .view = Sandbox::View::Programs};
    if (settings_.gpu)
      for (const std::string& seen : vendor_folders(toolchain)) sandbox.readable.push_back(seen);
    watcher_ = std::thread([this, command = std::move(command), sandbox = std::move(sandbox)] {
      ran_.emplace(run_sandboxed(command, sandbox));
      end_signal_.reset();
    });
    return Done{};
  }

  Result<CallOutcome> call(const SessionCall& request) override {
    CallOutcome outcome;
    if (last_.stage == "start") {
      TRY(wait_for("ready", outcome));
      if (outcome.failure) return outcome;
    }
    if (request.inputs != nullptr) TRY(write_inputs(*request.inputs));
    CallOrder order{request.poison, request.guard, request.move, ""};
    if (request.record)
      order.recording = fmt::format("{}/recording_{}", orders_.outputs, recordings_++);
    ++calls_made_;
    TRY(send(to_line(order)));
    TRY(wait_for("done", outcome));
    outcome.report = last_;
    outcome.recording = order.recording;
    if (outcome.failure) return outcome;
    for (size_t i = 0; i < orders_.tensors.size(); ++i) {
      Result<std::string> bytes =
          read_foreign_file(orders_.output_file(i), orders_.tensors[i].bytes);
      if (!bytes.ok() || bytes->size() != orders_.tensors[i].bytes) {
        outcome.failure =
            Failure{wire::Status::RuntimeError,
                    fmt::format("tensor {} did not come back whole: {}", orders_.tensors[i].name,
                                bytes.ok() ? fmt::format("{} bytes", bytes->size())
                                           : bytes.error().message())};
        return outcome;
      }
      outcome.bytes.push_back(std::move(bytes).value());
    }
    return outcome;
  }

  Result<SessionEnd> finish() override {
    stop();
    watcher_.join();
    SandboxedOutcome ran = TRY(std::move(*ran_));
    SessionEnd end;
    end.process = std::move(ran.outcome);
    end.sandboxed = ran.sandboxed;
    end.sandbox_reason = ran.reason;
    end.log = without_folder(end.process.output + end.process.errors, built_in());
    const uint64_t written = end.process.output_bytes + end.process.errors_bytes;
    const uint64_t kept = end.process.output.size() + end.process.errors.size();
    if (written > kept)
      end.log += fmt::format("\n[{} bytes of output were dropped]\n", written - kept);
    end.report = emulator_report();
    return end;
  }

 private:
  std::string built_in() const { return fs::path(orders_.candidate).parent_path().string(); }

  // Lets the worker go; one that is not waiting for a call is killed.
  void stop() {
    if (!waiting() || !send("end").ok()) kill_ = true;
  }
  bool waiting() const {
    return !last_.failed && (last_.stage == "ready" || last_.stage == "done");
  }

  Result<Done> write_inputs(const std::vector<problems::Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<std::byte>& bytes = inputs[i].bytes;
      TRY(write_file(orders_.input_file(i),
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    return Done{};
  }

  Result<Done> send(const std::string& line) {
    const std::string text = line + "\n";
    // Shorter than a pipe's buffer, which is empty whenever a call is made.
    const ssize_t length = ::write(calls_.get(), text.data(), text.size());
    if (length != static_cast<ssize_t>(text.size()))
      return Error(fmt::format("cannot write to the worker's pipe: {}", std::strerror(errno)));
    return Done{};
  }

  // Reads lines until the worker says `stage`, fails, or is gone.
  Result<Done> wait_for(std::string_view stage, CallOutcome& outcome) {
    for (;;) {
      for (size_t end; (end = buffer_.find('\n')) != buffer_.npos;) {
        Result<WorkerReport> report = read_worker_report(buffer_.substr(0, end));
        buffer_.erase(0, end + 1);
        if (!report.ok()) {
          return intruded(outcome);
        }
        last_ = std::move(report).value();
        if (last_.failed) {
          outcome.report = last_;
          outcome.failure =
              Failure{wire::Status::RuntimeError,
                      last_.kind.empty() ? last_.message : last_.kind + ": " + last_.message};
          settle(outcome);
          return Done{};
        }
        if (last_.stage == stage) return Done{};
      }
      if (buffer_.size() > kLongestLine) return intruded(outcome);
      if (settings_.cancel != nullptr && settings_.cancel->load()) {
        kill_ = true;
        return Error("the judgement was cancelled");
      }
      if (TRY(wait_for_more(reports_, ended_, kCancelInterval, buffer_)) == Waited::Ended) {
        watcher_.join();
        watcher_ = std::thread([] {});
        classify_ending(TRY(ended_outcome()), outcome);
        settle(outcome);
        return Done{};
      }
    }
  }

  Done intruded(CallOutcome& outcome) {
    kill_ = true;
    outcome.failure =
        Failure{wire::Status::RuntimeError, "the candidate wrote into the worker's pipe"};
    return Done{};
  }

  Result<ProcessOutcome> ended_outcome() const {
    if (!ran_->ok()) return ran_->error();
    return (*ran_)->outcome;
  }

  void classify_ending(const ProcessOutcome& process, CallOutcome& outcome) const {
    outcome.report = last_;
    Failure failure;
    const std::string where = fmt::format("(at stage \"{}\", call {})", last_.stage, calls_made_);
    if (process.ending == Ending::TimedOut) {
      failure.status = wire::Status::Timeout;
      failure.evidence = fmt::format("the candidate {} {}", process.describe(), where);
    } else if (process.ending != Ending::Exited) {
      failure.evidence = fmt::format("the candidate's process {} {}", process.describe(), where);
    } else {
      failure.evidence = fmt::format("the candidate ended its process with exit code {} {}",
                                     process.exit_code, where);
    }
    outcome.failure = std::move(failure);
  }

  std::optional<EmulatorReport> emulator_report() const {
    const Result<std::string> text =
        read_foreign_file(settings_.folder + "/out/report.json", kLongestReport);
    if (!text.ok()) return std::nullopt;
    Result<EmulatorReport> parsed =
        read_emulator_report(without_folder(*text, built_in()), "report.json");
    if (!parsed.ok()) return std::nullopt;
    return std::move(parsed).value();
  }

  void settle(CallOutcome& outcome) const {
    const std::optional<EmulatorReport> report = emulator_report();
    if (report && report->fault && outcome.failure) apply_fault(*report->fault, *outcome.failure);
  }

  SessionSettings settings_;
  Orders orders_;
  Descriptor calls_, reports_;     // our ends of the pipes
  Descriptor ended_, end_signal_;  // readable once the process is gone
  std::thread watcher_;
  std::optional<Result<SandboxedOutcome>> ran_;  // read after the watcher has ended
  std::atomic<bool> kill_{false};
  std::string buffer_;
  WorkerReport last_;
  unsigned calls_made_ = 0, recordings_ = 0;
};

}  // namespace

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
      const auto scalar = task.workload.scalars.find(spec.name);
      if (scalar != task.workload.scalars.end()) order.scalar = scalar->second;
      orders.tensors.push_back(std::move(order));
    }
  }
}

Result<std::string> read_foreign_file(const std::string& path, uint64_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.open() || fstat(file.get(), &status) != 0)
    return Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) return Error(fmt::format("no plain file: {}", path));
  if (static_cast<uint64_t>(status.st_size) > most)
    return Error(fmt::format("{} has {} bytes, {} are allowed", path, status.st_size, most));
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t length = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    done += static_cast<size_t>(length);
  }
  bytes.resize(done);
  return bytes;
}

Result<std::unique_ptr<Session>> Session::start(SessionSettings settings,
                                                const problems::Task& task,
                                                const Toolchain& toolchain) {
  auto session = std::make_unique<WorkerSession>();
  TRY(session->begin(std::move(settings), task, toolchain));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace weft::judge
