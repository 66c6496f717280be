// SPDX-License-Identifier: Apache-2.0

// ptxbench doctor: checks the machine and changes nothing.
#include <unistd.h>

#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/sandbox.h"
#include "base/subprocess.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/timer_check.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::ptxbench {
namespace {

enum class Need : uint8_t { Required, Optional };

struct Check {
  std::string name;
  bool good = false;
  Need need = Need::Required;
  std::string detail;  // what was found, or what to do
};

std::string last_line_with(const std::string& text, const std::string& word) {
  const size_t at = text.rfind(word);
  if (at == std::string::npos) return "";
  return text.substr(at, text.find_first_of(",\n", at) - at);
}

Check compiler(const judge::Toolchain& toolchain) {
  if (toolchain.nvcc.empty()) {
    return {"nvcc", false, Need::Optional,
            toolchain.nvcc_reason + "; .cu candidates need it, .ptx candidates do not"};
  }
  Command command{.arguments = {toolchain.nvcc, "--version"}};
  command.limits.seconds = 60;
  const Result<ProcessOutcome> ran = run(command);
  const std::string release = ran.ok() ? last_line_with(ran->output, "release ") : "";
  if (release.empty())
    return {"nvcc", false, Need::Optional, toolchain.nvcc + " does not answer --version"};
  return {"nvcc", release >= "release 13", Need::Optional,
          fmt::format("{} ({})", release, toolchain.nvcc)};
}

Check tasks(const judge::Toolchain& toolchain) {
  if (toolchain.problems.empty())
    return {"tasks", false, Need::Required,
            "problems/ is not found; run from the project's folder"};
  const auto catalogue = problems::Catalogue::open(toolchain.problems);
  if (!catalogue.ok()) return {"tasks", false, Need::Required, catalogue.error().message()};
  return {"tasks", true, Need::Required,
          fmt::format("{} in {}", catalogue->names().size(), catalogue->folder())};
}

std::vector<Check> examine() {
  const judge::Toolchain toolchain = judge::find_toolchain();
  const auto found = [](const char* name, const std::string& path, Need need, const char* cure) {
    return Check{name, !path.empty(), need, path.empty() ? cure : path};
  };
  std::vector<Check> checks;
  checks.push_back(found("emulated CUDA", toolchain.emulated_cuda, Need::Required,
                         "build the whole project: cmake --build build/dev"));
  checks.push_back(
      found("worker", toolchain.worker, Need::Required, "build the target ptxbench-worker"));
  checks.push_back(found("headers", toolchain.headers, Need::Required,
                         "kernels/include is not found; run from the project's folder"));
  checks.push_back(tasks(toolchain));
  checks.push_back(compiler(toolchain));
  const SandboxSupport& sandbox = sandbox_support();
  checks.push_back(
      {"sandbox", sandbox.available, Need::Optional,
       sandbox.available ? sandbox.kind : sandbox.reason + "; candidates run under plain limits"});
  const double gigabytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9;
  checks.push_back({"machine", gigabytes >= 4, Need::Required,
                    fmt::format("{} cores, {:.0f} GB of memory",
                                std::thread::hardware_concurrency(), gigabytes)});
  const bool gpu = access("/dev/nvidia0", F_OK) == 0;
  checks.push_back({"GPU", gpu, Need::Optional,
                    gpu ? "/dev/nvidia0" : "none: kernels run emulated and are not timed"});
  return checks;
}

// The GPU itself, and whether its timer can be believed.
std::vector<Check> examine_gpu(unsigned index) {
  const Result<judge::DeviceMonitor> monitor = judge::DeviceMonitor::open(index);
  if (!monitor.ok()) return {{"device", false, Need::Required, monitor.error().message()}};
  const judge::DeviceFacts& facts = monitor->facts();
  std::vector<Check> checks = {
      {"device", true, Need::Required,
       fmt::format("{}, driver {}, {} multiprocessors, at most {} MHz", facts.name, facts.driver,
                   facts.multiprocessors, facts.max_sm_mhz)}};
  const Result<judge::TimerCheck> timer = judge::check_timer(index, judge::find_toolchain());
  if (!timer.ok()) {
    checks.push_back({"timer", false, Need::Required, timer.error().message()});
    return checks;
  }
  for (const judge::TimerFinding& finding : timer->findings)
    checks.push_back({finding.name, finding.good, Need::Required, finding.detail});
  return checks;
}

int doctor(bool json, const std::string& device) {
  const Result<std::optional<unsigned>> gpu = judge::parse_device(device);
  if (!gpu.ok()) return fail(gpu.error(), kUsage);
  std::vector<Check> checks = examine();
  if (*gpu)
    for (Check& check : examine_gpu(**gpu)) checks.push_back(std::move(check));
  bool healthy = true;
  std::vector<Row> rows;
  Json list = Json::array();
  for (const Check& check : checks) {
    const char* state = check.good ? "ok" : check.need == Need::Optional ? "absent" : "MISSING";
    healthy = healthy && (check.good || check.need == Need::Optional);
    rows.push_back({check.name, state, check.detail});
    list.push_back({{"check", check.name}, {"state", state}, {"detail", check.detail}});
  }
  if (json)
    print_json({{"healthy", healthy}, {"checks", list}});
  else
    print(table(rows));
  return healthy ? kPassed : kEnvironment;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  const auto json = std::make_shared<bool>(false);
  const auto device = std::make_shared<std::string>("emulated");
  CLI::App* verb = app.add_subcommand("doctor", "Checks this machine and changes nothing");
  verb->footer(
      "Examples:\n  ptxbench doctor\n  ptxbench doctor --device cuda:0\n  ptxbench doctor --json");
  verb->add_flag("--json", *json, "Print JSON");
  verb->add_option("--device", *device, "Also examine a GPU: cuda:0 and so on");
  verb->callback([json, device, &exit_code] { exit_code = doctor(*json, *device); });
}

}  // namespace weft::ptxbench
