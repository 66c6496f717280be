// SPDX-License-Identifier: Apache-2.0

// The launches of a candidate's first call, made again without the host code that made them
// (repetition.h): on inputs that the candidate never saw and with another schedule.
//   as they are                      work done by the host; races; memory never written
//   wgmma's results made nonsense    products that nobody uses
//   copied bytes made nonsense       copies that nobody uses
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/correctness.h"
#include "ptxbench/judge/repetition.h"
#include "ptxbench/judge/settings.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/workload.h"

namespace weft::judge {

class RecordedCall {
 public:
  // What is referred to must outlive this object. `folder` is scratch.
  RecordedCall(const CallOutcome& call, uint8_t poison, const problems::Task& task,
               uint64_t input_seed, const Toolchain& toolchain, const Settings& settings,
               std::string folder);

  // As the launches are. It is made when it is first asked for.
  Result<const Repetition*> plain();
  // What fails in plain() while it should not: a fault, or outputs that are wrong; what is compared
  // is added to `correctness`. Nothing when the recording cannot be repeated.
  Result<std::optional<Failure>> check(unsigned number, wire::Correctness& correctness);
  // The share of the outputs' elements that change under `tamper`. A kernel that then fails depends
  // on what was tampered with altogether.
  Result<double> effect_of(Tamper tamper);

 private:
  Result<Repetition> repeat(Tamper tamper) const;
  std::string described(const std::string& evidence) const;

  const problems::Task& task_;
  const uint64_t input_seed_;
  const Toolchain& toolchain_;
  const Settings& settings_;
  const std::string folder_;
  const std::string recording_;
  const std::vector<uint64_t> addresses_;
  const uint8_t poison_;
  const uint64_t schedule_seed_;
  Expectation unseen_;
  std::optional<Repetition> plain_;
};

}  // namespace weft::judge
