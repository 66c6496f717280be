// SPDX-License-Identifier: Apache-2.0

// Standard output of the program is not compared, since programs print times; nor is text that
// kernels print, whose order the device leaves open.
#include "apps/ptxbench/schedule_seeds.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"

namespace weft::ptxbench {
namespace {

constexpr uint64_t kMostSeeds = 10'000;

std::string place_of(const Json& fault) {
  const std::string file = fault.value("source_file", "");
  const std::string place = file.empty()
                                ? fmt::format("PTX line {}", fault.value("ptx_line", 0))
                                : fmt::format("{}:{}", file, fault.value("source_line", 0));
  return fmt::format("{} in {} at {}", fault.value("kind", ""), fault.value("kernel", ""), place);
}

Result<SeedRun> run_seed(const SeedSearch& search, uint64_t seed) {
  std::remove(search.report.c_str());
  Command command = search.command;
  command.extra_environment.emplace_back("WEFT_EMULATE_SEED", std::to_string(seed));
  const ProcessOutcome outcome = TRY(run(command));
  SeedRun result;
  result.seed = seed;
  result.ending = outcome.describe();
  result.seconds = outcome.seconds;
  result.passed = outcome.passed();
  // A program that ends by a signal leaves none.
  if (const Result<Json> report = read_json(search.report); report.ok() && report->is_object()) {
    result.fault = report->value("fault", Json(nullptr));
    result.reads = report->value("host_reads", Json::array());
    result.passed = result.passed && result.fault.is_null();
  }
  return result;
}

void tell(const SeedRun& run, const std::string& what) {
  std::fprintf(stderr, "seed %llu: %s, %zu reads by the host, %.1f s%s%s\n",
               static_cast<unsigned long long>(run.seed), run.ending.c_str(), run.reads.size(),
               run.seconds, what.empty() ? "" : ": ", what.c_str());
}

Json to_json(const SeedRun& run) {
  return {{"seed", run.seed},     {"ending", run.ending},
          {"fault", run.fault},   {"host_reads", run.reads.size()},
          {"passed", run.passed}, {"seconds", run.seconds}};
}

}  // namespace

Result<SeedRange> parse_seeds(const std::string& text) {
  const Error wrong("not a range of schedule seeds: " + text, "write it like 1..50");
  const size_t dots = text.find("..");
  const auto number = [](std::string_view part, uint64_t& value) {
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && stop == part.data() + part.size();
  };
  const std::string_view all = text;
  SeedRange range;
  if (!number(all.substr(0, dots), range.first)) return wrong;
  range.last = range.first;
  if (dots != std::string::npos && !number(all.substr(dots + 2), range.last)) return wrong;
  if (range.last < range.first || range.last - range.first >= kMostSeeds) return wrong;
  return range;
}

std::string difference(const SeedRun& first, const SeedRun& second) {
  if (first.fault.is_null() != second.fault.is_null())
    return second.fault.is_null()
               ? fmt::format("no fault, where seed {} has: {}", first.seed, place_of(first.fault))
               : "a fault: " + place_of(second.fault);
  if (!first.fault.is_null()) {
    if (first.fault.value("kind", "") == second.fault.value("kind", "") &&
        first.fault.value("kernel", "") == second.fault.value("kernel", ""))
      return "";  // which lane is first to fault depends on the schedule
    return "another fault: " + place_of(second.fault);
  }
  const size_t common = std::min(first.reads.size(), second.reads.size());
  for (size_t i = 0; i < common; ++i) {
    const Json &a = first.reads[i], &b = second.reads[i];
    if (a == b) continue;
    const std::string what =
        fmt::format("{} {} (after {} launches, {} bytes)", b.value("what", ""), i,
                    b.value("launches", uint64_t{0}), b.value("bytes", uint64_t{0}));
    if (a.value("bytes", uint64_t{0}) != b.value("bytes", uint64_t{0}) ||
        a.value("what", "") != b.value("what", ""))
      return what + " is another one";
    const Json &from = a["digests"], &to = b["digests"];
    const uint64_t part = b.value("part_bytes", uint64_t{0});
    for (size_t p = 0; p < std::min(from.size(), to.size()); ++p)
      if (from[p] != to[p])
        return fmt::format("{} differs, first within bytes {} to {}", what, p * part,
                           std::min((p + 1) * part, b.value("bytes", uint64_t{0})) - 1);
    return what + " differs";
  }
  if (first.reads.size() != second.reads.size())
    return fmt::format("the host reads device memory {} times, with seed {} {} times",
                       second.reads.size(), first.seed, first.reads.size());
  return first.ending == second.ending ? "" : second.ending;
}

int search_seeds(const SeedSearch& search) {
  std::vector<SeedRun> runs;
  std::string differs, own;
  for (uint64_t seed = search.seeds.first;; ++seed) {
    Result<SeedRun> run = run_seed(search, seed);
    if (!run.ok()) return fail(run.error(), kEnvironment);
    if (!runs.empty()) differs = difference(runs.front(), *run);
    tell(*run, differs);
    runs.push_back(std::move(run).value());
    if (!differs.empty() || seed == search.seeds.last) break;
  }
  const SeedRun &first = runs.front(), &last = runs.back();
  if (!differs.empty()) {
    // The same seed gives the same schedule: what differs then is the program's own doing.
    for (const SeedRun* run : {&first, &last}) {
      Result<SeedRun> again = run_seed(search, run->seed);
      if (!again.ok()) return fail(again.error(), kEnvironment);
      own = difference(*run, *again);
      tell(*again, own.empty() ? "as before" : "not as before: " + own);
      if (!own.empty()) break;
    }
  }
  const auto repeat = [&](uint64_t seed) { return fmt::format(fmt::runtime(search.repeat), seed); };
  if (search.json) {
    Json all = Json::array();
    for (const SeedRun& run : runs) all.push_back(to_json(run));
    Json report = {{"schema", "weft.emulate.seeds.v1"},
                   {"compared",
                    "bytes of device memory at each copy to the host, managed and pinned memory "
                    "after each launch, exit codes, faults"},
                   {"agree", differs.empty()},
                   {"passed", differs.empty() && first.passed},
                   {"difference", nullptr},
                   {"runs", std::move(all)}};
    if (!differs.empty())
      report["difference"] = {{"seed", last.seed},
                              {"against", first.seed},
                              {"what", differs},
                              {"repeats", own.empty()},
                              {"repeat", {repeat(first.seed), repeat(last.seed)}}};
    print_json(report);
  } else if (differs.empty()) {
    print(fmt::format("{} schedules agree: {}{}\n", runs.size(), first.ending,
                      first.fault.is_null() ? "" : ", with a fault: " + place_of(first.fault)));
  } else if (!own.empty()) {
    print(fmt::format("The program differs from run to run with one schedule: {}\n", own));
  } else {
    print(fmt::format("Seed {} differs from seed {}: {}\nRepeat it:\n  {}\n  {}\n", last.seed,
                      first.seed, differs, repeat(first.seed), repeat(last.seed)));
  }
  return differs.empty() && first.passed ? kPassed : kFailed;
}

}  // namespace weft::ptxbench
