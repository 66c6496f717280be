// SPDX-License-Identifier: Apache-2.0

// Verdicts for a run: from the judge in this process or from a `ptxbench serve`, each question
// once. A verdict is kept in a file named by what was asked, so that a killed run, a repeated run
// and another model's equal kernel find it there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "ptxbench/agent/plan.h"
#include "ptxbench/problems/catalogue.h"

namespace weft::agent {

struct KernelQuestion {
  std::string definition, workload_uuid;
  std::string architecture = "hopper";
  std::map<std::string, int64_t> axes;
  std::string code;
};

// The envelope as JSON text. An error is one of the surroundings: no verdict. Safe to call from
// several threads.
using JudgeKernel = std::function<Result<std::string>(const KernelQuestion&)>;

// `catalogue` and `cancel` live as long as the function. `emulator_workers`: threads of one
// judgement.
Result<JudgeKernel> local_judge(const JudgePlan& plan, const problems::Catalogue& catalogue,
                                unsigned emulator_workers, const std::atomic<bool>* cancel);
Result<JudgeKernel> served_judge(const JudgePlan& plan);

struct KeptVerdict {
  std::string key;
  std::string envelope;  // JSON text
};

class VerdictCache {
 public:
  // A definition's stamp says how it is judged; under another stamp it is another question.
  VerdictCache(std::string folder, std::map<std::string, std::string> stamps, JudgeKernel judge,
               unsigned parallel);

  Result<KeptVerdict> verdict(const KernelQuestion& question);
  uint64_t judged() const { return judged_; }  // by this object, not found

 private:
  Result<KeptVerdict> find_or_judge(const std::string& key, const KernelQuestion& question);

  const std::string folder_;
  const std::map<std::string, std::string> stamps_;
  const JudgeKernel judge_;
  unsigned free_;
  std::atomic<uint64_t> judged_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> asked_;  // being found out right now
};

// By definition: the device, its model, and the definition's text.
Result<std::map<std::string, std::string>> judging_stamps(const Plan& plan,
                                                          const problems::Catalogue& catalogue);

}  // namespace weft::agent
