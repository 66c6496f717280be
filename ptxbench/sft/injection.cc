// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/sft/injection.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/near_match.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "ptxbench/agent/feedback.h"
#include "ptxbench/judge/source_bundle.h"
#include "ptxbench/sft/json_lines.h"
#include "ptxbench/sft/pair.h"

namespace weft::sft {
namespace {
namespace fs = std::filesystem;

// Macros that plant a fault in our own kernels begin so; none of them is in a training text.
constexpr std::string_view kPlanted = "WEFT_FAULT_";

// A seed with its text, its task and the verdict that it is right.
struct RightKernel {
  const Seed* seed = nullptr;
  std::string source;
  problems::Task task;
  JudgedKernel judged;
  uint64_t spilled = 0;
};

struct Mutant {
  const RightKernel* kernel = nullptr;
  const Fault* fault = nullptr;
  size_t ordinal = 0;  // among the fault's sites of this kernel
  Site site;
};

std::string identity(const std::string& source, const problems::Task& task) {
  std::string text = task.definition.name + "\n" + sha256(source) + "\n";
  for (const auto& [name, value] : task.axes) text += fmt::format("{}={} ", name, value);
  return sha256(text).substr(0, 16);
}

class Injection {
 public:
  Injection(const JudgeSource& judge, const InjectionSettings& settings, GrowingFile attempts)
      : judge_(judge), settings_(settings), attempts_(std::move(attempts)) {}

  void recall(const std::vector<Json>& rows) {
    for (const Json& row : rows) known_[row.value("id", "")] = row;
  }

  // Judges the seeds as they are; those that are right, in their order. coverage() says why others
  // are not.
  Result<std::vector<RightKernel>> check(const std::vector<Seed>& seeds,
                                         const problems::Catalogue& catalogue) {
    std::vector<std::optional<RightKernel>> checked(seeds.size());
    coverage_.seeds = seeds.size();
    each_in_parallel(
        static_cast<int64_t>(seeds.size()),
        [&](int64_t index) {
          if (over()) return;
          const auto at = static_cast<size_t>(index);
          Result<std::optional<RightKernel>> kernel = check(seeds[at], catalogue);
          if (kernel.ok())
            checked[at] = *std::move(kernel);
          else
            stop(kernel.error());
        },
        std::max(1u, settings_.jobs));
    if (error_) return *error_;
    std::vector<RightKernel> right;
    for (std::optional<RightKernel>& kernel : checked)
      if (kernel) right.push_back(*std::move(kernel));
    return right;
  }

  void plan(const RightKernel& kernel) {
    const CudaText text(kernel.source);
    std::set<std::string> seen = {kernel.source};
    for (const Fault& fault : fault_catalogue()) {
      if (!settings_.faults.empty() && std::find(settings_.faults.begin(), settings_.faults.end(),
                                                 fault.name) == settings_.faults.end())
        continue;
      size_t ordinal = 0;
      for (Site& site : spread(fault.sites(text), kernel.seed->sites)) {
        if (!seen.insert(with_fault(kernel.source, site)).second) continue;
        mutants_.push_back({&kernel, &fault, ordinal++, std::move(site)});
      }
    }
  }

  // First every fault once in every kernel, then the second place of each.
  Result<Coverage> judge_all() {
    std::stable_sort(mutants_.begin(), mutants_.end(),
                     [](const Mutant& a, const Mutant& b) { return a.ordinal < b.ordinal; });
    for (const Mutant& mutant : mutants_)
      ++coverage_.faults[std::string(mutant.fault->name)].mutants;
    each_in_parallel(
        static_cast<int64_t>(mutants_.size()),
        [&](int64_t index) {
          if (over()) return;
          const Result<Done> done = attempt(mutants_[static_cast<size_t>(index)]);
          if (!done.ok()) stop(done.error());
        },
        std::max(1u, settings_.jobs));
    if (error_) return *error_;
    return coverage_;
  }

 private:
  Result<std::optional<RightKernel>> check(const Seed& seed, const problems::Catalogue& catalogue) {
    RightKernel kernel{.seed = &seed,
                       .source = plain_text(TRY(judge::bundle_source(seed.kernel, "")), kPlanted),
                       .task = TRY(catalogue.task(seed.definition, seed.workload, seed.axes)),
                       .judged = {}};
    const std::string id = identity(kernel.source, kernel.task);
    Json row;
    if (const auto known = known_.find(id); known != known_.end()) {
      row = known->second;
      const Json envelope = TRY(read_json(settings_.output + "/" + row.value("evaluation", "")));
      TRY(keep_evaluation(kernel.judged, settings_.output, envelope));
    } else {
      const Json envelope = TRY(judge_(kernel.source, kernel.task));
      TRY(keep_evaluation(kernel.judged, settings_.output, envelope));
      row = {{"id", id},
             {"seed", seed.kernel},
             {"error_class", kernel.judged.verdict.error_class},
             {"evidence", agent::verdict_feedback(envelope, kernel.source, {})},
             {"spilled", spilled_bytes(envelope.value("compile_log", ""))},
             {"evaluation", kernel.judged.evaluation},
             {"pair", nullptr}};
      const std::lock_guard lock(mutex_);
      TRY(attempts_.append(row));
    }
    if (row.value("error_class", "") != "passed") {
      const std::lock_guard lock(mutex_);
      coverage_.refused_seeds[seed.kernel] =
          row.value("error_class", "") + ": " + row.value("evidence", "");
      return std::optional<RightKernel>();
    }
    kernel.spilled = row.value("spilled", uint64_t{0});
    kernel.judged.source = kernel.source;
    return std::optional(std::move(kernel));
  }

  void stop(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }

  bool over() {
    const std::lock_guard lock(mutex_);
    return error_.has_value() || (settings_.cancel != nullptr && settings_.cancel->load()) ||
           (settings_.target != 0 && coverage_.pairs >= settings_.target);
  }

  bool full(const Mutant& mutant) {
    const std::lock_guard lock(mutex_);
    return settings_.most_per_fault != 0 &&
           coverage_.faults[std::string(mutant.fault->name)].kept >= settings_.most_per_fault;
  }

  Result<Done> attempt(const Mutant& mutant) {
    const std::string source = with_fault(mutant.kernel->source, mutant.site);
    const std::string id = identity(source, mutant.kernel->task);
    Json row;
    if (const auto known = known_.find(id); known != known_.end()) {
      row = known->second;
    } else {
      if (full(mutant)) return count(mutant, Json());
      const Json envelope = TRY(judge_(source, mutant.kernel->task));
      row = TRY(row_of(mutant, id, source, envelope));
      const std::lock_guard lock(mutex_);
      TRY(attempts_.append(row));
    }
    return count(mutant, row);
  }

  Result<Json> row_of(const Mutant& mutant, const std::string& id, const std::string& source,
                      const Json& envelope) {
    const problems::Task& task = mutant.kernel->task;
    Pair pair{.id = "",
              .kind = "injected",
              .definition = task.definition.name,
              .family = std::string(task.definition.tag("family")),
              .workload_uuid = task.workload.uuid,
              .axes = {task.axes.begin(), task.axes.end()},
              .cause = std::string(mutant.fault->name),
              .meaning = std::string(mutant.fault->meaning),
              .origin = mutant.kernel->seed->kernel,
              .line = mutant.site.line,
              .wrong = {.source = source, .evaluation = "", .evaluation_sha256 = "", .verdict = {}},
              .fixed = mutant.kernel->judged,
              .log = agent::verdict_feedback(envelope, source, {}),
              .reasoning = "",
              .design = ""};
    pair.id = pair_id(pair);
    TRY(keep_evaluation(pair.wrong, settings_.output, envelope));
    const uint64_t spilled = spilled_bytes(envelope.value("compile_log", ""));
    std::string& shown = pair.wrong.verdict.error_class;
    if (shown == "passed" && mutant.kernel->spilled == 0 && spilled > 0) {
      shown = "spill";
      pair.log =
          fmt::format("the kernel is right, but ptxas spills {} bytes of registers", spilled);
    }
    const bool kept = may_show_as(*mutant.fault, shown);
    return Json{{"id", id},
                {"fault", mutant.fault->name},
                {"kernel", mutant.kernel->seed->kernel},
                {"line", mutant.site.line},
                {"was", mutant.kernel->source.substr(mutant.site.offset, mutant.site.length)},
                {"became", mutant.site.replacement},
                {"error_class", shown},
                {"evaluation", pair.wrong.evaluation},
                {"pair", kept ? to_json(pair) : Json(nullptr)}};
  }

  // A null row: its fault has pairs enough.
  Result<Done> count(const Mutant& mutant, const Json& row) {
    const std::lock_guard lock(mutex_);
    FaultCoverage& coverage = coverage_.faults[std::string(mutant.fault->name)];
    std::string shown = "left out";
    if (!row.is_null()) {
      shown = row.value("error_class", "");
      ++coverage.judged;
      const auto pair = row.find("pair");
      if (pair != row.end() && !pair->is_null()) {
        ++coverage.kept;
        ++coverage.shown_as[shown];
        ++coverage_.pairs;
      } else {
        ++(shown == "passed" ? coverage.harmless : coverage.mislabelled);
      }
    }
    ++done_;
    if (settings_.on_attempt)
      settings_.on_attempt(
          done_, mutants_.size(),
          fmt::format("{} pairs; {} in {}: {}", coverage_.pairs, mutant.fault->name,
                      fs::path(mutant.kernel->seed->kernel).stem().string(), shown));
    return Done{};
  }

  const JudgeSource& judge_;
  const InjectionSettings& settings_;
  GrowingFile attempts_;
  std::map<std::string, Json> known_;
  std::vector<Mutant> mutants_;
  std::mutex mutex_;
  std::optional<Error> error_;
  Coverage coverage_;
  size_t done_ = 0;
};

Result<Seed> seed_from(const Json& json, const fs::path& folder) {
  const std::vector<std::string> known = {"kernel", "definition", "workload", "axes", "sites"};
  if (!json.is_object()) return Error("a seed is an object with kernel and definition");
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Error("unknown key of a seed: " + key, suggestion(key, known, "keys"));
  try {
    Seed seed{.kernel = (folder / json.at("kernel").get<std::string>()).lexically_normal().string(),
              .definition = json.at("definition"),
              .workload = json.value("workload", ""),
              .axes = {},
              .sites = json.value("sites", size_t{2})};
    const Json axes = json.value("axes", Json::object());
    for (const auto& [name, value] : axes.items())
      seed.axes.emplace_back(name, value.get<int64_t>());
    return seed;
  } catch (const nlohmann::json::exception& error) {
    return Error(fmt::format("not a seed: {}", error.what()),
                 "give kernel and definition, and numbers for axes and sites");
  }
}

}  // namespace

Result<std::vector<Seed>> read_seeds(const std::string& path) {
  const Json json = TRY(read_json(path));
  if (!json.is_array() || json.empty())
    return Error(
        Diagnostic{.message = "not a list of seeds",
                   .hint = "[{\"kernel\": \"gemm.cu\", \"definition\": ..., \"axes\": {}}]",
                   .file = path});
  std::vector<Seed> seeds;
  for (const Json& one : json) {
    Result<Seed> seed = seed_from(one, fs::path(path).parent_path());
    if (!seed.ok()) {
      seed.error().diagnostics.front().message += fmt::format(" (entry {})", seeds.size() + 1);
      seed.error().diagnostics.front().file = path;
      return seed.error();
    }
    seeds.push_back(*std::move(seed));
  }
  return seeds;
}

Json to_json(const Coverage& coverage) {
  Json faults = Json::object();
  for (const auto& [name, one] : coverage.faults)
    faults[name] = {
        {"mutants", one.mutants},   {"judged", one.judged},           {"kept", one.kept},
        {"harmless", one.harmless}, {"mislabelled", one.mislabelled}, {"shown_as", one.shown_as}};
  return {{"seeds", coverage.seeds},
          {"refused_seeds", coverage.refused_seeds},
          {"pairs", coverage.pairs},
          {"faults", std::move(faults)}};
}

Result<Coverage> inject(const std::vector<Seed>& seeds, const problems::Catalogue& catalogue,
                        const JudgeSource& judge, const InjectionSettings& settings) {
  std::vector<std::string> names;
  for (const Fault& fault : fault_catalogue()) names.emplace_back(fault.name);
  for (const std::string& name : settings.faults)
    if (fault_named(name) == nullptr)
      return Error("unknown fault: " + name, suggestion(name, names, "faults"));
  std::vector<Json> rows;
  GrowingFile attempts = TRY(GrowingFile::open(settings.output + "/attempts.jsonl", rows));
  Injection injection(judge, settings, std::move(attempts));
  injection.recall(rows);
  // Mutants point into it.
  const std::vector<RightKernel> kernels = TRY(injection.check(seeds, catalogue));
  for (const RightKernel& kernel : kernels) injection.plan(kernel);
  Coverage coverage = TRY(injection.judge_all());
  TRY(write_json(settings.output + "/coverage.json", to_json(coverage)));
  return coverage;
}

uint64_t spilled_bytes(std::string_view log) {
  constexpr std::string_view kWords = " bytes spill stores";
  uint64_t most = 0;
  for (size_t at = log.find(kWords); at != log.npos; at = log.find(kWords, at + 1)) {
    size_t from = at;
    while (from > 0 && log[from - 1] >= '0' && log[from - 1] <= '9') --from;
    uint64_t bytes = 0;
    for (const char digit : log.substr(from, at - from))
      bytes = bytes * 10 + static_cast<uint64_t>(digit - '0');
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace weft::sft
