// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/device_state.h"

#include <array>

#include <fmt/format.h>

#include "base/vendor_library.h"

namespace weft::judge {

// Signatures and numbers of nvml.h.
struct DeviceMonitor::Functions {
  int (*initialize)() = nullptr;
  int (*device)(unsigned, void**) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*capability)(void*, int*, int*) = nullptr;
  int (*cores)(void*, unsigned*) = nullptr;
  int (*bus_width)(void*, unsigned*) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*max_clock)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, void*) = nullptr;
  const char* (*text)(int) = nullptr;
};

namespace {

constexpr int kSmClock = 1, kMemoryClock = 2;
constexpr int kInsufficientSize = 7;
constexpr unsigned kNameBytes = 96;
// CUDA cores in a multiprocessor since compute capability 8.6; 64 before.
constexpr unsigned kCoresEach = 128;

}  // namespace

Result<DeviceMonitor> DeviceMonitor::open(unsigned index) {
  static Functions functions;
  const Result<VendorLibrary> library = VendorLibrary::open({"libnvidia-ml.so.1"});
  if (!library.ok())
    return Error("NVML cannot be loaded: no NVIDIA driver is installed here",
                 "judge on the emulator: --device emulated");
  Functions& f = functions;
  TRY(library->find("nvmlInit_v2", f.initialize));
  TRY(library->find("nvmlDeviceGetHandleByIndex_v2", f.device));
  TRY(library->find("nvmlDeviceGetName", f.name));
  TRY(library->find("nvmlSystemGetDriverVersion", f.driver));
  TRY(library->find("nvmlDeviceGetCudaComputeCapability", f.capability));
  TRY(library->find("nvmlDeviceGetNumGpuCores", f.cores));
  TRY(library->find("nvmlDeviceGetMemoryBusWidth", f.bus_width));
  TRY(library->find("nvmlDeviceGetClockInfo", f.clock));
  TRY(library->find("nvmlDeviceGetMaxClockInfo", f.max_clock));
  TRY(library->find("nvmlDeviceGetPowerUsage", f.power));
  TRY(library->find("nvmlDeviceGetTemperature", f.temperature));
  TRY(library->find("nvmlDeviceGetCurrentClocksThrottleReasons", f.reasons));
  TRY(library->find("nvmlDeviceGetComputeRunningProcesses_v3", f.processes));
  TRY(library->find("nvmlErrorString", f.text));
  DeviceMonitor monitor;
  monitor.functions_ = &functions;
  int code = f.initialize();
  if (code == 0) code = f.device(index, &monitor.device_);
  if (code != 0)
    return Error(fmt::format("GPU {} cannot be reached: {}", index, f.text(code)),
                 "nvidia-smi lists what there is");
  DeviceFacts& facts = monitor.facts_;
  std::array<char, kNameBytes> text{};
  if (f.name(monitor.device_, text.data(), kNameBytes) == 0) facts.name = text.data();
  if (f.driver(text.data(), kNameBytes) == 0) facts.driver = text.data();
  int major = 0, minor = 0;
  if (f.capability(monitor.device_, &major, &minor) == 0) {
    facts.compute_major = static_cast<unsigned>(major);
    facts.compute_minor = static_cast<unsigned>(minor);
  }
  unsigned cores = 0;
  if (f.cores(monitor.device_, &cores) == 0) facts.multiprocessors = cores / kCoresEach;
  f.bus_width(monitor.device_, &facts.memory_bus_bits);
  f.max_clock(monitor.device_, kSmClock, &facts.max_sm_mhz);
  f.max_clock(monitor.device_, kMemoryClock, &facts.max_memory_mhz);
  return monitor;
}

DeviceState DeviceMonitor::state() const {
  const Functions& f = *functions_;
  DeviceState state;
  unsigned milliwatts = 0;
  unsigned long long reasons = 0;
  f.clock(device_, kSmClock, &state.sm_mhz);
  f.clock(device_, kMemoryClock, &state.memory_mhz);
  f.temperature(device_, 0, &state.celsius);
  if (f.power(device_, &milliwatts) == 0) state.watts = milliwatts / 1000.0;
  if (f.reasons(device_, &reasons) == 0) state.throttle_reasons = reasons;
  unsigned count = 0;
  const int code = f.processes(device_, &count, nullptr);
  if (code == 0 || code == kInsufficientSize) state.other_processes = count;
  return state;
}

std::string throttle_words(uint64_t reasons) {
  constexpr std::pair<uint64_t, const char*> kWords[] = {
      {0x4, "software power cap"},         {0x8, "hardware slowdown"},
      {0x10, "synchronised boost"},        {0x20, "software thermal slowdown"},
      {0x40, "hardware thermal slowdown"}, {0x80, "hardware power brake"},
  };
  std::string words;
  for (const auto& [bit, word] : kWords)
    if ((reasons & bit) != 0) words += (words.empty() ? "" : ", ") + std::string(word);
  return words;
}

}  // namespace weft::judge
