// SPDX-License-Identifier: Apache-2.0

// ptxbench emulate --schedule-seeds: one program under many schedules. A program without races
// gives the same bytes under all of them; the first seed that does not is where to look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace weft::ptxbench {

struct SeedRange {
  uint64_t first = 1, last = 1;  // both run
};
// "1..50", or one number. At most 10,000 seeds.
Result<SeedRange> parse_seeds(const std::string& text);

// One run, as far as it is compared.
struct SeedRun {
  uint64_t seed = 0;
  std::string ending;          // "exited with code 0"
  Json fault = nullptr;        // of the report
  Json reads = Json::array();  // what the host got to see of the device's memory
  bool passed = false;         // exited with 0 and no fault
  double seconds = 0;
};

// How two runs differ, in a sentence about the second; empty when they do not.
std::string difference(const SeedRun& first, const SeedRun& second);

struct SeedSearch {
  SeedRange seeds;
  // The program with everything but the seed; `report` is the file that it will leave.
  Command command;
  std::string report;
  std::string repeat;  // the command line that repeats a run, with {} for the seed
  bool json = false;
};
// Runs the program under each seed until one differs. Exit codes: 0 all ended well and alike,
// 1 not.
int search_seeds(const SeedSearch& search);

}  // namespace weft::ptxbench
