// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/task_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "ptxbench/wire/audit.h"

namespace weft::ptxbench {
namespace {

std::string axes_text(const Json& workload) {
  std::string text;
  for (const auto& [name, value] : workload.at("axes").items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value.get<int64_t>());
  return text;
}

// Behind a status: what is known about it in one line.
std::string summary(const Json& verdict) {
  for (const Json& stage : verdict.at("audit").at("stages"))
    if (stage.at("passed") == false) return stage.value("evidence", "");
  const Json& share = verdict.at("audit").at("share");
  const std::string family = verdict.at("audit").value("family", "H");
  return share.is_number()
             ? fmt::format("share of the arithmetic by {}: {}", wire::tensor_instruction(family),
                           percent(share.get<double>()))
             : "";
}

}  // namespace

bool all_passed(const Json& task) {
  const auto verdicts = task.find("verdicts");
  if (verdicts == task.end() || verdicts->empty()) return false;
  for (const Json& verdict : *verdicts)
    if (verdict.value("status", "") != "PASSED") return false;
  return true;
}

std::string task_text(const Json& task) {
  std::string text = fmt::format("task {}: {} of {} on {}: {}\n", task.value("task_id", ""),
                                 task.value("kind", ""), task.value("solution", ""),
                                 task.value("definition", ""), task.value("status", ""));
  if (task.contains("error")) text += task.value("error", "") + "\n";
  if (task.contains("verdicts")) {
    std::vector<Row> rows = {{"status", "workload", "summary"}};
    for (const Json& verdict : task.at("verdicts"))
      rows.push_back({verdict.value("status", ""),
                      axes_text(verdict.at("traces").at(0).at("workload")), summary(verdict)});
    text += table(rows);
  }
  if (!task.contains("logs")) return text;
  for (const Json& entry : task.at("logs")) {
    if (entry.contains("log")) text += "\n" + entry.value("log", "");
    if (!entry.contains("metadata")) continue;
    for (const auto& [title, section] : entry.at("metadata").items())
      if (section.value("exist", false))
        text += fmt::format("\n{}\n{}\n", title, section.value("msg", ""));
  }
  return text;
}

}  // namespace weft::ptxbench
