// SPDX-License-Identifier: Apache-2.0

// The program's one device. Everything here lives until the process ends: programs call the API
// from destructors of their own statics.
#include "ptxbench/cudart/process.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <fmt/format.h>

#include "ptxbench/cudart/report.h"

namespace weft::cudart {
namespace {

struct Shared {
  std::once_flag once;
  std::unique_ptr<emulator::Machine> machine;
  std::atomic<Status> broken{Status::Success};
  std::mutex mutex;  // of the members below
  std::set<std::string> said;
  std::string output;  // what kernels printed and stdout has not seen
};

Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

thread_local int thread_error = 0;

// More than this waits for no synchronisation.
constexpr size_t kMostHeldOutput = 1 << 20;

void hold_output(std::string_view text, void*) {
  Shared& state = shared();
  const std::lock_guard lock(state.mutex);
  state.output += text;
  if (state.output.size() > kMostHeldOutput) {
    std::fwrite(state.output.data(), 1, state.output.size(), stdout);
    state.output.clear();
  }
}

template <typename T>
bool read_number(const char* variable, T& value) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return true;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && stop == end && value >= T{0}) return true;
  complain(fmt::format("{} is not a number: {}", variable, text));
  return false;
}

// The names of checks in WEFT_EMULATE_CHECK, with commas between.
bool read_checks(emulator::Checks& checks) {
  const char* text = std::getenv("WEFT_EMULATE_CHECK");
  const Result<emulator::Checks> parsed = emulator::parse_checks(text == nullptr ? "" : text);
  if (!parsed.ok()) {
    complain("WEFT_EMULATE_CHECK: " + format(parsed.error()));
    return false;
  }
  checks = *parsed;
  return true;
}

void build() {
  const char* key = std::getenv("WEFT_EMULATE_DEVICE");
  if (key == nullptr || *key == '\0') key = "h100";
  emulator::Options options;
  const emulator::DeviceModel* found = emulator::find_device_model(key);
  if (found == nullptr)
    complain(fmt::format("WEFT_EMULATE_DEVICE names no device that is modelled: {}", key));
  const bool sound = read_number("WEFT_EMULATE_SEED", options.schedule_seed) &
                     read_number("WEFT_EMULATE_WORKERS", options.workers) &
                     read_number("WEFT_EMULATE_MAX_SECONDS", options.max_seconds) &
                     read_checks(options.checks);
  if (found == nullptr || !sound) {
    shared().broken = Status::InitializationError;
    return;
  }
  shared().machine = std::make_unique<emulator::Machine>(*found, options);
  shared().machine->set_output(hold_output, nullptr);
}

// Runs when the program leaves through exit() or main's end, after its own atexit functions.
__attribute__((destructor)) void at_exit() {
  if (!shared().machine) return;
  flush_output();
  write_report();
}

}  // namespace

Status ready() {
  std::call_once(shared().once, build);
  return shared().broken.load();
}

emulator::Machine& machine() {
  INVARIANT(shared().machine != nullptr);
  return *shared().machine;
}

const emulator::DeviceModel& model() {
  return machine().model();
}

void complain(std::string_view message) {
  const std::string line = fmt::format("weft: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain_once(std::string_view message) {
  {
    const std::lock_guard lock(shared().mutex);
    if (!shared().said.emplace(message).second) return;
  }
  complain(message);
}

Status status_of(emulator::FaultKind kind) {
  using emulator::FaultKind;
  switch (kind) {
    case FaultKind::OutOfBounds:
      return Status::IllegalAddress;
    case FaultKind::Misaligned:
      return Status::MisalignedAddress;
    case FaultKind::InvalidBarrier:
    case FaultKind::DivergentInstruction:
    case FaultKind::InvalidDescriptor:
    case FaultKind::InvalidInstruction:
    case FaultKind::TensorMemory:
    case FaultKind::RegisterInFlight:
    case FaultKind::Race:
    case FaultKind::Uninitialised:
    case FaultKind::MissingProxyFence:
      return Status::IllegalInstruction;
    case FaultKind::Deadlock:
    case FaultKind::TimeLimit:
      return Status::LaunchTimeout;
    case FaultKind::Trap:
      return Status::LaunchFailure;
    case FaultKind::Assertion:
      return Status::Assert;
    case FaultKind::StackOverflow:
      return Status::HardwareStackError;
    case FaultKind::Unsupported:
      return Status::NotSupported;
    case FaultKind::OutOfMemory:
      return Status::MemoryAllocation;
  }
  return Status::Unknown;
}

void break_context(const emulator::Fault& fault) {
  Status expected = Status::Success;
  if (!shared().broken.compare_exchange_strong(expected, status_of(fault.kind))) return;
  flush_output();
  std::fflush(stdout);
  std::string text = emulator::format(fault);
  if (text.empty() || text.back() != '\n') text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  report_fault(fault);
  write_report();
}

void reset_context() {
  flush_output();
  if (shared().machine) shared().broken = Status::Success;
}

void flush_output() {
  Shared& state = shared();
  std::string text;
  {
    const std::lock_guard lock(state.mutex);
    text.swap(state.output);
  }
  if (!text.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
}

int last_error() {
  return thread_error;
}
void set_last_error(int code) {
  thread_error = code;
}

int remember(Status status) {
  if (status != Status::Success) thread_error = static_cast<int>(status);
  return static_cast<int>(status);
}

int refuse(const char* function) {
  complain_once(fmt::format("{} is not supported by the emulated CUDA library", function));
  return remember(Status::NotSupported);
}

}  // namespace weft::cudart
