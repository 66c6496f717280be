// SPDX-License-Identifier: Apache-2.0

// What the contract answers for a task, made from envelopes ptxbench.eval.v1: traces for
// /evaluate, one text a workload for /sanitize and /profile, titled sections for /debug.
#pragma once

#include <string>

#include "base/json.h"
#include "ptxbench/service/request.h"

namespace weft::service {

// {"traces" or "logs", "verdicts"}: the envelopes go along as they are.
Json result_of(const JudgeRequest& request, const Json& envelopes);

// As clients of the contract read it: what was not measured is absent instead of null, and the log
// says all that a candidate's author needs.
Json contract_trace(const Json& envelope, const std::string& solution);

// In the shape of compute-sanitizer's report, which clients of the contract search.
std::string sanitizer_report(const JudgeRequest& request, const Json& envelope);
std::string profile_report(const Json& envelope);
// {"title": {"exist", "msg"}, ...}
Json debug_report(const JudgeRequest& request, const Json& envelope);

}  // namespace weft::service
