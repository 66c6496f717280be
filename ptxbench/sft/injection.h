// SPDX-License-Identifier: Apache-2.0

// Repair pairs without a teacher: right kernels, one fault of the catalogue in each copy, and the
// judge's word on both. Only what the judge refuses in a way that fits the fault is kept.
//
// The output folder holds attempts.jsonl (every mutant with what came of it, its pair where one
// came), evaluations/ (the envelopes) and coverage.json. A run that was stopped goes on where it
// was: no mutant is judged twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/sft/faults.h"

namespace weft::sft {

// A right kernel and the reduced task at which it and its mutants are judged.
struct Seed {
  std::string kernel;  // path
  std::string definition, workload;
  problems::Overrides axes;
  size_t sites = 2;  // mutants of each fault, at most
};

// A JSON list of {"kernel", "definition", "workload"?, "axes"?: {}, "sites"?}; paths are relative
// to the file's folder.
Result<std::vector<Seed>> read_seeds(const std::string& path);

// The envelope as JSON. The error is one of the surroundings. Safe to call from several threads.
using JudgeSource =
    std::function<Result<Json>(const std::string& source, const problems::Task& task)>;

struct InjectionSettings {
  std::string output;               // folder
  std::vector<std::string> faults;  // names; empty: all
  unsigned jobs = 1;
  size_t target = 0;          // stop after so many pairs; 0: all mutants
  size_t most_per_fault = 0;  // pairs; 0: no limit
  const std::atomic<bool>* cancel = nullptr;
  // Told after each attempt: how many of how many mutants are done, and of what.
  std::function<void(size_t done, size_t total, const std::string& note)> on_attempt;
};

struct FaultCoverage {
  size_t mutants = 0, judged = 0, kept = 0;
  size_t harmless = 0;                     // the judge passed it
  size_t mislabelled = 0;                  // it failed in a way that does not fit the fault
  std::map<std::string, size_t> shown_as;  // kept ones by error class
};

struct Coverage {
  std::map<std::string, FaultCoverage> faults;
  std::map<std::string, std::string> refused_seeds;  // kernel: why it is no right kernel
  size_t seeds = 0, pairs = 0;
};

Json to_json(const Coverage& coverage);

Result<Coverage> inject(const std::vector<Seed>& seeds, const problems::Catalogue& catalogue,
                        const JudgeSource& judge, const InjectionSettings& settings);

// The most bytes of spill stores of any function in a compiler's log ("--ptxas-options=-v").
uint64_t spilled_bytes(std::string_view log);

}  // namespace weft::sft
