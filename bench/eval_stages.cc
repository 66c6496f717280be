// SPDX-License-Identifier: Apache-2.0

// Where the seconds of one evaluation go: runs `ptxbench eval` on the wgmma product of 2048 cubed
// and prints what each stage took, the emulation itself, and all of it by the clock on the wall.
// The bar for everything together is 30 s.
//
//   bench_eval_stages PTXBENCH KERNEL.cu [--repeat N]

#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/subprocess.h"

namespace {

constexpr double kBarSeconds = 30;

bool evaluate(const std::string& ptxbench, const std::string& kernel) {
  weft::Command command;
  command.arguments = {
      ptxbench, "eval", kernel, "--task", "gemm_n2048_k4096", "--set", "M=2048,N=2048,K=2048",
      "--json"};
  command.kept_output_bytes = uint64_t{64} << 20;
  const auto outcome = weft::run(command);
  if (!outcome.ok()) {
    std::fprintf(stderr, "%s\n", format(outcome.error()).c_str());
    return false;
  }
  const weft::Json envelope = weft::Json::parse(outcome->output, nullptr, false);
  if (!outcome->passed() || !envelope.is_object() || envelope.value("status", "") != "PASSED") {
    std::fprintf(stderr, "ptxbench %s\n%s", outcome->describe().c_str(), outcome->errors.c_str());
    return false;
  }
  double stages = 0;
  for (const weft::Json& stage : envelope["audit"]["stages"]) {
    const double seconds = stage["seconds"].get<double>();
    std::printf("%s %.2f, ", stage["stage"].get<std::string>().c_str(), seconds);
    stages += seconds;
  }
  double emulation = 0;
  for (const weft::Json& kernel_record : envelope["audit"]["kernels"])
    emulation += kernel_record["seconds"].get<double>();
  std::printf("rest %.2f; emulation (inside run) %.2f; all %.2f s, bar %.0f: %s\n",
              outcome->seconds - stages, emulation, outcome->seconds, kBarSeconds,
              outcome->seconds < kBarSeconds ? "met" : "NOT MET");
  return outcome->seconds < kBarSeconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_eval_stages PTXBENCH KERNEL.cu [--repeat N]\n");
    return 2;
  }
  int repeat = 1;
  if (argc == 5 && std::string(argv[3]) == "--repeat") repeat = std::atoi(argv[4]);
  bool met = true;
  for (int round = 0; round < repeat; ++round) met = evaluate(argv[1], argv[2]) && met;
  return met ? 0 : 1;
}
