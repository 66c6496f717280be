// SPDX-License-Identifier: Apache-2.0

// What counting every instruction costs: the kernels of scalar_code.cc on two machines, one that
// counts and one that does not, in turn and in one process. The quickest run of each stands; the
// sum's ratio is the cost. Both must give the right answers, and the one must have counted.
//
//   counting_cost KERNELS.ptx [--rounds N]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "bench/scalar_subjects.h"
#include "ptxbench/ptx/parse.h"

int main(int argc, char** argv) {
  using namespace weft::emulator;
  if (argc < 2) {
    std::fprintf(stderr, "usage: counting_cost KERNELS.ptx [--rounds N]\n");
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
  int rounds = 7;
  if (argc == 4 && std::string_view(argv[2]) == "--rounds")
    rounds = std::max(1, std::atoi(argv[3]));
  Machine counting(*find_device_model("h100"), Options{.workers = 1});
  Machine silent(*find_device_model("h100"), Options{.workers = 1, .counting = false});
  auto counted = counting.load(*module), uncounted = silent.load(*module);
  if (!counted.ok() || !uncounted.ok()) {
    std::fprintf(stderr, "%s\n",
                 weft::format((counted.ok() ? uncounted : counted).error()).c_str());
    return 2;
  }
  std::printf("%-16s %12s %12s %12s %8s %s\n", "kernel", "warp instr.", "without, s", "with, s",
              "cost", "answers");
  double with = 0, without = 0;
  bool right = true;
  for (const SubjectEntry& entry : scalar_subjects()) {
    const Subject loud = entry.make(counting), quiet = entry.make(silent);
    Timing on, off;
    for (int round = 0; round < rounds; ++round) {
      const Timing second = run(silent, **uncounted, quiet);
      const Timing first = run(counting, **counted, loud);
      right = right && first.right && second.right && first.warps != 0 && second.warps == 0;
      if (round == 0 || first.seconds < on.seconds) on = first;
      if (round == 0 || second.seconds < off.seconds) off = second;
    }
    std::printf("%-16s %12llu %12.4f %12.4f %7.1f%% %s\n", loud.name.c_str(),
                static_cast<unsigned long long>(on.warps), off.seconds, on.seconds,
                100 * (on.seconds / off.seconds - 1), right ? "right" : "WRONG");
    with += on.seconds;
    without += off.seconds;
  }
  std::printf("%-16s %12s %12.4f %12.4f %7.1f%%\n", "all", "", without, with,
              100 * (with / without - 1));
  return right ? 0 : 1;
}
