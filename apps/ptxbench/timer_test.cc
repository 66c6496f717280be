// SPDX-License-Identifier: Apache-2.0

// ptxbench timer-test: proves that the timer of a GPU can be believed.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/timer_check.h"

namespace weft::ptxbench {
namespace {

int timer_test(const std::string& device, bool json) {
  const Result<std::optional<unsigned>> gpu = judge::parse_device(device);
  if (!gpu.ok()) return fail(gpu.error(), kUsage);
  if (!*gpu) return fail(Error("the emulator has no time", "name a GPU: --device cuda:0"), kUsage);
  const Result<judge::TimerCheck> check = judge::check_timer(**gpu, judge::find_toolchain());
  if (!check.ok()) return fail(check.error(), kEnvironment);
  std::vector<Row> rows;
  Json list = Json::array();
  for (const judge::TimerFinding& finding : check->findings) {
    rows.push_back({finding.name, finding.good ? "ok" : "WRONG", finding.detail});
    list.push_back({{"check", finding.name}, {"good", finding.good}, {"detail", finding.detail}});
  }
  if (json)
    print_json({{"passed", check->passed()}, {"checks", list}, {"samples", check->samples}});
  else
    print(table(rows));
  return check->passed() ? kPassed : kFailed;
}

}  // namespace

void add_timer_test(CLI::App& app, int& exit_code) {
  struct Options {
    std::string device = "cuda:0";
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("timer-test", "Proves the timer of a GPU");
  verb->footer("Examples:\n  ptxbench timer-test\n  ptxbench timer-test --device cuda:1 --json");
  verb->add_option("--device", options->device, "GPU: cuda:0 and so on");
  verb->add_flag("--json", options->json, "Print JSON, with every sample");
  verb->callback([options, &exit_code] { exit_code = timer_test(options->device, options->json); });
}

}  // namespace weft::ptxbench
