// SPDX-License-Identifier: Apache-2.0

// From the body of POST /evaluate (or /sanitize, /profile, /debug) to a submission for the queue,
// and from there to what a device worker judges.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/service/fields.h"
#include "ptxbench/service/solution.h"
#include "ptxbench/service/task.h"

namespace weft::service {

struct JudgeRequest {
  Kind kind = Kind::Evaluate;
  Solution solution;
  std::optional<std::vector<std::string>> workload_uuids;  // none: all of the definition
  // Ours; absent in the contract.
  std::map<std::string, int64_t> axes;  // values that replace the workload's
  std::optional<int64_t> trials, timeout_seconds;
  std::optional<uint64_t> input_seed, schedule_seed;
  // How reports are written.
  std::optional<int64_t> max_lines;
  int64_t source_context_lines = 4;
  std::vector<std::string> sanitizers = {"memcheck"};
  std::string stamp;   // of the definition, so that a changed definition is another question
  bool fresh = false;  // ask again although it was asked before; whoever submits it draws a nonce
  std::string nonce;
};

// Fields of the contract that choose tools or baselines of the reference implementation are read,
// checked and have no effect here; docs/serving_the_judge.md lists them.
JudgeRequest read_request(Kind kind, const Json& body, Issues& issues);

// The id is a hash over everything but the solution's name and author.
Submission to_submission(const JudgeRequest& request);

// The other direction, for the worker: what to_submission wrote.
Result<JudgeRequest> read_submission(const std::string& line);

}  // namespace weft::service
