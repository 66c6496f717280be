// SPDX-License-Identifier: Apache-2.0

// What a device worker does with a request: finds the workloads, judges the solution for each, and
// turns the verdicts into what the contract answers. It stays warm: the task folder and the
// toolchain are looked up once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "ptxbench/judge/judge.h"
#include "ptxbench/problems/catalogue.h"
#include "ptxbench/service/request.h"

namespace weft::service {

struct EvaluatorOptions {
  std::string device = "emulated";  // or "cuda:0", ...
  std::string problems;             // task folder; empty: the project's
  std::string scratch;              // folder for sources; exists, and belongs to this evaluator
  std::string memory_scratch;       // judge::Settings::memory_scratch
  double seconds = 300;             // of a candidate's run when the request names no time
  unsigned emulator_workers = 0;
  std::string model = "h100";  // of the emulated device
};

class Evaluator {
 public:
  static Result<Evaluator> create(EvaluatorOptions options);

  // {"traces" or "logs", "verdicts"}. The error is one of the surroundings or of the question: no
  // verdict. `on_progress` is told "workload 1 of 3: build".
  Result<Json> evaluate(const JudgeRequest& request,
                        const std::function<void(std::string_view)>& on_progress) const;

 private:
  Evaluator(EvaluatorOptions options, std::optional<unsigned> gpu, judge::Toolchain toolchain,
            problems::Catalogue catalogue)
      : options_(std::move(options)),
        gpu_(gpu),
        toolchain_(std::move(toolchain)),
        catalogue_(std::move(catalogue)) {}

  Result<std::vector<problems::Task>> tasks(const JudgeRequest& request) const;
  Result<judge::Candidate> candidate(const Solution& solution) const;
  judge::Settings settings(const JudgeRequest& request) const;

  EvaluatorOptions options_;
  std::optional<unsigned> gpu_;  // index; none: the emulated device
  judge::Toolchain toolchain_;
  problems::Catalogue catalogue_;
};

}  // namespace weft::service
