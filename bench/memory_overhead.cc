// SPDX-License-Identifier: Apache-2.0

// Memory that the emulator takes beyond what a program allocates on the device and the host: the
// peak of the process minus what the program says it holds, beside the bar of 0.3 times that and
// 200 MB.
//
//   bench_memory_overhead PROGRAMS CUDA_LIBRARIES GEMM_WGMMA.ptx

#include <charconv>
#include <cstdio>
#include <string>

#include "base/subprocess.h"

namespace {

constexpr double kMegabyte = 1e6;

// The number behind "held "; false where the program printed none.
bool read_held(const std::string& output, uint64_t& held) {
  constexpr std::string_view kWord = "held ";
  const size_t at = output.find(kWord);
  if (at == std::string::npos) return false;
  const char* first = output.data() + at + kWord.size();
  return std::from_chars(first, output.data() + output.size(), held).ec == std::errc();
}

bool measure(const std::string& name, char** argv) {
  weft::Command command;
  command.arguments = {argv[1], name};
  if (name == "wgmma") command.arguments.emplace_back(argv[3]);
  command.extra_environment = {{"LD_LIBRARY_PATH", argv[2]}};
  const auto outcome = weft::run(command);
  if (!outcome.ok()) {
    std::fprintf(stderr, "%s\n", format(outcome.error()).c_str());
    return false;
  }
  uint64_t held = 0;
  if (!outcome->passed() || !read_held(outcome->output, held)) {
    std::fprintf(stderr, "%s %s\n%s%s", name.c_str(), outcome->describe().c_str(),
                 outcome->output.c_str(), outcome->errors.c_str());
    return false;
  }
  const double peak = static_cast<double>(outcome->peak_resident_bytes) / kMegabyte;
  const double own = static_cast<double>(held) / kMegabyte;
  const double bar = 0.3 * own + 200;
  std::printf("%-8s %9.1f MB held %9.1f MB peak %8.1f MB more, bar %7.1f: %s (%.1f s)\n",
              name.c_str(), own, peak, peak - own, bar, peak - own <= bar ? "met" : "NOT MET",
              outcome->seconds);
  return peak - own <= bar;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_memory_overhead PROGRAMS CUDA_LIBRARIES GEMM_WGMMA.ptx\n");
    return 2;
  }
  bool met = true;
  for (const char* name : {"small", "large", "many", "blocks", "wgmma"})
    met = measure(name, argv) && met;
  return met ? 0 : 1;
}
