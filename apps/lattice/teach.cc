// SPDX-License-Identifier: Apache-2.0

// lattice teach: a trained model writes what it knows of (user, item) pairs for its student. Ctrl-C
// leaves it where it is; the same command goes on.
#include <atomic>
#include <csignal>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/schema/duration.h"
#include "lattice/teaching/teach_run.h"

namespace weft::lattice {
namespace {

std::atomic<bool> stop_wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler writes it

void want_stop(int) {
  stop_wanted = true;
  std::signal(SIGINT, SIG_DFL);  // the second Ctrl-C ends at once
}

std::string report(const Json& s, const std::string& path) {
  const Json& teacher = s["teacher"];
  std::string text = fmt::format(
      "teacher {}, {} wide, {}, trained until {}\n{} rows: {} taught, {} without a pair, {} from "
      "before the teacher, {} after until\n",
      teacher["version"].get<std::string>(), teacher["width"].dump(),
      teacher["format"].get<std::string>(), format_instant(teacher["trained_until"]),
      s["rows"].dump(), s["taught"].dump(), s["without_pair"].dump(), s["before_teacher"].dump(),
      s["after_until"].dump());
  if (!s["rows_per_second"].is_null())
    text += fmt::format("{:.0f} rows/s\n", s["rows_per_second"].get<double>());
  const Json& use = s["use"];
  if (!use["hit_rate"].is_null()) {
    text += fmt::format("a student beside it would have hit {:.1f} % of the rows taught\n",
                        100 * use["hit_rate"].get<double>());
    std::vector<Row> rows = {{"age up to", "hits"}};
    for (const Json& age : use["ages"])
      rows.push_back({format_duration(age["up_to_seconds"]), age["hits"].dump()});
    text += table(rows);
  }
  return text + s["store"].get<std::string>() + "\n" + path + "\n";
}

}  // namespace

Result<Outcome> run_teach(const StepOptions& options) {
  const YamlDocument document = TRY(load_configuration(options, "teach"));
  const TeachConfiguration teaching =
      TRY(read_teach(document, section(document, "teach"), base_folder(options)));
  const uint64_t total = TRY(rows_to_teach(teaching));
  std::signal(SIGINT, want_stop);
  const Json summary = TRY(perform_step(
      options, "teach",
      {.configuration = to_json(teaching), .inputs = {teaching.models + "/manifest.json"}}, total,
      [&](RunFolder& run, const Advance& advance) {
        return teach(teaching, run,
                     {.stop = &stop_wanted,
                      .progress = advance,
                      .workers = options.workers == 0 ? 2 : options.workers});
      }));
  std::signal(SIGINT, SIG_DFL);
  return Outcome{.json = to_text(summary), .text = report(summary, out_folder(options, "teach"))};
}

}  // namespace weft::lattice
