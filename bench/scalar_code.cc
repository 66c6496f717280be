// SPDX-License-Identifier: Apache-2.0

// How fast the emulator runs ordinary code: warp instructions per second and core, kernel by
// kernel, next to the limit that one bare lane loop (32 fused multiply-adds on registers in memory)
// sets on this processor in the same run. Answers are checked against plain C++.
//
//   scalar_code KERNELS.ptx [--workers N] [--only KERNEL]

#include <ctime>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "ptxbench/emulator/lanes.h"
#include "ptxbench/emulator/machine.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

// Processor time of all threads of this process: other programs on the machine do not count, and
// with several workers it is already "per core".
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Lane operations per second of the plainest possible handler: the roof of an interpreter that
// keeps registers in memory and does one operation at a time.
double bare_loop_rate() {
  alignas(64) static float registers[64][kLanes];
  for (auto& r : registers)
    for (float& v : r) v = 0.5f;
  const double start = processor_seconds();
  constexpr uint64_t kRounds = 4'000'000;
  for (uint64_t i = 0; i < kRounds; ++i) {
    float* d = registers[i & 15];
    const float *a = registers[16 + (i & 15)], *b = registers[32 + (i & 15)],
                *c = registers[48 + (i & 7)];
    each_lane(
        kAllLanes, [](float x, float y, float z) { return __builtin_fmaf(x, y, z); }, d, a, b, c);
    asm volatile("" ::: "memory");
  }
  return kRounds / (processor_seconds() - start);
}

struct Subject {
  std::string name;
  uint64_t warps = 0;
  double seconds = 0;
  bool right = false;
};

template <typename T>
T* device_array(Machine& machine, size_t count) {
  const uint64_t address = machine.memory().allocate(count * sizeof(T));
  std::memset(reinterpret_cast<void*>(address), 0, count * sizeof(T));
  return reinterpret_cast<T*>(address);
}

struct Parameters {
  std::vector<std::byte> bytes;
  template <typename T>
  Parameters& add(T value) {
    while (bytes.size() % sizeof(T) != 0) bytes.push_back({});
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
    return *this;
  }
};

class Bench {
 public:
  Bench(Machine& machine, Program& program) : machine_(machine), program_(program) {}

  Subject run(const std::string& name, Extent grid, Extent block, const Parameters& parameters) {
    Subject subject{name, 0, 0, false};
    Launch launch;
    launch.kernel = program_.find_kernel(name);
    if (launch.kernel == nullptr) return subject;
    launch.grid = grid;
    launch.block = block;
    launch.parameters = parameters.bytes;
    program_.reset_counts();
    const double start = processor_seconds();
    const auto result = machine_.run(launch);
    subject.seconds = (processor_seconds() - start);
    subject.right = result.ok() && !result->has_value();
    if (result.ok() && result->has_value()) std::printf("%s\n", format(**result).c_str());
    for (const InstructionCount& count : program_.counts()) subject.warps += count.warps;
    return subject;
  }

 private:
  Machine& machine_;
  Program& program_;
};

bool close(float a, float b, float tolerance) {
  return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

Subject softmax(Machine& machine, Bench& bench) {
  constexpr int kRows = 512, kColumns = 4096;
  float* x = device_array<float>(machine, kRows * kColumns);
  float* y = device_array<float>(machine, kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) x[i] = static_cast<float>((i * 37) % 101) / 25.0f;
  Subject s =
      bench.run("softmax", {.x = kRows}, {.x = 256}, Parameters{}.add(x).add(y).add(int{kColumns}));
  for (int r = 0; r < kRows; r += 61) {
    double sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += std::exp(double{x[r * kColumns + c]});
    for (int c = 0; c < kColumns; c += 17)
      s.right =
          s.right && close(y[r * kColumns + c],
                           static_cast<float>(std::exp(double{x[r * kColumns + c]}) / sum), 1e-5f);
  }
  return s;
}

Subject tiled_product(Machine& machine, Bench& bench) {
  constexpr int n = 384;
  float* a = device_array<float>(machine, n * n);
  float* b = device_array<float>(machine, n * n);
  float* c = device_array<float>(machine, n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 13) - 6;
    b[i] = static_cast<float>(i % 7) - 3;
  }
  Subject s = bench.run("tiled_product", {.x = n / 16, .y = n / 16}, {.x = 16, .y = 16},
                        Parameters{}.add(a).add(b).add(c).add(int{n}));
  for (int i = 0; i < n * n; i += 977) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += double{a[i / n * n + k]} * b[k * n + i % n];
    s.right = s.right && close(c[i], static_cast<float>(sum), 1e-5f);
  }
  return s;
}

Subject bodies(Machine& machine, Bench& bench) {
  constexpr int n = 4096;
  float* p = device_array<float>(machine, n * 4);
  float* out = device_array<float>(machine, n * 4);
  for (int i = 0; i < n * 4; ++i) p[i] = static_cast<float>((i * 7919) % 1000) / 1000.0f;
  Subject s =
      bench.run("bodies", {.x = n / 128}, {.x = 128}, Parameters{}.add(p).add(out).add(int{n}));
  for (int i = 0; i < n; i += 509) {
    double ax = 0;
    for (int j = 0; j < n; ++j) {
      const double dx = p[j * 4] - p[i * 4], dy = p[j * 4 + 1] - p[i * 4 + 1],
                   dz = p[j * 4 + 2] - p[i * 4 + 2];
      ax += p[j * 4 + 3] * dx / std::pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
    }
    s.right = s.right && close(out[i * 4], static_cast<float>(ax), 1e-3f);
  }
  return s;
}

Subject collatz(Machine& machine, Bench& bench) {
  constexpr int n = 1 << 17;
  int* steps = device_array<int>(machine, n);
  Subject s = bench.run("collatz", {.x = n / 256}, {.x = 256}, Parameters{}.add(steps).add(int{n}));
  for (int i = 0; i < n; i += 1009) {
    uint32_t v = static_cast<uint32_t>(i) + 1;
    int count = 0;
    for (; v != 1; ++count) v = v & 1 ? 3 * v + 1 : v / 2;
    s.right = s.right && steps[i] == count;
  }
  return s;
}

Subject histogram(Machine& machine, Bench& bench) {
  constexpr int n = 1 << 22;
  uint32_t* values = device_array<uint32_t>(machine, n);
  uint32_t* counts = device_array<uint32_t>(machine, 256);
  std::vector<uint32_t> expected(256);
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<uint32_t>(i) * 2654435761u >> 7;
    ++expected[values[i] & 255];
  }
  Subject s = bench.run("histogram", {.x = 64}, {.x = 256},
                        Parameters{}.add(values).add(counts).add(int{n}));
  for (int i = 0; i < 256; ++i) s.right = s.right && counts[i] == expected[static_cast<size_t>(i)];
  return s;
}

}  // namespace
}  // namespace weft::emulator

int main(int argc, char** argv) {
  using namespace weft::emulator;
  if (argc < 2) {
    std::fprintf(stderr, "usage: scalar_code KERNELS.ptx [--workers N] [--only KERNEL]\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  auto module = weft::ptx::parse(text.str(), argv[1]);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(module.error()).c_str());
    return 2;
  }
  Options options;
  options.workers = 1;
  std::string_view only;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--workers") options.workers = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (option == "--only") only = argv[i + 1];
  }
  Machine machine(*find_device_model("h100"), options);
  auto program = machine.load(*module);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(program.error()).c_str());
    return 2;
  }
  const double limit = bare_loop_rate();
  Bench bench(machine, **program);
  std::printf("%-14s %12s %9s %14s %9s %s\n", "kernel", "warp instr.", "seconds", "M/s and core",
              "of limit", "answer");
  uint64_t warps = 0;
  double seconds = 0;
  bool right = true;
  struct Entry {
    std::string_view name;
    Subject (*run)(Machine&, Bench&);
  };
  constexpr Entry kEntries[] = {{"softmax", softmax},
                                {"tiled_product", tiled_product},
                                {"bodies", bodies},
                                {"collatz", collatz},
                                {"histogram", histogram}};
  for (const Entry& entry : kEntries) {
    if (!only.empty() && only != entry.name) continue;
    const Subject s = entry.run(machine, bench);
    const double rate = static_cast<double>(s.warps) / s.seconds;
    std::printf("%-14s %12llu %9.3f %14.1f %8.1f%% %s\n", s.name.c_str(),
                static_cast<unsigned long long>(s.warps), s.seconds, rate / 1e6, 100 * rate / limit,
                s.right ? "right" : "WRONG");
    warps += s.warps;
    seconds += s.seconds;
    right = right && s.right;
  }
  std::printf("%-14s %12llu %9.3f %14.1f %8.1f%%\n", "all", static_cast<unsigned long long>(warps),
              seconds, static_cast<double>(warps) / seconds / 1e6,
              100 * static_cast<double>(warps) / seconds / limit);
  std::printf("limit: %.1f M bare lane loops a second\n", limit / 1e6);
  return right ? 0 : 1;
}
