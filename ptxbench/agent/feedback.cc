// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/feedback.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_member.h"
#include "base/printable.h"
#include "ptxbench/wire/audit.h"

namespace weft::agent {
namespace {

constexpr int64_t kContextLines = 3;

const Json& evaluation_of(const Json& envelope) {
  static const Json kNone;
  const Json& traces = member(envelope, "traces");
  return traces.is_array() && !traces.empty() ? member(traces[0], "evaluation") : kNone;
}

int64_t integer(const Json& json) {
  return json.is_number() ? json.get<int64_t>() : 0;
}

std::string evidence(const Json& audit) {
  const Json& stages = member(audit, "stages");
  if (!stages.is_array()) return {};
  for (const Json& stage : stages)
    if (member(stage, "passed") == false)
      return text_of(member(stage, "stage")) + ": " + text_of(member(stage, "evidence"));
  return {};
}

std::string source_context(const std::string& code, int64_t wanted) {
  std::istringstream stream(code);
  std::string all, line;
  for (int64_t number = 1; std::getline(stream, line); ++number)
    if (std::abs(number - wanted) <= kContextLines)
      all += fmt::format("{} {:4} | {}\n", number == wanted ? '>' : ' ', number, line);
  return all;
}

std::string fault_text(const Json& fault, const std::string& code) {
  std::string out = text_of(member(fault, "text"));
  if (out.empty())
    out =
        fmt::format("{}: {}\n", text_of(member(fault, "kind")), text_of(member(fault, "message")));
  if (const int64_t line = integer(member(fault, "source_line")); line > 0)
    out += "\n" + source_context(code, line);
  return out;
}

// From the counts alone: a comparison's own words name the tolerance.
std::string comparison_text(const Json& comparison) {
  std::string out = fmt::format(
      "output {}, call {}: {} of {} elements wrong", text_of(member(comparison, "output")),
      integer(member(comparison, "trial")), integer(member(comparison, "mismatched")),
      integer(member(comparison, "elements")));
  if (const int64_t count = integer(member(comparison, "non_finite")); count > 0)
    out += fmt::format(", {} NaN or infinite", count);
  if (const int64_t count = integer(member(comparison, "never_written")); count > 0)
    out += fmt::format(", {} never written", count);
  out += ".\n";
  if (const Json& norm = member(comparison, "relative_norm"); norm.is_number())
    out += fmt::format(
        "Largest absolute error {:.4g}, norm of the error over the norm of the answer {:.4g}.\n",
        member(comparison, "max_absolute_error").is_number()
            ? member(comparison, "max_absolute_error").get<double>()
            : 0.0,
        norm.get<double>());
  if (const Json& bad = member(comparison, "first_bad"); bad.is_object())
    out += fmt::format("First bad element {}: {} instead of {}. Bad rows {}, bad columns {}.\n",
                       to_line(member(bad, "index")), to_line(member(bad, "actual")),
                       to_line(member(bad, "expected")), to_line(member(comparison, "bad_rows")),
                       to_line(member(comparison, "bad_columns")));
  if (const Json& factor = member(comparison, "constant_factor"); factor.is_number())
    out +=
        fmt::format("All values are off by about the same factor: {:.4g}.\n", factor.get<double>());
  return out;
}

std::string mismatch_text(const Json& evaluation, const Json& audit) {
  const Json& outputs = member(member(member(evaluation, "correctness"), "extra"), "outputs");
  std::string out;
  if (outputs.is_array())
    for (const Json& comparison : outputs)
      if (member(comparison, "passed") == false) out += comparison_text(comparison);
  return out.empty() ? evidence(audit) + "\n" : out;
}

std::string audit_text(const Json& audit) {
  const Json& executed = member(audit, "target_instructions_executed");
  const std::string_view product = wire::tensor_instruction(text_of(member(audit, "family")));
  if (!executed.is_boolean())
    return fmt::format("Audit: not measured ({}).\n", text_of(member(audit, "reason")));
  if (!executed.get<bool>())
    return fmt::format("Audit: no {} and no TMA copy was executed; the task is to use them.\n",
                       product);
  const std::string warps = std::string(product) + "_warps";
  std::string out = fmt::format("Audit: executed {} by {} warps, TMA copies by {} warps", product,
                                integer(member(member(audit, "executed"), warps.c_str())),
                                integer(member(member(audit, "executed"), "tma_warps")));
  if (const Json& share = member(audit, "share"); share.is_number())
    out += fmt::format("; {} did {:.1f} % of the arithmetic ({})", product,
                       100 * share.get<double>(), text_of(member(audit, "share_class")));
  return out + ".\n";
}

std::string timing_text(const Json& evaluation, const FeedbackLimits& limits) {
  const Json& performance = member(evaluation, "performance");
  if (!performance.is_object())
    return fmt::format("Time: not measured ({}).\n",
                       text_of(member(evaluation, "performance_reason")));
  std::string out = fmt::format("Time: {:.4f} ms", member(performance, "latency_ms").get<double>());
  if (const Json& speedup = member(performance, "speedup_factor"); speedup.is_number()) {
    out += fmt::format(", {:.3f} times as fast as the library", speedup.get<double>());
    if (limits.target_speedup) out += fmt::format(" (wanted: {:.3f})", *limits.target_speedup);
  }
  const Json& timing = member(performance, "extra");
  const double time = member(performance, "latency_ms").get<double>();
  if (const Json& floor = member(timing, "roofline_floor_ms"); floor.is_number() && time > 0)
    out += fmt::format(". The device's limit for this task is {:.4f} ms; you are at {:.0f} % of it",
                       floor.get<double>(), 100 * floor.get<double>() / time);
  if (member(timing, "overhead_bound") == true) out += ". The launch itself is what takes the time";
  return out + ".\n";
}

// What ptxas had to say that costs speed.
std::string diagnostics_text(const Json& envelope) {
  std::istringstream lines(text_of(member(envelope, "compile_log")));
  std::string out, line;
  while (std::getline(lines, line))
    if (line.find("performance loss") != std::string::npos ||
        (line.find("spill stores") != std::string::npos &&
         line.find(" 0 bytes spill stores") == std::string::npos))
      out += line + "\n";
  return out;
}

}  // namespace

std::string bounded(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  constexpr size_t kNote = 40;  // bytes for the note between the parts
  const size_t kept = bytes > kNote ? bytes - kNote : 0;
  size_t head = kept * 2 / 3, tail = text.size() - (kept - head);
  // Not inside a character.
  while (head > 0 && (static_cast<unsigned char>(text[head]) & 0xC0) == 0x80) --head;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) ++tail;
  return text.substr(0, head) + fmt::format("\n[{} bytes left out]\n", tail - head) +
         text.substr(tail);
}

std::string answer_feedback(const std::string& problem) {
  return "Could not extract a kernel: " + problem +
         ".\nAnswer with the whole kernel.cu in one fenced block that begins with ```cuda.\n";
}

std::string verdict_feedback(const Json& envelope, const std::string& code,
                             const FeedbackLimits& limits) {
  const std::string status = text_of(member(envelope, "status"));
  const Json& audit = member(envelope, "audit");
  const Json& evaluation = evaluation_of(envelope);
  std::string out = status + ". ";
  std::string close = "\nCorrect this and answer with the whole kernel.cu in one fenced block.\n";
  if (status == "PASSED") {
    out += "Every element is right.\n" + audit_text(audit) + timing_text(evaluation, limits) +
           diagnostics_text(envelope);
    close =
        "\nMake it faster, keep it right, and answer with the whole kernel.cu in one fenced "
        "block.\n";
  } else if (status == "COMPILE_ERROR") {
    const std::string log = text_of(member(envelope, "compile_log"));
    out += "Failed to compile kernel.\n" + (log.empty() ? evidence(audit) + "\n" : log);
  } else if (status == "INCORRECT_NUMERICAL") {
    out += "Result is incorrect.\n" + mismatch_text(evaluation, audit) + audit_text(audit) +
           diagnostics_text(envelope);
  } else {
    const Json& fault = member(audit, "fault");
    out += evidence(audit) + "\n";
    if (fault.is_object()) out += fault_text(fault, code);
    const std::string log = text_of(member(evaluation, "log"));
    if (!log.empty() && out.find(log) == std::string::npos) out += log + "\n";
    out += diagnostics_text(envelope);
  }
  return bounded(printable(out, true), limits.bytes - std::min(limits.bytes, close.size())) + close;
}

}  // namespace weft::agent
