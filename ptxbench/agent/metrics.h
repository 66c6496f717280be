// SPDX-License-Identifier: Apache-2.0

// What a run showed: rates after 1, 4 and 8 turns with intervals, pass@k, fast_p, error classes and
// how they follow each other, tokens against results; over all and by model, family, definition,
// architecture and prompt tag. A number that nobody measured is absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptxbench/agent/trajectory.h"

namespace weft::agent {

struct TurnRow {
  size_t number = 0;        // from 0; a table may leave turns out
  std::string correctness;  // "Correct", "Numerical error", ...: the words of the public tables
  std::string error_class;
  std::string arch_tag;  // "H", "A, H", "G"; empty: not known
  bool correct = false, audited = false;
  std::optional<double> speedup;
  Tokens tokens;
};

struct TrajectoryRow {
  std::string id, model, family, definition, architecture, prompt_tag;
  std::string problem;  // what its replicas have in common
  std::string ended;
  std::vector<TurnRow> turns;
};

Result<std::vector<TrajectoryRow>> run_rows(const std::string& run);
// A public per-turn table: trajectory_id, turn (from 0), correctness, and where there are such
// columns speedup and what the audit found: sass_arch_tag with sass_verification_status (a tag
// counts when it is "dynamic_present"), or arch_tag of older tables. Others are passed over.
Result<std::vector<TrajectoryRow>> csv_rows(const std::string& file);

struct Interval {
  double low = 0, high = 0;
};

// Wilson's interval of 95 % for `part` of `all`; all > 0.
Interval wilson(size_t part, size_t all);
// 1 - C(n-c, k) / C(n, k): the chance that k of n samples without replacement hold one of c right
// ones.
double pass_at_k(size_t n, size_t c, size_t k);

struct PassAtK {
  size_t k = 0, problems = 0;        // problems with at least k replicas
  double value = 0;                  // mean over them
  std::optional<Interval> interval;  // by resampling the problems; absent with only one
};

struct Summary {
  std::string by, group;                              // "model", "m"; "all", ""
  unsigned turns = 0;                                 // results after so many
  size_t trajectories = 0, correct = 0, audited = 0;  // audited ones are correct, too
  std::optional<double> best_speedup;
  std::vector<PassAtK> pass_at;
  // Share of trajectories that are correct and faster than p times the library; empty: no times.
  std::vector<std::pair<double, double>> fast;
  double tokens = 0;  // mean of a trajectory
};

std::vector<Summary> summaries_of(const std::vector<TrajectoryRow>& rows);

using Counts = std::map<std::string, size_t>;
using Transitions = std::map<std::pair<std::string, std::string>, size_t>;
Counts error_classes(const std::vector<TrajectoryRow>& rows);
Transitions transitions(const std::vector<TrajectoryRow>& rows);  // of a turn's class to the next's

// turns.csv, turn_correctness_arch.csv (columns of the public tables), summary.csv, transitions.csv
// and report.html, which needs no network.
Result<Done> write_report(const std::string& folder, const std::vector<TrajectoryRow>& rows);

}  // namespace weft::agent
