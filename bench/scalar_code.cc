// SPDX-License-Identifier: Apache-2.0

// How fast the emulator runs ordinary code: warp instructions per second and core, kernel by
// kernel, next to the limit that one bare lane loop (32 fused multiply-adds on registers in memory)
// sets on this processor in the same run. Each kernel runs a few times and the quickest run stands:
// the machine may be shared. Answers are checked every time.
//
//   scalar_code KERNELS.ptx [--workers N] [--only KERNEL] [--rounds N] [--check NAMES]
//
// With --check the emulator looks for hazards besides (emulator/checks.h): what that costs.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "bench/scalar_subjects.h"
#include "ptxbench/emulator/lanes.h"
#include "ptxbench/ptx/parse.h"

namespace weft::emulator {
namespace {

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

void print(std::string_view name, uint64_t warps, double seconds, double limit,
           std::string_view answer) {
  const double rate = static_cast<double>(warps) / seconds;
  std::printf("%-16.*s %12llu %9.3f %14.1f %8.1f%% %.*s\n", static_cast<int>(name.size()),
              name.data(), static_cast<unsigned long long>(warps), seconds, rate / 1e6,
              100 * rate / limit, static_cast<int>(answer.size()), answer.data());
}

}  // namespace
}  // namespace weft::emulator

int main(int argc, char** argv) {
  using namespace weft::emulator;
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: scalar_code KERNELS.ptx [--workers N] [--only KERNEL] [--rounds N] "
                 "[--check NAMES]\n");
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
  int rounds = 3;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--workers") options.workers = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (option == "--only") only = argv[i + 1];
    if (option == "--check") {
      const auto checks = parse_checks(argv[i + 1]);
      if (!checks.ok()) {
        std::fprintf(stderr, "%s\n", weft::format(checks.error()).c_str());
        return 2;
      }
      options.checks = *checks;
    }
    if (option == "--rounds") rounds = std::max(1, std::atoi(argv[i + 1]));
  }
  Machine machine(*find_device_model("h100"), options);
  auto program = machine.load(*module);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", weft::format(program.error()).c_str());
    return 2;
  }
  const double limit = bare_loop_rate();
  std::printf("%-16s %12s %9s %14s %9s %s\n", "kernel", "warp instr.", "seconds", "M/s and core",
              "of limit", "answer");
  uint64_t warps = 0;
  double seconds = 0;
  bool right = true;
  for (const SubjectEntry& entry : scalar_subjects()) {
    if (!only.empty() && only != entry.name) continue;
    const Subject subject = entry.make(machine);
    Timing best;
    for (int round = 0; round < rounds; ++round) {
      const Timing timing = run(machine, **program, subject);
      right = right && timing.right;
      if (round == 0 || timing.seconds < best.seconds) best = timing;
    }
    print(entry.name, best.warps, best.seconds, limit, right ? "right" : "WRONG");
    warps += best.warps;
    seconds += best.seconds;
    if (only.empty() && entry.name == "histogram")
      print("the first five", warps, seconds, limit, "");
  }
  print("all", warps, seconds, limit, "");
  std::printf("limit: %.1f M bare lane loops a second\n", limit / 1e6);
  return right ? 0 : 1;
}
