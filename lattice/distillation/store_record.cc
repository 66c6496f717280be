// SPDX-License-Identifier: Apache-2.0

// What a store says of itself: whose entries it has, under which limits, and how it was used.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "lattice/distillation/teacher_entry.h"

namespace weft::lattice {
namespace {

constexpr double kLongest = 10 * 365 * 86400.0;

const char* word_of(EmbeddingFormat format) {
  return format == EmbeddingFormat::Fp16 ? "fp16" : "int8";
}

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

bool has_numbers(const Json& json, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return member(json, name).is_number(); });
}

}  // namespace

const char* word_of(LookUp result) {
  constexpr std::array<const char*, kLookUps> kWords = {"hit",     "absent",        "expired",
                                                        "not_yet", "teacher_ahead", "away"};
  return kWords[static_cast<size_t>(result)];
}

Json to_json(const TeacherDescription& description) {
  return {{"version", description.version}, {"width", description.width},
          {"tasks", description.tasks},     {"format", word_of(description.format)},
          {"pairs", description.pairs},     {"trained_until", description.trained_until}};
}

Json to_json(const StoreUse& use, double lifetime_seconds) {
  uint64_t asked = 0;
  for (const uint64_t count : use.looked_up) asked += count;
  Json json = {{"written", use.written}, {"too_old", use.too_old}, {"looked_up", asked}};
  json["hit_rate"] = asked == 0
                         ? Json()
                         : Json(static_cast<double>(use.looked_up[0]) / static_cast<double>(asked));
  for (size_t i = 0; i < kLookUps; ++i) json[word_of(static_cast<LookUp>(i))] = use.looked_up[i];
  json["ages"] = Json::array();
  for (size_t i = 0; i < StoreUse::kAges; ++i)
    json["ages"].push_back({{"up_to_seconds", lifetime_seconds * static_cast<double>(i + 1) /
                                                  static_cast<double>(StoreUse::kAges)},
                            {"hits", use.ages[i]}});
  return json;
}

Result<StoreLimits> settled(StoreLimits limits) {
  if (!(limits.lifetime_seconds >= 1 && limits.lifetime_seconds <= kLongest))
    return Error(
        fmt::format("a teacher store's lifetime is out of range: {} s", limits.lifetime_seconds),
        "a second to ten years; six hours is usual");
  if (limits.retention_seconds == 0) limits.retention_seconds = limits.lifetime_seconds;
  if (limits.bucket_seconds == 0) limits.bucket_seconds = limits.lifetime_seconds / 6;
  if (!(limits.retention_seconds >= limits.lifetime_seconds &&
        limits.retention_seconds <= kLongest))
    return Error(
        fmt::format("a teacher store's retention is out of range: {} s", limits.retention_seconds),
        fmt::format("at least the lifetime, {} s", limits.lifetime_seconds));
  constexpr double kBuckets = 1000;
  if (!(limits.bucket_seconds * kBuckets >= limits.retention_seconds &&
        limits.bucket_seconds <= limits.retention_seconds))
    return Error(
        fmt::format("a teacher store's bucket is out of range: {} s", limits.bucket_seconds),
        fmt::format("between a thousandth and the whole of the retention, {} s",
                    limits.retention_seconds));
  return limits;
}

Result<Done> check(const TeacherDescription& description) {
  constexpr uint32_t kWidest = 65'536;
  if (description.version.empty() || description.width == 0 || description.width > kWidest)
    return Error(fmt::format("a teacher store needs a version and a width: version '{}', width {}",
                             description.version, description.width),
                 fmt::format("the width is 1 to {}", kWidest));
  return Done{};
}

Result<Done> same_teacher(const TeacherDescription& there, const TeacherDescription& wanted,
                          const std::string& where) {
  std::string what;
  const auto differ = [&](const char* name, const auto& one, const auto& other) {
    if (!(one == other))
      what += fmt::format("{}{} {} there, {} wanted", what.empty() ? "" : "; ", name, one, other);
  };
  differ("version", there.version, wanted.version);
  differ("width", there.width, wanted.width);
  differ("tasks", listed(there.tasks), listed(wanted.tasks));
  differ("format", std::string(word_of(there.format)), std::string(word_of(wanted.format)));
  differ("pairs", there.pairs, wanted.pairs);
  differ("trained until", there.trained_until, wanted.trained_until);
  if (what.empty()) return Done{};
  return Error(fmt::format("the store belongs to another teacher: {}: {}", where, what),
               "give each teacher a store of its own");
}

std::string to_record(const TeacherDescription& description, const StoreLimits& limits) {
  return to_text({{"teacher", to_json(description)},
                  {"lifetime_seconds", limits.lifetime_seconds},
                  {"retention_seconds", limits.retention_seconds},
                  {"bucket_seconds", limits.bucket_seconds},
                  {"most_bytes", limits.most_bytes}});
}

Result<StoreRecord> parse_record(const std::string& text, const std::string& where) {
  const Error damaged("the description of a teacher store cannot be read: " + where,
                      "the store was made by something else, or damaged; make a new one");
  const Result<Json> json = parse_json(text);
  if (!json.ok()) return damaged;
  const Json& teacher = member(*json, "teacher");
  const Json& tasks = member(teacher, "tasks");
  if (!has_numbers(*json,
                   {"lifetime_seconds", "retention_seconds", "bucket_seconds", "most_bytes"}) ||
      !has_numbers(teacher, {"width", "trained_until"}) || !tasks.is_array())
    return damaged;
  StoreRecord record{.description = {.version = text_of(member(teacher, "version")),
                                     .width = member(teacher, "width"),
                                     .format = text_of(member(teacher, "format")) == "int8"
                                                   ? EmbeddingFormat::Int8
                                                   : EmbeddingFormat::Fp16,
                                     .pairs = text_of(member(teacher, "pairs")),
                                     .trained_until = member(teacher, "trained_until")},
                     .limits = {.lifetime_seconds = member(*json, "lifetime_seconds"),
                                .retention_seconds = member(*json, "retention_seconds"),
                                .bucket_seconds = member(*json, "bucket_seconds"),
                                .most_bytes = member(*json, "most_bytes")}};
  for (const Json& task : tasks) record.description.tasks.push_back(text_of(task));
  TRY(check(record.description));
  record.limits = TRY(settled(record.limits));
  return record;
}

}  // namespace weft::lattice
