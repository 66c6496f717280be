// SPDX-License-Identifier: Apache-2.0

// What statistics and training need of a verdict: a few fields of the envelope ptxbench.eval.v1.
// The error class is finer than the status: it tells a deadlock from a store out of bounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace weft::agent {

struct VerdictSummary {
  std::string status;       // "PASSED", "COMPILE_ERROR", ...; empty: nothing was judged
  std::string error_class;  // "passed", "refused", "compile error", "fault: out of bounds", ...
  // Instructions of the target family executed, and the output depends on them. Absent: not known.
  std::optional<bool> audited;
  std::string arch_tag;  // "H", "G" (none of the family executed); empty: not known
  std::optional<double> share, speedup;
  std::string evaluation_id, kernel_sha256;

  bool passed() const { return status == "PASSED"; }
};

// An envelope with missing fields has as much of a summary as there is.
VerdictSummary summarize(const Json& envelope);

// Classes of turns that reach no judge.
constexpr std::string_view kNoCode = "no code";        // no usable block
constexpr std::string_view kCutAnswer = "cut answer";  // the limit ended it inside the code
constexpr std::string_view kOnlyReasoning =
    "only reasoning";  // the limit ended it before an answer

// The word of the public per-turn tables: "Correct", "Numerical error", "Compilation error",
// "Kernel Execution Timeout", "Runtime error", "Extraction error", "Other error".
std::string_view correctness_word(const VerdictSummary& summary);

}  // namespace weft::agent
