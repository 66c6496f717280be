// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/agent/metrics.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/text_file.h"

namespace weft::agent {
namespace {

constexpr unsigned kTurnLimits[] = {1, 4, 8};
constexpr size_t kSamples[] = {1, 2, 4, 8, 16};
constexpr double kFast[] = {0, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2};
constexpr int kResamples = 1000;

using Rows = std::vector<const TrajectoryRow*>;

// One record of CSV with quotes (RFC 4180); `at` moves behind its line.
std::vector<std::string> csv_record(const std::string& text, size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += text[++at];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else if (c != '\r' || quoted) {
      fields.back() += c;
    }
  }
  return fields;
}

// The turns before number `turns`.
std::vector<const TurnRow*> within(const TrajectoryRow& row, unsigned turns) {
  std::vector<const TurnRow*> all;
  for (const TurnRow& turn : row.turns)
    if (turn.number < turns) all.push_back(&turn);
  return all;
}

bool correct_within(const TrajectoryRow& row, unsigned turns, bool audited) {
  for (const TurnRow* turn : within(row, turns))
    if (turn->correct && (!audited || turn->audited)) return true;
  return false;
}

std::optional<double> best_within(const TrajectoryRow& row, unsigned turns) {
  std::optional<double> best;
  for (const TurnRow* turn : within(row, turns))
    if (turn->correct && turn->speedup)
      best = std::max(best.value_or(*turn->speedup), *turn->speedup);
  return best;
}

std::vector<PassAtK> pass_at(const Rows& rows, unsigned turns) {
  std::map<std::string, std::pair<size_t, size_t>> problems;  // replicas, right ones
  for (const TrajectoryRow* row : rows) {
    auto& [n, c] = problems[row->problem];
    ++n;
    c += correct_within(*row, turns, false);
  }
  std::vector<PassAtK> all;
  for (const size_t k : kSamples) {
    std::vector<double> values;
    for (const auto& [name, counts] : problems)
      if (counts.first >= k) values.push_back(pass_at_k(counts.first, counts.second, k));
    if (values.empty()) break;
    const auto mean = [&](const auto& pick) {
      double sum = 0;
      for (size_t i = 0; i < values.size(); ++i) sum += values[pick(i)];
      return sum / static_cast<double>(values.size());
    };
    PassAtK entry{.k = k, .problems = values.size(), .value = mean([](size_t i) { return i; })};
    if (values.size() > 1) {
      std::mt19937_64 random(k);  // the same interval every time
      std::vector<double> means(kResamples);
      for (double& value : means) value = mean([&](size_t) { return random() % values.size(); });
      std::sort(means.begin(), means.end());
      entry.interval = {means[kResamples * 25 / 1000], means[kResamples * 975 / 1000 - 1]};
    }
    all.push_back(entry);
  }
  return all;
}

Summary summary_of(const Rows& rows, unsigned turns) {
  Summary summary{.turns = turns, .trajectories = rows.size()};
  std::vector<double> best;
  int64_t tokens = 0;
  for (const TrajectoryRow* row : rows) {
    summary.correct += correct_within(*row, turns, false);
    summary.audited += correct_within(*row, turns, true);
    if (const auto speedup = best_within(*row, turns)) best.push_back(*speedup);
    for (const TurnRow* turn : within(*row, turns))
      tokens += turn->tokens.prompt + turn->tokens.completion;
  }
  const auto count = static_cast<double>(rows.size());
  summary.tokens = static_cast<double>(tokens) / count;
  summary.pass_at = pass_at(rows, turns);
  if (best.empty()) return summary;
  summary.best_speedup = *std::max_element(best.begin(), best.end());
  for (const double p : kFast) {
    const auto faster = std::count_if(best.begin(), best.end(), [&](double x) { return x > p; });
    summary.fast.emplace_back(p, static_cast<double>(faster) / count);
  }
  return summary;
}

}  // namespace

Result<std::vector<TrajectoryRow>> run_rows(const std::string& run) {
  std::vector<TrajectoryRow> rows;
  for (const std::string& folder : TRY(trajectory_folders(run))) {
    const Trajectory trajectory = TRY(read_trajectory(folder));
    const TrajectoryHead& head = trajectory.head;
    TrajectoryRow row{.id = head.id,
                      .model = head.model,
                      .family = head.family,
                      .definition = head.definition,
                      .architecture = head.architecture,
                      .prompt_tag = head.prompt_tag,
                      .problem = fmt::format("{}/{}/{}/{}", head.model, head.definition,
                                             head.workload_uuid, head.prompt_tag),
                      .ended = trajectory.ended};
    for (const Turn& turn : trajectory.turns) {
      if (!turn.complete()) continue;
      row.turns.push_back({.number = row.turns.size(),
                           .correctness = std::string(correctness_word(turn.verdict)),
                           .error_class = turn.verdict.error_class,
                           .arch_tag = turn.verdict.arch_tag,
                           .correct = turn.verdict.passed(),
                           .audited = turn.verdict.passed() && turn.verdict.audited.value_or(false),
                           .speedup = turn.verdict.speedup,
                           .tokens = turn.tokens});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<TrajectoryRow>> csv_rows(const std::string& file) {
  const std::string text = TRY(read_file(file));
  size_t at = 0;
  const std::vector<std::string> names = csv_record(text, at);
  const auto column = [&](const char* name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const size_t id = column("trajectory_id"), turn = column("turn"),
               correctness = column("correctness"), speedup = column("speedup"),
               status = column("sass_verification_status"),
               arch = column(status < names.size() ? "sass_arch_tag" : "arch_tag");
  if (std::max({id, turn, correctness}) >= names.size())
    return Error(Diagnostic{.message = "not a per-turn table",
                            .hint = "it needs the columns trajectory_id, turn, correctness",
                            .file = file});
  std::map<std::string, std::map<int, TurnRow>> turns;
  for (uint32_t line = 2; at < text.size(); ++line) {
    const std::vector<std::string> fields = csv_record(text, at);
    if (fields.size() != names.size())
      return Error(
          Diagnostic{.message = fmt::format("{} fields instead of {}", fields.size(), names.size()),
                     .file = file,
                     .position = {line, 1}});
    TurnRow row{.correctness = fields[correctness], .error_class = fields[correctness]};
    row.correct = row.correctness == "Correct";
    if (arch < fields.size()) row.arch_tag = fields[arch];
    row.audited = row.correct && row.arch_tag.find_first_of("HB") != std::string::npos &&
                  (status >= fields.size() || fields[status] == "dynamic_present");
    if (speedup < fields.size() && !fields[speedup].empty())
      row.speedup = std::strtod(fields[speedup].c_str(), nullptr);
    turns[fields[id]][std::atoi(fields[turn].c_str())] = std::move(row);
  }
  std::vector<TrajectoryRow> rows;
  for (auto& [name, numbered] : turns) {
    TrajectoryRow row{.id = name, .problem = "table"};
    for (auto& [number, one] : numbered) {
      one.number = static_cast<size_t>(std::max(number, 0));
      row.turns.push_back(std::move(one));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Interval wilson(size_t part, size_t all) {
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(all);
  const double p = static_cast<double>(part) / n, scale = 1 + z * z / n;
  const double middle = (p + z * z / (2 * n)) / scale;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double pass_at_k(size_t n, size_t c, size_t k) {
  if (n - c < k) return 1;
  double none = 1;
  for (size_t i = n - c + 1; i <= n; ++i)
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - none;
}

std::vector<Summary> summaries_of(const std::vector<TrajectoryRow>& rows) {
  using Field = std::string TrajectoryRow::*;
  const std::pair<const char*, Field> fields[] = {{"model", &TrajectoryRow::model},
                                                  {"family", &TrajectoryRow::family},
                                                  {"definition", &TrajectoryRow::definition},
                                                  {"architecture", &TrajectoryRow::architecture},
                                                  {"prompt_tag", &TrajectoryRow::prompt_tag}};
  std::vector<std::pair<std::pair<std::string, std::string>, Rows>> groups;
  Rows all;
  for (const TrajectoryRow& row : rows) all.push_back(&row);
  if (all.empty()) return {};
  groups.push_back({{"all", ""}, all});
  for (const auto& [name, field] : fields) {
    std::map<std::string, Rows> parts;
    for (const TrajectoryRow* row : all)
      if (!(row->*field).empty()) parts[row->*field].push_back(row);
    for (auto& [value, part] : parts) groups.push_back({{name, value}, std::move(part)});
  }
  std::vector<Summary> summaries;
  for (const auto& [group, members] : groups)
    for (const unsigned turns : kTurnLimits) {
      Summary summary = summary_of(members, turns);
      summary.by = group.first;
      summary.group = group.second;
      summaries.push_back(std::move(summary));
    }
  return summaries;
}

Counts error_classes(const std::vector<TrajectoryRow>& rows) {
  Counts counts;
  for (const TrajectoryRow& row : rows)
    for (const TurnRow& turn : row.turns) ++counts[turn.error_class];
  return counts;
}

Transitions transitions(const std::vector<TrajectoryRow>& rows) {
  Transitions counts;
  for (const TrajectoryRow& row : rows)
    for (size_t i = 1; i < row.turns.size(); ++i)
      ++counts[{row.turns[i - 1].error_class, row.turns[i].error_class}];
  return counts;
}

}  // namespace weft::agent
