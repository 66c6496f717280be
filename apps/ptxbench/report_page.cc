// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/report_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/html_text.h"

namespace weft::ptxbench {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ptxbench report</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.passed { color: #1a7f37; } .failed { color: #b42318; }
svg text { font: 12px system-ui, sans-serif; fill: #333; }
</style></head><body>
)";

const std::map<std::string, const char*> kColours = {
    {"PASSED", "#2da44e"},          {"INCORRECT_NUMERICAL", "#d4a72c"},
    {"INCORRECT_SHAPE", "#bf8700"}, {"INCORRECT_DTYPE", "#9a6700"},
    {"RUNTIME_ERROR", "#cf222e"},   {"COMPILE_ERROR", "#8250df"},
    {"TIMEOUT", "#6e7781"}};

const char* colour(const std::string& status) {
  const auto found = kColours.find(status);
  return found == kColours.end() ? "#57606a" : found->second;
}

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

std::string cell(const std::optional<double>& value, double factor, const char* unit) {
  return value ? fmt::format("<td class=\"number\">{:.3g}{}</td>", *value * factor, unit)
               : std::string("<td class=\"number\">&ndash;</td>");
}

// A bar a definition: how many verdicts of each status, side by side.
std::string status_plot(const std::vector<ReportRow>& rows) {
  std::map<std::string, std::map<std::string, int>> counts;
  int longest = 1;
  for (const ReportRow& row : rows) ++counts[row.definition][row.status];
  for (const auto& [definition, statuses] : counts) {
    int sum = 0;
    for (const auto& [status, count] : statuses) sum += count;
    longest = std::max(longest, sum);
  }
  constexpr int kLeft = 240, kWidth = 560, kRow = 24;
  std::string svg = fmt::format(
      "<svg width=\"{}\" height=\"{}\" role=\"img\" "
      "aria-label=\"verdicts by definition\">",
      kLeft + kWidth + 60, static_cast<int>(counts.size()) * kRow + 8);
  int y = 4;
  for (const auto& [definition, statuses] : counts) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLeft - 8, y + 15,
                       html_text(definition));
    double x = kLeft;
    int sum = 0;
    for (const auto& [status, count] : statuses) {
      const double width = static_cast<double>(kWidth) * count / longest;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}: "
          "{}</title></rect>",
          x, y, width, kRow - 6, colour(status), html_text(status), count);
      x += width;
      sum += count;
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x + 6, y + 15, sum);
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string legend(const std::vector<ReportRow>& rows) {
  std::map<std::string, int> counts;
  for (const ReportRow& row : rows) ++counts[row.status];
  std::string text = "<p>";
  for (const auto& [status, count] : counts)
    text += fmt::format("<span style=\"color:{}\">&#9632;</span> {} {} &nbsp; ", colour(status),
                        html_text(status), count);
  return text + "</p>\n";
}

// A dot a verdict along one axis, from 0 to `most`.
std::string dot_plot(const std::vector<ReportRow>& rows, std::optional<double> ReportRow::*value,
                     double least_most, const char* title, const char* unit, double factor) {
  double most = least_most;
  bool any = false;
  for (const ReportRow& row : rows) {
    if (!(row.*value)) continue;
    any = true;
    most = std::max(most, *(row.*value) * factor);
  }
  if (!any) return fmt::format("<h2>{}</h2><p>not measured</p>\n", title);
  constexpr int kLeft = 240, kWidth = 560, kRow = 24;
  std::map<std::string, std::vector<const ReportRow*>> groups;
  for (const ReportRow& row : rows)
    if (row.*value) groups[row.definition].push_back(&row);
  const int height = static_cast<int>(groups.size()) * kRow;
  std::string svg = fmt::format(
      "<h2>{}</h2><svg width=\"{}\" height=\"{}\" "
      "role=\"img\" aria-label=\"{}\">",
      title, kLeft + kWidth + 60, height + 28, title);
  for (int i = 0; i <= 4; ++i) {
    const double x = kLeft + kWidth * i / 4.0;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1}\" stroke=\"#ddd\"/><text "
        "x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3:.3g}{4}</text>",
        x, height, height + 18, most * i / 4, unit);
  }
  int y = 0;
  for (const auto& [definition, members] : groups) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLeft - 8, y + 16,
                       html_text(definition));
    for (const ReportRow* row : members)
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4\" fill=\"{}\" fill-opacity=\"0.7\"><title>{} {}: "
          "{:.3g}{}</title></circle>",
          kLeft + kWidth * *(row->*value) * factor / most, y + 12, colour(row->status),
          html_text(row->solution), html_text(row->workload), *(row->*value) * factor, unit);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace

std::vector<ReportRow> report_rows(const std::vector<Json>& verdicts) {
  std::vector<ReportRow> rows;
  for (const Json& verdict : verdicts) {
    const Json audit = verdict.value("audit", Json::object());
    std::string evidence;
    for (const Json& stage : audit.value("stages", Json::array()))
      if (evidence.empty() && stage.value("passed", Json()) == false)
        evidence = stage.value("evidence", "");
    for (const Json& trace : verdict.value("traces", Json::array())) {
      const Json& evaluation = trace.at("evaluation");
      ReportRow row{.definition = trace.value("definition", ""),
                    .solution = trace.value("solution", ""),
                    .status = evaluation.value("status", ""),
                    .evidence = evidence};
      for (const auto& [name, value] : trace.at("workload").at("axes").items())
        row.workload +=
            fmt::format("{}{}={}", row.workload.empty() ? "" : " ", name, to_line(value));
      row.share = number(audit.value("share", Json()));
      const Json correctness = evaluation.value("correctness", Json());
      if (correctness.is_object())
        row.error = number(correctness.value("max_absolute_error", Json()));
      const Json performance = evaluation.value("performance", Json());
      if (performance.is_object())
        row.speedup = number(performance.value("speedup_factor", Json()));
      rows.push_back(std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ReportRow& a, const ReportRow& b) {
    return a.definition < b.definition;
  });
  return rows;
}

std::string report_page(const std::vector<ReportRow>& rows) {
  std::string page = kHead;
  page += fmt::format("<h1>ptxbench: {} verdicts</h1>\n", rows.size());
  page += "<h2>Verdicts by definition</h2>\n" + legend(rows) + status_plot(rows);
  page += dot_plot(rows, &ReportRow::share, 100, "Share of the arithmetic by target instructions",
                   " %", 100);
  page += dot_plot(rows, &ReportRow::speedup, 1, "Speed-up over the library", "x", 1);
  page +=
      "<h2>All</h2>\n<table><tr><th>definition</th><th>workload</th><th>solution</th><th>status</"
      "th>"
      "<th>share</th><th>largest error</th><th>speed-up</th><th>evidence</th></tr>\n";
  for (const ReportRow& row : rows) {
    page += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td>{}{}{}<td>{}</td></tr>\n",
        html_text(row.definition), html_text(row.workload), html_text(row.solution),
        row.status == "PASSED" ? "passed" : "failed", html_text(row.status),
        cell(row.share, 100, " %"), cell(row.error, 1, ""), cell(row.speedup, 1, "x"),
        html_text(row.evidence));
  }
  return page + "</table>\n</body></html>\n";
}

}  // namespace weft::ptxbench
