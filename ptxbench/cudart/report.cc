// SPDX-License-Identifier: Apache-2.0

// The rows are gathered when a program is dropped and when the file is written, so that launches
// pay nothing for the report.
#include "ptxbench/cudart/report.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/cudart/host_reads.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/emulator/report_rows.h"

namespace weft::cudart {
namespace {

struct KernelRow {
  KernelRuns runs;
  std::vector<Json> instructions;
};
using Rows = std::map<std::string, KernelRow>;

struct Kept {
  std::mutex mutex;
  Rows finished;
  std::optional<emulator::Fault> fault;
};

Kept& kept() {
  static Kept& instance = *new Kept;
  return instance;
}

void add(Rows& rows, const emulator::Program& program, const RunsByKernel& runs) {
  for (const auto& [name, run] : runs) {
    rows[name].runs.launches += run.launches;
    rows[name].runs.seconds += run.seconds;
  }
  for (auto& [name, instructions] : emulator::executed_instructions(program)) {
    std::vector<Json>& all = rows[name].instructions;
    for (Json& instruction : instructions) all.push_back(std::move(instruction));
  }
}

}  // namespace

void keep_counts(const emulator::Program& program, const RunsByKernel& runs) {
  const std::lock_guard lock(kept().mutex);
  add(kept().finished, program, runs);
}

void report_fault(const emulator::Fault& fault) {
  const std::lock_guard lock(kept().mutex);
  kept().fault = fault;
}

void write_report() {
  const char* path = std::getenv("WEFT_EMULATE_REPORT");
  if (path == nullptr || *path == '\0') return;
  Rows rows;
  Json fault = nullptr;
  {
    const std::lock_guard lock(kept().mutex);
    rows = kept().finished;
    if (kept().fault) fault = emulator::to_json(*kept().fault);
  }
  each_loaded_program([&](const emulator::Program& program, const RunsByKernel& runs) {
    add(rows, program, runs);
  });

  Json kernels = Json::array();
  for (auto& [name, row] : rows)
    kernels.push_back({{"name", name},
                       {"launches", row.runs.launches},
                       {"instructions", std::move(row.instructions)},
                       {"seconds", row.runs.seconds}});
  Json report = {{"schema", "weft.emulate.report.v1"},
                 {"device", model().key},
                 {"kernels", std::move(kernels)},
                 {"fault", std::move(fault)}};
  if (Json reads = host_reads(); !reads.is_null()) report["host_reads"] = std::move(reads);
  // Names come from the program and need not be UTF-8.
  const std::string text = report.dump(1, ' ', false, Json::error_handler_t::replace);
  const std::string partial = std::string(path) + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text << '\n';
  file.close();
  if (!file || std::rename(partial.c_str(), path) != 0)
    complain(fmt::format("cannot write the report: {}", path));
}

}  // namespace weft::cudart
