// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/verdict_summary.h"

#include <nlohmann/json.hpp>

#include "base/json_member.h"

namespace weft::agent {
namespace {

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

std::string failed_stage(const Json& audit) {
  const Json& stages = member(audit, "stages");
  if (!stages.is_array()) return {};
  for (const Json& stage : stages)
    if (member(stage, "passed") == false) return text_of(member(stage, "stage"));
  return {};
}

std::string class_of(const std::string& status, const Json& audit) {
  if (status == "PASSED") return "passed";
  if (status == "COMPILE_ERROR")
    return failed_stage(audit) == "screen" ? "refused" : "compile error";
  if (status == "TIMEOUT") return "timeout";
  if (status == "INCORRECT_NUMERICAL") return "incorrect";
  if (status == "INCORRECT_SHAPE" || status == "INCORRECT_DTYPE") return "wrong shape or type";
  if (status != "RUNTIME_ERROR") return "other";
  const std::string kind = text_of(member(member(audit, "fault"), "kind"));
  return kind.empty() ? "runtime error" : "fault: " + kind;
}

}  // namespace

VerdictSummary summarize(const Json& envelope) {
  const Json& audit = member(envelope, "audit");
  VerdictSummary summary{.status = text_of(member(envelope, "status")),
                         .share = number(member(audit, "share")),
                         .speedup = number(member(envelope, "min_speedup")),
                         .evaluation_id = text_of(member(envelope, "evaluation_id")),
                         .kernel_sha256 = text_of(member(envelope, "kernel_sha256"))};
  summary.error_class = class_of(summary.status, audit);
  const Json& executed = member(audit, "target_instructions_executed");
  if (executed.is_boolean()) {
    const std::string share_class = text_of(member(audit, "share_class"));
    summary.arch_tag = executed.get<bool>() ? text_of(member(audit, "family")) : "G";
    if (!executed.get<bool>())
      summary.audited = false;
    else if (share_class != "unverified")
      summary.audited = share_class != "decorative" && share_class != "absent";
  }
  return summary;
}

std::string_view correctness_word(const VerdictSummary& summary) {
  if (summary.status == "PASSED") return "Correct";
  if (summary.status.empty()) return "Extraction error";
  if (summary.status == "INCORRECT_NUMERICAL") return "Numerical error";
  if (summary.status == "COMPILE_ERROR") return "Compilation error";
  if (summary.status == "TIMEOUT") return "Kernel Execution Timeout";
  if (summary.status == "RUNTIME_ERROR") return "Runtime error";
  return "Other error";
}

}  // namespace weft::agent
