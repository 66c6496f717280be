// SPDX-License-Identifier: Apache-2.0

// lattice store: what a teacher has written for its student.
#include <charconv>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/lattice/step.h"
#include "lattice/distillation/open_store.h"
#include "lattice/schema/duration.h"

namespace weft::lattice {
namespace {

Result<uint64_t> whole_number(const StepOptions& options, const std::string& name) {
  const auto given = options.named.find(name);
  const std::string text = given == options.named.end() ? "" : given->second;
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failed != std::errc() || end != text.data() + text.size())
    return Error(fmt::format("store get needs a whole number: --{} '{}'", name, text),
                 "lattice store get FOLDER --user 7 --item 11");
  return value;
}

Result<int64_t> moment(const StepOptions& options) {
  const auto given = options.named.find("as-of");
  if (given == options.named.end())
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  const auto instant = parse_instant(given->second);
  if (!instant)
    return Error("--as-of is no instant: " + given->second, "as in 2025-01-31T12:30:00Z");
  return *instant;
}

std::string listed(const std::vector<float>& values) {
  return fmt::format("{:.5g}", fmt::join(values, " "));
}

Outcome inspect(const Json& contents) {
  const Json& teacher = contents["teacher"];
  std::vector<Row> rows = {{"from", "entries, about", "bytes"}};
  for (const Json& bucket : contents["buckets"])
    rows.push_back(
        {format_instant(bucket["from"]), bucket["entries_about"].dump(), bucket["bytes"].dump()});
  std::vector<std::string> tasks = teacher["tasks"];
  return Outcome{
      .json = to_text(contents),
      .text =
          fmt::format("teacher {}, {} wide, {}, tasks {}\nlifetime {}, kept {}, buckets of {}\n",
                      teacher["version"].get<std::string>(), teacher["width"].dump(),
                      teacher["format"].get<std::string>(), fmt::join(tasks, ", "),
                      format_duration(contents["lifetime_seconds"]),
                      format_duration(contents["retention_seconds"]),
                      format_duration(contents["bucket_seconds"])) +
          table(rows)};
}

Result<Outcome> get(TeacherStore& store, const StepOptions& options) {
  const std::vector<Pair> pairs = {
      {TRY(whole_number(options, "user")), TRY(whole_number(options, "item"))}};
  const std::vector<int64_t> as_of = {TRY(moment(options))};
  const TeacherAnswers answers = TRY(store.look_up(pairs, as_of));
  const bool hit = answers.results[0] == LookUp::Hit;
  Json json = {{"user", pairs[0].user},
               {"item", pairs[0].item},
               {"as_of", as_of[0]},
               {"result", word_of(answers.results[0])},
               {"computed_at", hit ? Json(answers.computed_at[0]) : Json()},
               {"embedding", hit ? Json(answers.embeddings) : Json()},
               {"logits", hit ? Json(answers.logits) : Json()}};
  std::string text = fmt::format("{}\n", word_of(answers.results[0]));
  if (hit)
    text += fmt::format("computed {}\nlogits {}\nembedding {}\n",
                        format_instant(answers.computed_at[0]), listed(answers.logits),
                        listed(answers.embeddings));
  return Outcome{.json = to_text(json), .text = text, .exit_code = hit ? kPassed : kFailed};
}

}  // namespace

Result<Outcome> run_store(const StepOptions& options) {
  if (options.runs.size() != 2)
    return Error(
        fmt::format("store needs what to do and a folder: {} words given", options.runs.size()),
        "lattice store inspect FOLDER");
  const std::string& what = options.runs[0];
  const std::string& folder = options.runs[1];
  if (what != "inspect" && what != "get" && what != "expire")
    return Error("store does not know how to " + what, "inspect, get or expire");
  const auto store =
      TRY(open_store(folder, what == "expire" ? Access::ReadWrite : Access::ReadOnly));
  if (what == "inspect") {
    const Json contents = TRY(store->contents());
    return inspect(contents);
  }
  if (what == "get") return get(*store, options);
  const int64_t now = TRY(moment(options));
  const uint64_t dropped = TRY(store->expire(now));
  return Outcome{.json = to_text({{"dropped_buckets", dropped}}),
                 .text = fmt::format("{} buckets dropped\n", dropped)};
}

}  // namespace weft::lattice
