// SPDX-License-Identifier: Apache-2.0

// Runs the stages of a judgement one by one, takes their time and keeps the first failure.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/wire/audit.h"

namespace weft::judge {

class StageClock {
 public:
  explicit StageClock(const std::function<void(std::string_view)>& on_stage)
      : on_stage_(on_stage) {}

  // True when the stage passed. Every stage leaves a record, an unreached one without an answer.
  template <typename Work>
  Result<bool> run(const char* name, bool reached, const Work& work) {
    records_.push_back({name, std::nullopt, 0, ""});
    if (!reached) return false;
    if (on_stage_) on_stage_(name);
    const auto start = std::chrono::steady_clock::now();
    std::optional<Failure> failed = TRY(work());
    wire::StageRecord& record = records_.back();
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    record.passed = !failed.has_value();
    if (!failed) return true;
    record.evidence = failed->evidence;
    if (!failure_) failure_ = std::move(failed);
    return false;
  }
  template <typename Work>
  Result<bool> run(const char* name, const Work& work) {
    return run(name, true, work);
  }

  const std::optional<Failure>& failure() const { return failure_; }
  const std::vector<wire::StageRecord>& records() const { return records_; }

 private:
  const std::function<void(std::string_view)>& on_stage_;
  std::vector<wire::StageRecord> records_;
  std::optional<Failure> failure_;
};

}  // namespace weft::judge
