// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/reports.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/wire/audit.h"

namespace weft::service {
namespace {

std::string status_of(const Json& envelope) {
  return envelope.value("status", "");
}

const Json& fault_of(const Json& envelope) {
  return envelope.at("audit").at("fault");
}

// The first stage that failed: its name and evidence.
std::string failure_of(const Json& envelope) {
  for (const Json& stage : envelope.at("audit").at("stages"))
    if (stage.at("passed") == false)
      return fmt::format("{}: {}", stage.value("stage", ""), stage.value("evidence", ""));
  return "";
}

void append_part(std::string& text, const std::string& part) {
  if (part.empty() || text.find(part) != std::string::npos) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += part;
}

// The first lines of `text`, and how many more there are.
std::string cut(const std::string& text, const std::optional<int64_t>& lines) {
  if (!lines) return text;
  size_t end = 0;
  for (int64_t i = 0; i < *lines; ++i) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  const auto left = std::count(text.begin() + static_cast<ptrdiff_t>(end), text.end(), '\n');
  if (left == 0) return text;
  return text.substr(0, end) + fmt::format("[{} more lines]\n", left);
}

std::string upper(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

struct RuntimeError {
  const char* name;
  int code;
  const char* text;
};

// What the CUDA runtime answers after such a fault.
RuntimeError runtime_error(const std::string& fault_kind) {
  if (fault_kind == "out of bounds")
    return {"cudaErrorIllegalAddress", 700, "an illegal memory access was encountered"};
  if (fault_kind == "misaligned address")
    return {"cudaErrorMisalignedAddress", 716, "misaligned address"};
  if (fault_kind == "assertion failed")
    return {"cudaErrorAssert", 710, "device-side assert triggered"};
  return {"cudaErrorLaunchFailure", 719, "unspecified launch failure"};
}

std::string coordinates(const Json& fault, const char* name) {
  std::vector<int64_t> values = fault.value(name, std::vector<int64_t>());
  return fmt::format("({})", fmt::join(values, ","));
}

std::string finding(const Json& fault) {
  std::string text =
      fmt::format("========= {}: {}\n", fault.value("kind", ""), fault.value("message", ""));
  const uint32_t line = fault.value("source_line", 0u);
  text += fmt::format("=========     at {}", fault.value("kernel", ""));
  if (line != 0) text += fmt::format(" in {}:{}", fault.value("source_file", ""), line);
  text += '\n';
  if (const uint32_t ptx_line = fault.value("ptx_line", 0u); ptx_line != 0)
    text +=
        fmt::format("=========     PTX line {}: {}\n", ptx_line, fault.value("instruction", ""));
  text += fmt::format("=========     by thread {} in block {}\n", coordinates(fault, "thread"),
                      coordinates(fault, "block"));
  for (const Json& note : fault.at("notes"))
    text += "=========     " + note.get<std::string>() + "\n";
  const RuntimeError error = runtime_error(fault.value("kind", ""));
  text += fmt::format(
      "=========\n========= Program hit {} (error {}) due to \"{}\" on CUDA API call to "
      "cudaDeviceSynchronize.\n=========\n",
      error.name, error.code, error.text);
  return text;
}

const Json& evaluation_of(const Json& envelope) {
  return envelope.at("traces").at(0).at("evaluation");
}

Json section(const std::string& text) {
  return {{"exist", !text.empty()}, {"msg", text}};
}

// The lines round the fault, from the solution's own text.
std::string source_context(const JudgeRequest& request, const Json& fault) {
  if (!fault.is_object()) return "";
  const int64_t wanted = fault.value("source_line", 0);
  const std::string file = fault.value("source_file", "");
  for (const auto& [path, content] : request.solution.sources) {
    if (wanted == 0 || path != file) continue;
    std::istringstream stream(content);
    std::string text = fmt::format("{}:{}\n", file, wanted), line;
    for (int64_t number = 1; std::getline(stream, line); ++number)
      if (std::abs(number - wanted) <= request.source_context_lines)
        text += fmt::format("{} {:5} | {}\n", number == wanted ? '>' : ' ', number, line);
    return text;
  }
  return "";
}

Json log_entry(const JudgeRequest& request, const Json& envelope) {
  return {{"definition", request.solution.definition},
          {"workload", envelope.at("traces").at(0).at("workload")},
          {"solution", request.solution.normalized_name()}};
}

}  // namespace

Json contract_trace(const Json& envelope, const std::string& solution) {
  Json trace = envelope.at("traces").at(0);
  trace["solution"] = solution;
  Json& evaluation = trace["evaluation"];
  const std::string status = status_of(envelope);
  if (evaluation.value("performance", Json()).is_null()) evaluation.erase("performance");
  // The schema has correctness for these two only.
  const bool compared = status == "PASSED" || status == "INCORRECT_NUMERICAL";
  if (evaluation.value("correctness", Json()).is_null()) {
    evaluation.erase("correctness");
  } else if (!compared) {
    evaluation["comparison"] = evaluation["correctness"];
    evaluation.erase("correctness");
  }
  std::string log;
  if (status != "PASSED") {
    append_part(log, failure_of(envelope));
    if (status == "COMPILE_ERROR") append_part(log, envelope.value("compile_log", ""));
    if (fault_of(envelope).is_object()) append_part(log, fault_of(envelope).value("text", ""));
  }
  append_part(log, evaluation.value("log", ""));
  evaluation["log"] = log;
  return trace;
}

std::string sanitizer_report(const JudgeRequest& request, const Json& envelope) {
  const std::string status = status_of(envelope);
  const Json& fault = fault_of(envelope);
  std::string report;
  for (const std::string& type : request.sanitizers) {
    report +=
        std::string(80, '=') + "\nRunning " + upper(type) + "\n" + std::string(80, '=') + "\n";
    report += "========= COMPUTE-SANITIZER (emulated device)\n";
    if (type == "racecheck" || type == "initcheck") {
      report += "========= WARNING: " + type + " is not available on the emulated device\n";
      continue;
    }
    if (status == "COMPILE_ERROR") {
      report += "The solution was not built:\n" + envelope.value("compile_log", "") + "\n";
      continue;
    }
    if (status == "TIMEOUT")
      report +=
          fmt::format("ERROR: the run timed out after its limit ({})\n", failure_of(envelope));
    const bool found = fault.is_object();
    if (found)
      report += finding(fault);
    else if (status == "RUNTIME_ERROR")
      report += "========= Target application returned an error: " + failure_of(envelope) + "\n";
    append_part(report, evaluation_of(envelope).value("log", ""));
    if (!report.ends_with('\n')) report += '\n';
    report += fmt::format("========= ERROR SUMMARY: {} error{}\n", found ? 1 : 0, found ? "" : "s");
  }
  return cut(report, request.max_lines);
}

std::string profile_report(const Json& envelope) {
  const Json& audit = envelope.at("audit");
  if (status_of(envelope) == "COMPILE_ERROR")
    return "ERROR: the solution was not built\n" + envelope.value("compile_log", "");
  if (!audit.contains("kernels") || audit.at("kernels").empty())
    return "ERROR: nothing was executed: " + failure_of(envelope);
  const std::string_view product = wire::tensor_instruction(audit.value("family", "H"));
  std::string text =
      "Executed instructions of the target family, counted by the emulator (PTX, exact).\n"
      "Times of an emulator say nothing about a GPU, so there are none.\n";
  for (const Json& kernel : audit.at("kernels")) {
    text += fmt::format("\n{}: {} launches\n", kernel.value("name", ""),
                        kernel.value("launches", uint64_t{0}));
    text += fmt::format(
        "  floating-point operations: {:.6g} by {}, {:.6g} by other tensor instructions, {:.6g} "
        "by scalar ones\n",
        kernel.value("target_operations", 0.0), product,
        kernel.value("other_tensor_operations", 0.0), kernel.value("scalar_operations", 0.0));
    text += fmt::format("  {:>14} {:>16}  {:<24} {}\n", "inst_executed", "thread_inst_true",
                        "source", "instruction");
    for (const Json& use : kernel.at("targets")) {
      const std::string file = use.value("source_file", "");
      const std::string place = file.empty()
                                    ? fmt::format("PTX line {}", use.value("ptx_line", 0u))
                                    : fmt::format("{}:{}", file, use.value("source_line", 0u));
      text += fmt::format("  {:>14} {:>16}  {:<24} {}\n", use.value("warps", uint64_t{0}),
                          use.value("lanes", uint64_t{0}), place, use.value("opcode", ""));
    }
  }
  if (audit.at("share").is_number())
    text += fmt::format("\nshare of the arithmetic by {}: {:.1f} % ({})\n", product,
                        100 * audit.value("share", 0.0), audit.value("share_class", ""));
  return text;
}

Json debug_report(const JudgeRequest& request, const Json& envelope) {
  const Json& fault = fault_of(envelope);
  const bool failed = status_of(envelope) != "PASSED";
  return {
      {"Status", section(status_of(envelope) + (failed ? ": " + failure_of(envelope) : ""))},
      {"Sanitizer report", section(fault.is_object() ? finding(fault) : "")},
      {"Source context", section(source_context(request, fault))},
      {"Compiler output",
       section(status_of(envelope) == "COMPILE_ERROR" ? envelope.value("compile_log", "") : "")},
      {"Program output", section(evaluation_of(envelope).value("log", ""))}};
}

Json result_of(const JudgeRequest& request, const Json& envelopes) {
  Json list = Json::array();
  for (const Json& envelope : envelopes) {
    if (request.kind == Kind::Evaluate) {
      list.push_back(contract_trace(envelope, request.solution.normalized_name()));
      continue;
    }
    Json entry = log_entry(request, envelope);
    if (request.kind == Kind::Sanitize) entry["log"] = sanitizer_report(request, envelope);
    if (request.kind == Kind::Profile)
      entry["log"] = cut(profile_report(envelope), request.max_lines);
    if (request.kind == Kind::Debug) entry["metadata"] = debug_report(request, envelope);
    list.push_back(std::move(entry));
  }
  return {{request.kind == Kind::Evaluate ? "traces" : "logs", std::move(list)},
          {"verdicts", envelopes}};
}

}  // namespace weft::service
