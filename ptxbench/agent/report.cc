// SPDX-License-Identifier: Apache-2.0

// The metrics as files: CSV for other tools, one HTML page with SVG plots for people.
#include <algorithm>

#include <fmt/format.h>

#include "base/html_text.h"
#include "base/text_file.h"
#include "ptxbench/agent/metrics.h"

namespace weft::agent {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ptxbench run</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; color: #1a1a1a; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #ddd; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
svg text { font: 12px system-ui, sans-serif; fill: #333; }
</style></head><body>
)";
constexpr const char* kColours[] = {"#0969da", "#cf222e", "#2da44e",
                                    "#8250df", "#bf8700", "#57606a"};

std::string csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

double share(size_t part, size_t all) {
  return static_cast<double>(part) / static_cast<double>(all);
}

std::string turns_csv(const std::vector<TrajectoryRow>& rows) {
  std::string text =
      "trajectory_id,model,family,definition,architecture,prompt_tag,turn,correctness,error_class,"
      "arch_tag,correct,audited,speedup,prompt_tokens,completion_tokens,reasoning_tokens\n";
  for (const TrajectoryRow& row : rows)
    for (const TurnRow& turn : row.turns)
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv(row.id),
                          csv(row.model), csv(row.family), csv(row.definition),
                          csv(row.architecture), csv(row.prompt_tag), turn.number,
                          csv(turn.correctness), csv(turn.error_class), csv(turn.arch_tag),
                          turn.correct, turn.audited, number(turn.speedup), turn.tokens.prompt,
                          turn.tokens.completion, turn.tokens.reasoning);
  return text;
}

// The public tables have an architecture for correct turns only. Their status says what is known:
// tags are of what was executed.
std::string public_csv(const std::vector<TrajectoryRow>& rows) {
  std::string text =
      "trajectory_id,turn,correctness,speedup,arch_tag,sass_arch_tag,sass_verification_status\n";
  for (const TrajectoryRow& row : rows)
    for (const TurnRow& turn : row.turns) {
      const bool executed = turn.correct && turn.arch_tag.find_first_of("HB") != std::string::npos;
      const char* status = !turn.correct           ? ""
                           : executed              ? "dynamic_present"
                           : turn.arch_tag.empty() ? "not_requested"
                                                   : "dynamic_not_executed";
      text += fmt::format("{},{},{},{},{},{},{}\n", csv(row.id), turn.number, csv(turn.correctness),
                          number(turn.speedup), turn.correct ? csv(turn.arch_tag) : "",
                          executed ? csv(turn.arch_tag) : "", status);
    }
  return text;
}

std::string summary_csv(const std::vector<Summary>& summaries) {
  std::string text =
      "by,group,turns,trajectories,correct,correct_rate,correct_low,correct_high,audited,audited_"
      "rate,"
      "audited_low,audited_high,best_speedup,mean_tokens,pass_at_1,pass_at_1_low,pass_at_1_high,"
      "pass_at_4,pass_at_4_low,pass_at_4_high,fast_1\n";
  for (const Summary& s : summaries) {
    const Interval correct = wilson(s.correct, s.trajectories),
                   audited = wilson(s.audited, s.trajectories);
    text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{},{:.6f},{:.6f},{:.6f},{},{:.1f}",
                        s.by, csv(s.group), s.turns, s.trajectories, s.correct,
                        share(s.correct, s.trajectories), correct.low, correct.high, s.audited,
                        share(s.audited, s.trajectories), audited.low, audited.high,
                        number(s.best_speedup), s.tokens);
    for (const size_t k : {size_t{1}, size_t{4}}) {
      const auto found = std::find_if(s.pass_at.begin(), s.pass_at.end(),
                                      [&](const PassAtK& p) { return p.k == k; });
      if (found == s.pass_at.end())
        text += ",,,";
      else
        text += fmt::format(",{:.6f},{},{}", found->value,
                            found->interval ? number(found->interval->low) : "",
                            found->interval ? number(found->interval->high) : "");
    }
    const auto fast =
        std::find_if(s.fast.begin(), s.fast.end(), [](const auto& f) { return f.first == 1; });
    text += fmt::format(",{}\n", fast == s.fast.end() ? "" : number(fast->second));
  }
  return text;
}

std::string transitions_csv(const Transitions& transitions) {
  std::string text = "from,to,count\n";
  for (const auto& [step, count] : transitions)
    text += fmt::format("{},{},{}\n", csv(step.first), csv(step.second), count);
  return text;
}

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

// Lines over shared axes; y from 0 to 1 as a share.
std::string line_plot(const char* title, const char* x_name, double x_most,
                      const std::vector<Curve>& curves) {
  constexpr int kLeft = 50, kWidth = 520, kHeight = 220, kTop = 10;
  if (curves.empty()) return fmt::format("<h2>{}</h2><p>not measured</p>\n", title);
  std::string svg =
      fmt::format("<h2>{}</h2><svg width=\"900\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n",
                  title, kHeight + kTop + 40, title);
  for (int i = 0; i <= 4; ++i) {
    const double y = kTop + kHeight * (1 - i / 4.0), x = kLeft + kWidth * i / 4.0;
    svg += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/><text x=\"{}\" "
        "y=\"{:.1f}\" "
        "text-anchor=\"end\">{} %</text>",
        kLeft, y, kLeft + kWidth, y, kLeft - 6, y + 4, 25 * i);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.3g}</text>", x,
                       kTop + kHeight + 16, x_most * i / 4);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     kLeft + kWidth / 2, kTop + kHeight + 34, x_name);
  for (size_t i = 0; i < curves.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    std::string points;
    for (const auto& [x, y] : curves[i].points)
      points += fmt::format("{:.1f},{:.1f} ", kLeft + kWidth * std::min(1.0, x / x_most),
                            kTop + kHeight * (1 - y));
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/><text x=\"{}\" "
        "y=\"{}\" "
        "style=\"fill:{}\">{}</text>\n",
        points, colour, kLeft + kWidth + 12, kTop + 14 + 16 * static_cast<int>(i), colour,
        html_text(curves[i].name));
  }
  return svg + "</svg>\n";
}

size_t most_turns(const std::vector<TrajectoryRow>& rows) {
  size_t most = 1;
  for (const TrajectoryRow& row : rows) most = std::max(most, row.turns.size());
  return most;
}

// Correct (or correct and audited) after each turn, a curve a model.
std::vector<Curve> by_turn(const std::vector<TrajectoryRow>& rows) {
  std::map<std::string, std::pair<std::vector<size_t>, size_t>> models;
  const size_t most = most_turns(rows);
  std::vector<Curve> curves;
  for (const bool audited : {false, true}) {
    models.clear();
    for (const TrajectoryRow& row : rows) {
      auto& [right, count] = models[row.model.empty() ? "all" : row.model];
      right.resize(most);
      ++count;
      bool reached = false;
      for (size_t i = 0; i < most; ++i) {
        if (i < row.turns.size())
          reached |= row.turns[i].correct && (!audited || row.turns[i].audited);
        right[i] += reached;
      }
    }
    for (const auto& [model, counted] : models) {
      Curve curve{.name = model + (audited ? ", correct and audited" : ", correct")};
      for (size_t i = 0; i < most; ++i)
        curve.points.emplace_back(static_cast<double>(i + 1),
                                  share(counted.first[i], counted.second));
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

// A bar a turn, split by error class.
std::string class_plot(const std::vector<TrajectoryRow>& rows) {
  constexpr int kLeft = 60, kWidth = 620, kRow = 24;
  const Counts all = error_classes(rows);
  std::map<std::string, size_t> place;
  for (const auto& [name, count] : all) place.emplace(name, place.size());
  const auto colour = [&](const std::string& name) {
    return name == "passed" || name == "Correct"
               ? std::string("#2da44e")
               : fmt::format("hsl({} 65% 50%)",
                             place.at(name) * 300 / std::max<size_t>(1, place.size()) + 180);
  };
  const size_t most = most_turns(rows);
  std::string svg = "<h2>Error classes by turn</h2>\n<p>";
  for (const auto& [name, count] : all)
    svg += fmt::format("<span style=\"color:{}\">&#9632;</span> {} {} &nbsp; ", colour(name),
                       html_text(name), count);
  svg += fmt::format(
      "</p><svg width=\"760\" height=\"{}\" role=\"img\" aria-label=\"error classes by turn\">\n",
      static_cast<int>(most) * kRow + 4);
  for (size_t i = 0; i < most; ++i) {
    Counts counts;
    for (const TrajectoryRow& row : rows)
      if (i < row.turns.size()) ++counts[row.turns[i].error_class];
    const int y = static_cast<int>(i) * kRow;
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">turn {}</text>", kLeft - 6,
                       y + 15, i + 1);
    double x = kLeft;
    for (const auto& [name, count] : counts) {
      const double width = kWidth * share(count, rows.size());
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}: "
          "{}</title></rect>",
          x, y, width, kRow - 6, colour(name), html_text(name), count);
      x += width;
    }
    svg += "\n";
  }
  return svg + "</svg>\n";
}

std::string transition_table(const std::vector<TrajectoryRow>& rows) {
  const Transitions counts = transitions(rows);
  if (counts.empty()) return "";
  std::map<std::string, size_t> to;
  for (const auto& [step, count] : counts) to[step.second] += count;
  std::string html = "<h2>What follows an error</h2>\n<table><tr><th>turn</th>";
  for (const auto& [name, count] : to) html += "<th>" + html_text(name) + "</th>";
  html += "</tr>\n";
  for (const auto& [from, total] : error_classes(rows)) {
    std::string cells;
    for (const auto& [name, unused] : to) {
      const auto found = counts.find({from, name});
      cells += fmt::format("<td class=\"n\">{}</td>",
                           found == counts.end() ? "" : std::to_string(found->second));
    }
    html += "<tr><th>" + html_text(from) + "</th>" + cells + "</tr>\n";
  }
  return html + "</table>\n";
}

// Tokens until the first correct answer, or all that were spent without one.
std::string token_plot(const std::vector<TrajectoryRow>& rows) {
  std::map<std::string, std::vector<std::pair<double, bool>>> models;
  double most = 1;
  for (const TrajectoryRow& row : rows) {
    double tokens = 0;
    bool right = false;
    for (size_t i = 0; i < row.turns.size() && !right; ++i) {
      tokens += static_cast<double>(row.turns[i].tokens.prompt + row.turns[i].tokens.completion);
      right = row.turns[i].correct;
    }
    most = std::max(most, tokens);
    models[row.model].emplace_back(tokens, right);
  }
  std::vector<Curve> curves;
  for (auto& [model, spent] : models) {
    std::sort(spent.begin(), spent.end());
    Curve curve{.name = model.empty() ? "all" : model, .points = {{0, 0}}};
    size_t right = 0;
    for (const auto& [tokens, good] : spent) {
      if (!good) continue;
      curve.points.emplace_back(tokens, share(right, spent.size()));
      curve.points.emplace_back(tokens, share(++right, spent.size()));
    }
    curve.points.emplace_back(most, share(right, spent.size()));
    curves.push_back(std::move(curve));
  }
  return most > 1 ? line_plot("Correct trajectories against tokens spent", "tokens of a trajectory",
                              most, curves)
                  : line_plot("Correct trajectories against tokens spent", "", 1, {});
}

std::string summary_table(const std::vector<Summary>& summaries) {
  std::string html =
      "<h2>Results</h2>\n<table><tr><th>by</th><th>group</th><th>turns</th><th>trajectories</"
      "th><th>correct</th>"
      "<th>correct and audited</th><th>best speed-up</th><th>pass@k</th><th>tokens</th></tr>\n";
  const auto rate = [](size_t part, size_t all) {
    const Interval interval = wilson(part, all);
    return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * share(part, all), 100 * interval.low,
                       100 * interval.high);
  };
  for (const Summary& s : summaries) {
    std::string pass;
    for (const PassAtK& p : s.pass_at)
      pass += fmt::format("{}@{} {:.2f}", pass.empty() ? "" : ", ", p.k, p.value);
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{:.0f}</td></tr>\n",
        s.by, html_text(s.group), s.turns, s.trajectories, rate(s.correct, s.trajectories),
        rate(s.audited, s.trajectories),
        s.best_speedup ? fmt::format("{:.3f}", *s.best_speedup) : "not measured", pass, s.tokens);
  }
  return html + "</table>\n";
}

std::string page(const std::vector<TrajectoryRow>& rows, const std::vector<Summary>& summaries) {
  std::vector<Curve> fast;
  for (const Summary& s : summaries)
    if (s.turns == 8 && !s.fast.empty() && (s.by == "all" || s.by == "model"))
      fast.push_back({.name = s.by == "all" ? "all" : s.group, .points = s.fast});
  return kHead + fmt::format("<h1>ptxbench: {} trajectories</h1>\n", rows.size()) +
         "<p>Intervals are Wilson's, 95 %.</p>\n" +
         line_plot("Correct after each turn", "turn", static_cast<double>(most_turns(rows)),
                   by_turn(rows)) +
         line_plot("fast_p after 8 turns: correct and faster than p times the library", "p", 2,
                   fast) +
         class_plot(rows) + transition_table(rows) + token_plot(rows) + summary_table(summaries) +
         "</body></html>\n";
}

}  // namespace

Result<Done> write_report(const std::string& folder, const std::vector<TrajectoryRow>& rows) {
  const std::vector<Summary> summaries = summaries_of(rows);
  TRY(write_file(folder + "/turns.csv", turns_csv(rows)));
  TRY(write_file(folder + "/turn_correctness_arch.csv", public_csv(rows)));
  TRY(write_file(folder + "/summary.csv", summary_csv(summaries)));
  TRY(write_file(folder + "/transitions.csv", transitions_csv(transitions(rows))));
  return write_file(folder + "/report.html", page(rows, summaries));
}

}  // namespace weft::agent
