// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/request.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "ptxbench/judge/trials.h"

namespace weft::service {
namespace {

constexpr int64_t kMostSeconds = 86400;
constexpr int64_t kMostLines = 1000000;

// Seeds have 64 bits, which JSON numbers of many clients do not: text is welcome too.
std::optional<uint64_t> seed(Fields& fields, std::string_view name) {
  const Json* member = fields.find(name);
  if (member == nullptr) return std::nullopt;
  if (member->is_number_unsigned() || (member->is_number_integer() && member->get<int64_t>() >= 0))
    return member->get<uint64_t>();
  if (member->is_string()) {
    const auto text = member->get<std::string>();
    uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc() && end == text.data() + text.size()) return value;
  }
  fields.wrong(name, "Input should be a seed: an unsigned integer, or one as text", "int_type");
  return std::nullopt;
}

void read_axes(Fields& fields, JudgeRequest& request, Issues& issues) {
  const Json* axes = fields.find("axes");
  if (axes == nullptr) return;
  Fields members(*axes, fields.place_of("axes"), issues);
  if (!axes->is_object()) return;
  for (const auto& [name, value] : axes->items())
    if (const auto extent = members.optional_integer(name, 0, int64_t{1} << 40))
      request.axes[name] = *extent;
}

void read_reporting(Kind kind, Fields& fields, JudgeRequest& request) {
  request.max_lines = fields.optional_integer("max_lines", 1, kMostLines);
  if (const auto types = fields.optional_texts("sanitizer_types")) {
    for (const std::string& type : *types)
      if (type != "memcheck" && type != "racecheck" && type != "initcheck" && type != "synccheck")
        fields.wrong("sanitizer_types", "unknown sanitizer: " + type, "enum");
    request.sanitizers = *types;
  }
  if (kind == Kind::Debug)
    request.source_context_lines =
        fields.optional_integer("source_context_lines", 0, 1000).value_or(4);
}

// Of the contract, without effect here but for their types.
void read_ignored(Kind kind, Fields& fields) {
  for (const char* name : {"sanitizer_path", "ncu_path", "set", "page", "kernel_name"})
    fields.optional_text(name);
  fields.optional_integer("print_limit", 1, kMostLines);
  fields.optional_texts("sections");
  fields.optional_texts("metrics");
  fields.optional_flag("profile_baseline");
  fields.optional_flag("enable_coredump");
  fields.optional_number("coredump_grace_seconds", 0, 1e6);
  if (kind != Kind::Evaluate) return;
  const std::string mode = fields.optional_text("baseline_cache_mode").value_or("reuse");
  if (mode != "reuse" && mode != "bypass")
    fields.wrong("baseline_cache_mode", "Input should be 'reuse' or 'bypass'", "enum");
  if (!fields.optional_flag("run_baseline").value_or(true))
    fields.wrong("run_baseline", "references are always computed here: true", "value_error");
  for (const char* name : {"atol", "rtol"})
    if (fields.optional_number(name, 0, 1e30))
      fields.wrong(name, "tolerances are the definition's here and cannot be replaced",
                   "value_error");
}

void restrict_names(Kind kind, Fields& fields) {
  switch (kind) {
    case Kind::Evaluate:
      return fields.only({"solution", "workload_uuids", "baseline_cache_mode", "profile_baseline",
                          "run_baseline", "timeout", "atol", "rtol", "axes", "trials", "input_seed",
                          "schedule_seed", "fresh"});
    case Kind::Sanitize:
      return fields.only({"solution", "workload_uuids", "sanitizer_types", "sanitizer_path",
                          "timeout", "max_lines", "print_limit", "axes", "trials", "input_seed",
                          "schedule_seed", "fresh"});
    case Kind::Profile:
      return fields.only({"solution", "workload_uuids", "set", "sections", "metrics", "kernel_name",
                          "page", "ncu_path", "timeout", "max_lines", "axes", "trials",
                          "input_seed", "schedule_seed", "fresh"});
    case Kind::Debug:
      return fields.only({"solution", "workload_uuids", "sanitizer_types", "sanitizer_path",
                          "timeout", "evaluation_timeout", "max_lines", "print_limit",
                          "source_context_lines", "enable_coredump", "coredump_grace_seconds",
                          "axes", "trials", "input_seed", "schedule_seed", "fresh"});
  }
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json line_of(const JudgeRequest& request) {
  return {{"kind", name(request.kind)},
          {"solution", to_json(request.solution)},
          {"workload_uuids", or_null(request.workload_uuids)},
          {"axes", request.axes},
          {"trials", or_null(request.trials)},
          {"timeout", or_null(request.timeout_seconds)},
          {"input_seed", or_null(request.input_seed)},
          {"schedule_seed", or_null(request.schedule_seed)},
          {"max_lines", or_null(request.max_lines)},
          {"source_context_lines", request.source_context_lines},
          {"sanitizer_types", request.sanitizers},
          {"stamp", request.stamp},
          {"nonce", request.nonce}};
}

}  // namespace

JudgeRequest read_request(Kind kind, const Json& body, Issues& issues) {
  JudgeRequest request;
  request.kind = kind;
  Fields fields(body, {"body"}, issues);
  restrict_names(kind, fields);
  if (const Json* solution = fields.find("solution"))
    request.solution = read_solution(*solution, fields.place_of("solution"), issues);
  else if (body.is_object())
    fields.wrong("solution", "Field required", "missing");
  request.workload_uuids = fields.optional_texts("workload_uuids");
  read_axes(fields, request, issues);
  request.trials = fields.optional_integer("trials", 1, judge::kMostTrials);
  request.timeout_seconds = fields.optional_integer("timeout", 1, kMostSeconds);
  if (const auto seconds = fields.optional_integer("evaluation_timeout", 1, kMostSeconds))
    request.timeout_seconds = seconds;
  request.input_seed = seed(fields, "input_seed");
  request.schedule_seed = seed(fields, "schedule_seed");
  request.fresh = fields.optional_flag("fresh").value_or(false);
  read_reporting(kind, fields, request);
  read_ignored(kind, fields);
  return request;
}

Submission to_submission(const JudgeRequest& request) {
  const Json line = line_of(request);
  Json question = line;
  question["solution"].erase("name");
  question["solution"].erase("author");
  return {.id = sha256(to_line(question)).substr(0, 32),
          .kind = request.kind,
          .definition = request.solution.definition,
          .solution = request.solution.normalized_name(),
          .request = to_line(line)};
}

Result<JudgeRequest> read_submission(const std::string& line) {
  Json json = TRY(parse_json(line, "stored request"));
  Issues issues;
  if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string())
    return Error("a stored request cannot be read: it has no kind");
  const std::optional<Kind> kind = kind_named(json["kind"].get<std::string>());
  if (!kind) return Error("a stored request cannot be read: unknown kind");
  // What only the store has is taken off; the rest is as a client sends it to /debug, which knows
  // all fields.
  const std::string stamp = json.value("stamp", ""), nonce = json.value("nonce", "");
  for (const char* own : {"kind", "stamp", "nonce"}) json.erase(own);
  JudgeRequest request = read_request(Kind::Debug, json, issues);
  if (!issues.none())
    return Error("a stored request cannot be read: " + issues.all().front().message);
  request.kind = *kind;
  request.stamp = stamp;
  request.nonce = nonce;
  return request;
}

}  // namespace weft::service
