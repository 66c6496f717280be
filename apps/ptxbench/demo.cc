// SPDX-License-Identifier: Apache-2.0

// ptxbench demo: judges the example kernels and their faulty variants at sizes that two cores
// emulate in seconds, and one product at 2048 x 2048 x 2048.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "ptxbench/judge/build_cache.h"
#include "ptxbench/judge/judge.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::ptxbench {
namespace {
namespace fs = std::filesystem;

struct Options {
  std::string kernels, output;
  bool json = false;
  bool small = false;
};

enum class Expectation : uint8_t { Passes, Fails };

struct Case {
  std::string kernel;  // path
  std::string task;
  problems::Overrides overrides;
  Expectation expectation = Expectation::Passes;
};

struct Verdict {
  Case judged;
  wire::Envelope envelope;
  double seconds = 0;

  bool as_expected() const {
    return envelope.all_passed() == (judged.expectation == Expectation::Passes);
  }
};

constexpr const char* kGemmTask = "gemm_n2048_k4096";

// The shape that shows what a kernel does: rows that fill no tile for the stores past the end,
// enough of K to go round a ring of stages.
Case case_for(const fs::path& kernel, Expectation expectation) {
  const std::string name = kernel.stem().string();
  const std::string file = kernel.string();
  if (name.starts_with("attention")) {
    const bool causal = name.find("causal") != name.npos;
    const char* family = name.find("backward") == name.npos ? "mha_with_lse_d128" : "mha_bwd_d128";
    return {file,
            std::string(family) + (causal ? "_causal" : ""),
            {{"B", 1}, {"H", 2}, {"S", 256}},
            expectation};
  }
  const bool ragged = name.find("out_of_bounds") != name.npos;
  return {file, kGemmTask, {{"M", ragged ? 70 : 256}, {"N", 256}, {"K", 512}}, expectation};
}

std::vector<Case> cases_in(const fs::path& folder, Expectation expectation) {
  std::vector<Case> cases;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".cu") cases.push_back(case_for(entry.path(), expectation));
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.kernel < b.kernel; });
  return cases;
}

std::vector<Case> all_cases(const fs::path& hopper, bool small) {
  std::vector<Case> cases = cases_in(hopper, Expectation::Passes);
  for (Case& one : cases_in(hopper / "faulty", Expectation::Fails)) cases.push_back(std::move(one));
  if (!small)
    cases.push_back({(hopper / "gemm_wgmma.cu").string(),
                     kGemmTask,
                     {{"M", 2048}, {"K", 2048}},
                     Expectation::Passes});
  return cases;
}

std::string shape_text(const Case& one) {
  std::string text;
  for (const auto& [name, value] : one.overrides)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string first_evidence(const wire::Envelope& envelope) {
  for (const wire::StageRecord& stage : envelope.audit.stages) {
    if (!stage.evidence.empty())
      return fmt::format("{}: {}", stage.stage,
                         stage.evidence.substr(0, stage.evidence.find('\n')));
  }
  return "";
}

// A planted fault that is not seen, and a right kernel that fails, are alarms.
const char* mark(const Verdict& verdict) {
  if (verdict.as_expected()) return "";
  return verdict.judged.expectation == Expectation::Fails ? " (fault not seen)" : " (!)";
}

Row row_of(const Verdict& verdict) {
  const wire::Audit& audit = verdict.envelope.audit;
  const auto executed = audit.target_instructions_executed;
  return {fs::path(verdict.judged.kernel).stem().string(),
          shape_text(verdict.judged),
          std::string(wire::name(verdict.envelope.status)) + mark(verdict),
          executed ? (*executed ? "yes" : "no") : "-",
          audit.share ? percent(*audit.share) : "-",
          fmt::format("{:.1f}", verdict.seconds),
          first_evidence(verdict.envelope)};
}

std::string new_folder() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[48];
  std::strftime(text, sizeof text, "runs/demo-%Y%m%d-%H%M%S", &local);
  return text;
}

// Prints a line as soon as a kernel is judged; the table comes at the end.
Result<std::vector<Verdict>> judge_all(const std::vector<Case>& cases,
                                       const problems::Catalogue& catalogue,
                                       const judge::Toolchain& toolchain,
                                       const std::string& output) {
  std::vector<Verdict> verdicts;
  judge::Settings settings;
  settings.build_cache = judge::default_build_cache();
  for (const Case& one : cases) {
    const auto start = std::chrono::steady_clock::now();
    const problems::Task task = TRY(catalogue.task(one.task, "", one.overrides));
    const judge::Candidate candidate = TRY(judge::load_candidate(one.kernel, ""));
    Verdict verdict{one, {}, 0};
    verdict.envelope = TRY(judge::judge(candidate, task, toolchain, settings));
    verdict.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string file =
        fmt::format("{}/{:02}_{}.json", output, verdicts.size() + 1, candidate.name);
    TRY(write_json(file, wire::to_json(verdict.envelope)));
    std::fprintf(stderr, "[%zu/%zu] %-32s %s\n", verdicts.size() + 1, cases.size(),
                 candidate.name.c_str(), std::string(wire::name(verdict.envelope.status)).c_str());
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Json summary(const std::vector<Verdict>& verdicts) {
  Json list = Json::array();
  for (const Verdict& verdict : verdicts) {
    const wire::Audit& audit = verdict.envelope.audit;
    list.push_back(
        {{"kernel", verdict.judged.kernel},
         {"task", verdict.judged.task},
         {"axes", shape_text(verdict.judged)},
         {"expected", verdict.judged.expectation == Expectation::Passes ? "passes" : "fails"},
         {"as_expected", verdict.as_expected()},
         {"status", wire::name(verdict.envelope.status)},
         {"evidence", first_evidence(verdict.envelope)},
         {"target_instructions_executed", audit.target_instructions_executed
                                              ? Json(*audit.target_instructions_executed)
                                              : Json(nullptr)},
         {"share", audit.share ? Json(*audit.share) : Json(nullptr)},
         {"seconds", verdict.seconds}});
  }
  return list;
}

int demo(const Options& options) {
  const judge::Toolchain toolchain = judge::find_toolchain();
  for (const Result<Done>& needed :
       {judge::require_nvcc(toolchain), judge::require_emulator(toolchain)}) {
    if (!needed.ok()) return fail(needed.error(), kEnvironment);
  }
  const fs::path hopper = options.kernels.empty()
                              ? fs::path(toolchain.headers).parent_path() / "hopper"
                              : fs::path(options.kernels);
  const std::vector<Case> cases = all_cases(fs::relative(hopper), options.small);
  if (cases.empty())
    return fail(Error("no kernel in " + hopper.string(), "name the folder with --kernels"), kUsage);
  const auto catalogue = problems::Catalogue::open(toolchain.problems);
  if (!catalogue.ok()) return fail(catalogue.error(), kEnvironment);
  const std::string output = options.output.empty() ? new_folder() : options.output;
  const Result<std::vector<Verdict>> verdicts = judge_all(cases, *catalogue, toolchain, output);
  if (!verdicts.ok()) return fail(verdicts.error(), kEnvironment);
  const Json json = summary(*verdicts);
  const Result<Done> written = write_json(output + "/demo.json", json);
  if (!written.ok()) return fail(written.error(), kEnvironment);
  if (options.json) {
    print_json(json);
  } else {
    std::vector<Row> rows = {
        {"kernel", "shape", "verdict", "target", "share", "seconds", "first evidence"}};
    for (const Verdict& verdict : *verdicts) rows.push_back(row_of(verdict));
    print(table(rows));
    print(
        fmt::format("target: did wgmma or TMA execute; share: of the arithmetic, by wgmma; timing "
                    "is null without a GPU.\nDetails: {}\n",
                    output));
  }
  const bool as_expected = std::all_of(verdicts->begin(), verdicts->end(),
                                       [](const Verdict& v) { return v.as_expected(); });
  return as_expected ? kPassed : kFailed;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("demo", "Judges the example kernels and their faulty variants");
  verb->footer(
      "Examples:\n  ptxbench demo\n  ptxbench demo --small --output runs/mine\n  ptxbench demo "
      "--json");
  verb->add_option("--kernels", options->kernels,
                   "Folder of kernels, with faulty/ in it (default: kernels/hopper)");
  verb->add_option("--output", options->output,
                   "Folder for the envelopes (default: a new one in runs/)");
  verb->add_flag("--small", options->small, "Leave out the product at 2048 x 2048 x 2048");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = demo(*options); });
}

}  // namespace weft::ptxbench
