// SPDX-License-Identifier: Apache-2.0

// Verdicts from wherever they are kept: a file that eval or submit saved, a store, a server.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"

namespace weft::ptxbench {

struct VerdictPlaces {
  std::string store;  // folder of a server
  std::string url;    // of a server; asked when the store is not named
  std::string token_environment;
};

struct JudgedTask {
  std::string id;       // empty when it comes from a file
  std::string request;  // as it was handed in; empty when nobody kept it
  Json verdicts;        // envelopes
};

// An error when the server that would be asked for `name` does not answer: nobody's mistake on the
// command line, so it has an exit code of its own.
Result<Done> server_answers(const std::string& name, const VerdictPlaces& places);
// `name` is a file or the id of a task.
Result<JudgedTask> judged_task(const std::string& name, const VerdictPlaces& places);

// All envelopes below a folder: a store, or JSON files.
Result<std::vector<Json>> verdicts_below(const std::string& folder);

// What two verdicts on the same workload disagree about, one line each: status, errors, what was
// executed. Empty when they agree.
std::vector<std::string> disagreements(const Json& first, const Json& second);

}  // namespace weft::ptxbench
