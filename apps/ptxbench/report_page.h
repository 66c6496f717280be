// SPDX-License-Identifier: Apache-2.0

// One HTML file about many verdicts, with its plots inside: it opens from disk and asks no network.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace weft::ptxbench {

// A line of the table: one workload of one verdict.
struct ReportRow {
  std::string definition, workload, solution, status, evidence;
  std::optional<double> share;    // of the arithmetic by target instructions
  std::optional<double> error;    // largest absolute one
  std::optional<double> speedup;  // over the library
};

std::vector<ReportRow> report_rows(const std::vector<Json>& verdicts);

std::string report_page(const std::vector<ReportRow>& rows);

}  // namespace weft::ptxbench
