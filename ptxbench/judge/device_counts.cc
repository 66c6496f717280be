// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/device_counts.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "ptxbench/judge/ncu_page.h"
#include "ptxbench/judge/sass_counts.h"
#include "ptxbench/judge/session.h"

namespace weft::judge {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kLongestCounts = uint64_t{256} << 20;

Result<Done> all_counted(const LaunchedFunctions& launched, const EmulatorReport& report,
                         const char* counter) {
  for (const std::string& name : launched.names) {
    const bool counted = std::any_of(report.kernels.begin(), report.kernels.end(),
                                     [&](const ExecutedKernel& k) { return k.name == name; });
    if (!counted)
      return Error(fmt::format("{} did not count a function that was launched: {}", counter, name));
  }
  return Done{};
}

}  // namespace

Result<DeviceCounter> DeviceCounter::start(const BenchSettings& settings,
                                           const Toolchain& toolchain, const std::string& scratch) {
  DeviceCounter counter(settings, toolchain);
  counter.code_ =
      std::async(std::launch::async, [object = settings.orders.candidate, &toolchain, scratch] {
        return disassemble(object, toolchain, scratch + "/disassembly");
      });
  BenchSettings counting = settings;
  counting.folder = settings.folder + "_counted";
  counter.bench_ = TRY(Bench::start(std::move(counting)));
  return counter;
}

Result<DeviceCounts> DeviceCounter::count(const LaunchedFunctions& launched) {
  const Disassembly code = TRY(code_.get());
  if (launched.names.empty()) return Error("CUPTI does not say which functions a call launches");
  Result<EmulatorReport> counts = by_cupti(launched, code);
  if (counts.ok()) return DeviceCounts{std::move(counts).value(), "cupti sass metrics"};
  Result<EmulatorReport> others = by_ncu(launched, code);
  if (others.ok()) return DeviceCounts{std::move(others).value(), "ncu source counters"};
  return Error(counts.error().message() + "; " + others.error().message());
}

Result<EmulatorReport> DeviceCounter::by_cupti(const LaunchedFunctions& launched,
                                               const Disassembly& code) {
  const Answer answer = TRY(bench_->ask({{"ask", "count"}}));
  if (answer.json.contains("unavailable"))
    return Error("CUPTI: " + text_in(answer.json, "unavailable"));
  std::string text = TRY(read_foreign_file(bench_->outputs() + "/sass.json", kLongestCounts));
  const std::vector<SassCount> counts = TRY(read_sass_counts(std::move(text)));
  EmulatorReport report = TRY(name_instructions(counts, code));
  TRY(all_counted(launched, report, "CUPTI"));
  return report;
}

Result<EmulatorReport> DeviceCounter::by_ncu(const LaunchedFunctions& launched,
                                             const Disassembly& code) {
  std::error_code ignored;
  const std::string ncu =
      (fs::weakly_canonical(toolchain_->nvcc, ignored).parent_path() / "ncu").string();
  if (find_program(ncu).empty()) return Error("ncu is not beside nvcc");
  BenchSettings profiled = settings_;
  profiled.folder = settings_.folder + "_profiled";
  const std::string log = profiled.folder + "/out/ncu.csv";
  profiled.launcher = ncu_options(log);
  profiled.launcher.insert(profiled.launcher.begin(), ncu);
  const std::unique_ptr<Bench> bench = TRY(Bench::start(std::move(profiled)));
  const Result<Answer> answer = bench->ask({{"ask", "profile"}});
  const std::string said = bench->finish();
  if (!answer.ok()) return Error("under ncu: " + answer.error().message());
  const Result<std::string> page = read_foreign_file(log, kLongestCounts);
  if (!page.ok()) return Error("ncu printed nothing: " + said);
  const std::vector<SassCount> counts = TRY(read_ncu_page(*page, launched.launches));
  EmulatorReport report = TRY(name_instructions(counts, code));
  TRY(all_counted(launched, report, "ncu"));
  return report;
}

}  // namespace weft::judge
